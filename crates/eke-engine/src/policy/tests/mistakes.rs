//! What eke says of mistakes in a policy.

use super::{CITY, parse};

/// A piece of the city's policy, what is written in its place, and what eke says to that.
#[rustfmt::skip]
const WRONG: &[(&str, &str, &str)] = &[
    // Unknown keys and names.
    ("[unit.rider]", "[units.rider]",
        "eke.toml:2: unknown key `units`: did you mean `unit`?"),
    ("max_rows = 20", "max_row = 20",
        "eke.toml:11: unknown key `max_row`: did you mean `max_rows`?"),
    ("max_rows = 20", "flavour = 20",
        "eke.toml:11: unknown key `flavour`: [dataset.trips] has `source`, `multiline`, `unit`, `unit_column`, `unit_columns`, `unit_period`, `time_column`, `unit_zone`, `max_groups`, `max_rows`, `max_values`, `max_rows_in_all` and 8 more"),
    ("adjacency =", "adjacancy =",
        "eke.toml:3: unknown key `adjacancy`: did you mean `adjacency`?"),
    ("epsilon = 2.0", "epsilom = 2.0",
        "eke.toml:4: unknown key `epsilom`: did you mean `epsilon`?"),
    ("min = 0,", "mni = 0,",
        "eke.toml:14: unknown key `mni`: did you mean `min`?"),
    ("finest = { rho", "finest = { epsilon",
        "eke.toml:23: unknown key `epsilon`: `finest` has `rho`"),
    ("tier = \"internal\"", "teir = \"internal\"",
        "eke.toml:27: unknown key `teir`: did you mean `tier`?"),
    ("analysts = [", "analist = [",
        "eke.toml:33: unknown key `analist`: did you mean `analysts`?"),
    ("[tier.internal]", "[ledger]\npath = \"x\"\n[tier.internal]",
        "eke.toml:22: unknown key `path`: [ledger] has `address`"),
    ("[analyst.ana]", "[analyst.steward]",
        "eke.toml:26: `steward` is the person who keeps this file, and no analyst: choose another name"),
    ("[analyst.ana]", "[analyst.\"ana/b\"]",
        "eke.toml:26: `ana/b` cannot name an analyst: write letters, digits, `_`, `-` and `.`, and begin with a letter or a digit"),
    ("[analyst.ana]", "[analyst.\"\"]",
        "eke.toml:26: an empty text cannot name an analyst: write a name of at least one letter"),
    ("[analyst.ana]", "[analyst.ana.b]",
        "eke.toml:26: unknown key `b`: [analyst.ana] has `tier`; put quotes around a name with a dot in it"),
    ("[dataset.zones]", "[dataset.order]",
        "eke.toml:17: `order` cannot name a dataset: it is a word of SQL, so write something like `order_data`"),
    ("[dataset.zones]", "[dataset.zone-map]",
        "eke.toml:17: `zone-map` cannot name a dataset: questions use it as a table, so write letters, digits and `_`, and do not begin with a digit"),
    ("[dataset.zones]", "[dataset.Trips]",
        "eke.toml:17: `Trips` and `trips` are one table in SQL: rename one of them"),
    ("[unit.rider]", "[unit.\"a b\"]",
        "eke.toml:2: `a b` cannot name a unit: write letters, digits, `_`, `-` and `.`, and begin with a letter or a digit"),
    ("[unit.rider]", "[unit]",
        "eke.toml:3: `adjacency` stands under [unit], which needs a name: write it under [unit.NAME]"),
    ("[unit.rider]", "unit = 3\n[tier.rider]",
        "eke.toml:2: `unit` must be a table, not a whole number: write [unit.NAME], with a name of your own\neke.toml:4: unknown key `adjacency`: [tier.rider] has `finest`, `budget`, `pure`, `zcdp_delta` and `pure_delta`"),
    ("[dataset.zones]", "[[dataset.zones]]",
        "eke.toml:17: `zones` is a list: write [dataset.NAME] once for every dataset, in single brackets"),
    // Units and budgets.
    ("adjacency = \"add-remove\"", "",
        "eke.toml:2: [unit.rider] has no `adjacency`: write adjacency = \"add-remove\", which hides whether somebody is in the data, or \"replace\", which hides what their rows say but not that they are there"),
    ("\"add-remove\"", "\"swap\"",
        "eke.toml:3: `swap` is no adjacency: write \"add-remove\" or \"replace\""),
    ("\"add-remove\"", "1",
        "eke.toml:3: `adjacency` must be a text, not a whole number: write \"add-remove\" or \"replace\""),
    ("budget = { epsilon = 2.0, delta = 1e-7 }", "",
        "eke.toml:2: [unit.rider] has no `budget`: write what may be spent for good, such as budget = { epsilon = 2.0, delta = 1e-7 }"),
    ("budget = { epsilon = 2.0, delta = 1e-7 }", "pure = 0.5",
        "eke.toml:4: `pure` is a part of a budget, and there is none: add budget = { epsilon = 2.0, delta = 1e-7 }"),
    ("{ epsilon = 2.0, delta = 1e-7 }", "{}",
        "eke.toml:4: the budget is empty: give it an epsilon and a delta, or a rho"),
    ("{ epsilon = 2.0, delta = 1e-7 }", "2.0",
        "eke.toml:4: `budget` must be a table, not a decimal number: write budget = { epsilon = 2.0, delta = 1e-7 }"),
    ("epsilon = 2.0", "epsilon = 2.0, rho = 1",
        "eke.toml:4: the budget has an epsilon and a rho: give it one of them; the other follows"),
    ("epsilon = 2.0", "epsilon = -1",
        "eke.toml:4: epsilon -1.0 is negative: write a number of more than 0 and at most 1e8"),
    ("epsilon = 2.0", "epsilon = 0",
        "eke.toml:4: epsilon is zero, which means nothing here: write a number of more than 0 and at most 1e8, or leave it out"),
    ("epsilon = 2.0", "epsilon = nan",
        "eke.toml:4: epsilon is NaN: write a number such as 0.5"),
    ("epsilon = 2.0", "epsilon = 1e999",
        "eke.toml:4: epsilon 1e999 is too large: write a number of more than 0 and at most 1e8"),
    ("epsilon = 2.0", "epsilon = 0x2",
        "eke.toml:4: `epsilon` must be a number, not a number in another base: write it like 0.5"),
    ("epsilon = 2.0", "epsilon = \"2\"",
        "eke.toml:4: `epsilon` must be a number, not a text: write it like 0.5"),
    ("delta = 1e-7", "delta = 1",
        "eke.toml:4: delta 1.0 is too large: write a number of more than 0 and less than 1"),
    ("delta = 1e-7 }", "delta = 1e-7, pure = 3 }",
        "eke.toml:4: pure 3.0 must be less than epsilon 2.0: lower it, or leave out the delta"),
    ("delta = 1e-7 }", "delta = 1e-7 }\npure = -3",
        "eke.toml:5: in `pure`, epsilon -3.0 is negative: write a number of more than 0 and at most 1e8"),
    ("delta = 1e-7 }", "delta = 1e-7, pure = 1 }\npure = 1",
        "eke.toml:5: `pure` stands in the budget and beside it: write it once"),
    ("delta = 1e-7 }", "delta = 1e-7 }\nzcdp_delta = 1e-6",
        "eke.toml:4: the deltas kept for mechanisms must add up to less than delta 1e-7: lower them"),
    ("delta = 1e-7 }", "delta = 1e-7, method = \"tigth\" }",
        "eke.toml:4: `tigth` is no method: did you mean `tight`?"),
    ("epsilon = 2.0, delta = 1e-7", "epsilon = 2.0, pure = 0.5",
        "eke.toml:4: without a delta all of epsilon is pure: add a delta, or leave out `pure`"),
    // Datasets.
    ("source = \"trips.parquet\"", "",
        "eke.toml:6: [dataset.trips] has no `source`: write where its rows are, such as source = \"trips.parquet\""),
    ("source = \"trips.parquet\"", "source = \"\"",
        "eke.toml:7: `source` is empty: write a path such as \"trips.parquet\""),
    ("source = \"trips.parquet\"", "source = [\"a\", \"b\"]",
        "eke.toml:7: `source` must be a text, not a list: write a path such as \"trips.parquet\""),
    ("unit = \"rider\"", "",
        "eke.toml:6: [dataset.trips] does not say whose rows it has: write unit = \"NAME\" of a [unit.NAME], or public = true if it is about nobody"),
    ("unit = \"rider\"", "unit = \"riders\"",
        "eke.toml:8: there is no [unit.riders]: did you mean `rider`?"),
    ("unit = \"rider\"", "unit = \"person\"",
        "eke.toml:8: there is no [unit.person]: the only one is `rider`"),
    ("unit_column = \"rider_id\"", "",
        "eke.toml:6: [dataset.trips] has no `unit_column`: write the column that says which rider a row belongs to"),
    ("max_rows = 20", "",
        "eke.toml:6: [dataset.trips] has no `max_rows`: write how many rows of a group one rider may count for, such as max_rows = 20; noise grows with it"),
    ("max_rows = 20", "max_rows = 0",
        "eke.toml:11: `max_rows` must be at least 1, not `0`: write a number such as 20"),
    ("max_rows = 20", "max_rows = -99999999999999999999999999999999999999999999",
        "eke.toml:11: `max_rows` must be at least 1, not `-99999999999999999999999999999999999999999999`: write a number such as 20"),
    ("max_rows = 20", "max_rows = 4294967296",
        "eke.toml:11: `max_rows` must be at most 4294967295, not `4294967296`: write a number such as 20"),
    ("max_rows = 20", "max_rows = 2.5",
        "eke.toml:11: `max_rows` must be a whole number, not a decimal number: write a number such as 20"),
    ("max_rows = 20", "max_rows = \"20\"",
        "eke.toml:11: `max_rows` must be a whole number, not a text: write a number such as 20"),
    ("max_groups = 3", "max_groups = 0",
        "eke.toml:10: `max_groups` must be at least 1, not `0`: write a number such as 3"),
    ("public = true", "public = true\nunit = \"rider\"",
        "eke.toml:20: a public dataset has no `unit`: leave it out, or leave out `public`"),
    ("max_rows = 20", "max_rows = 20\nmax_rows_in_all = 0",
        "eke.toml:12: `max_rows_in_all` must be at least 1, not `0`: write a number such as 100"),
    ("max_rows = 20", "max_rows = 20\nwidest = { max_rows = 19 }",
        "eke.toml:12: the widest `max_rows` is 19, and the dataset's own is 20: write 20 or more"),
    ("max_rows = 20", "max_rows = 20\nwidest = { columns = { fare = { min = 1, max = 500 } } }",
        "eke.toml:12: the widest clamp of `fare` is 1 to 500, and its own is 0 to 200: write ends that hold these"),
    ("max_rows = 20", "max_rows = 20\nwidest = { columns = { fare = { min = 1 } } }",
        "eke.toml:12: the widest clamp of `fare` needs both ends: { min = 0, max = 500 }"),
    ("public = true", "public = true\nwidest = { max_rows = 1 }",
        "eke.toml:20: a public dataset has no `widest`: leave it out, or leave out `public`"),
    ("max_rows = 20", "max_rows = 20\nmax_values = 0",
        "eke.toml:12: `max_values` must be at least 1, not `0`: write a number such as 5"),
    ("max_rows = 20", "max_rows = 20\ncut_counts = 0.6",
        "eke.toml:12: counts of units that were cut cost a part of what a question is charged, up to a half: write it, such as cut_counts = 0.02, or cut_counts = false for none"),
    ("max_rows = 20", "max_rows = 20\ncut_counts = true",
        "eke.toml:12: counts of units that were cut cost a part of what a question is charged, up to a half: write it, such as cut_counts = 0.02, or cut_counts = false for none"),
    ("public = true", "public = true\ncut_counts = 0.01",
        "eke.toml:20: a public dataset has no `cut_counts`: leave it out, or leave out `public`"),
    ("public = true", "public = true\nmax_values = 1",
        "eke.toml:20: a public dataset has no `max_values`: leave it out, or leave out `public`"),
    ("public = true", "public = true\nmax_rows = 1",
        "eke.toml:20: a public dataset has no `max_rows`: leave it out, or leave out `public`"),
    ("public = true", "public = false",
        "eke.toml:17: [dataset.zones] does not say whose rows it has: write unit = \"NAME\" of a [unit.NAME], or public = true if it is about nobody\neke.toml:17: [dataset.zones] has no `unit_column`: write the column that says which unit a row belongs to\neke.toml:17: [dataset.zones] has no `max_rows`: write how many rows of a group one unit may count for, such as max_rows = 20; noise grows with it"),
    ("public = true", "public = \"yes\"",
        "eke.toml:19: `public` must be true or false, not a text: write it without quotes"),
    ("public = true", "public = true\ncolumns = 4",
        "eke.toml:20: `columns` must be a table, not a whole number: write [dataset.zones.columns], and below it fare = { min = 0, max = 200 }"),
    // Units of several columns, and of people in a period.
    ("unit_column = \"rider_id\"", "unit_column = \"rider_id\"\nunit_columns = [\"a\", \"b\"]",
        "eke.toml:10: `unit_columns` stands beside `unit_column`: write all of them in `unit_columns`, and leave out the other"),
    ("unit_column = \"rider_id\"", "unit_columns = []",
        "eke.toml:9: `unit_columns` is empty: write unit_columns = [\"serialno\", \"sporder\"]"),
    ("unit_column = \"rider_id\"", "unit_columns = \"a\"",
        "eke.toml:9: `unit_columns` must be a list, not a text: write unit_columns = [\"serialno\", \"sporder\"]"),
    ("unit_column = \"rider_id\"", "unit_columns = [\"a\", 3]",
        "eke.toml:9: `unit_columns` has names of columns: write unit_columns = [\"serialno\", \"sporder\"]"),
    ("unit_column = \"rider_id\"", "unit_columns = [\"a\", \"b\", \"a\"]",
        "eke.toml:9: `unit_columns` has `a` twice: write it once"),
    ("unit_column = \"rider_id\"", "unit_column = \"(a, b)\"",
        "eke.toml:9: the column `(a, b)` begins with a parenthesis, as the names of several columns do: write it to the file under another name, or several columns as unit_columns = [\"…\", \"…\"]"),
    ("unit_column = \"rider_id\"", "unit_column = \"rider_id\"\nunit_period = \"fortnight\"\ntime_column = \"t\"",
        "eke.toml:10: `fortnight` is no `unit_period`: the periods are `day`, `week`, `month`, `quarter` and `year`"),
    ("unit_column = \"rider_id\"", "unit_column = \"rider_id\"\nunit_period = \"month\"",
        "eke.toml:10: `unit_period` needs a `time_column`: write the column that says in which month a row of a rider is"),
    ("unit_column = \"rider_id\"", "unit_column = \"rider_id\"\ntime_column = \"t\"",
        "eke.toml:10: `time_column` is for `unit_period`: write unit_period = \"month\" beside it, or leave it out"),
    ("unit_column = \"rider_id\"", "unit_column = \"rider_id\"\nunit_zone = \"UTC\"",
        "eke.toml:10: `unit_zone` is for `unit_period`: write unit_period = \"month\" beside it, or leave it out"),
    ("unit_column = \"rider_id\"", "unit_column = \"rider_id\"\nunit_period = \"month\"\ntime_column = \"t\"\nunit_zone = \"Europe/Rome\"",
        "eke.toml:12: `Europe/Rome` is no `unit_zone`: write \"UTC\" or how far its clocks are ahead of UTC, such as \"+02:00\"; zones whose clocks change with the seasons are not supported"),
    ("unit_column = \"rider_id\"", "unit_column = \"t\"\nunit_period = \"month\"\ntime_column = \"t\"",
        "eke.toml:9: `t` is the `time_column` and names the rider too: name the rider by other columns"),
    ("unit_column = \"rider_id\"", "unit_columns = [\"fare\", \"city\"]",
        "eke.toml:14: `fare` says which unit a row belongs to, which is never public: leave out its bounds and `values`"),
    ("unit_column = \"rider_id\"", "unit_column = \"city\"\nunit_period = \"day\"\ntime_column = \"t\"",
        "eke.toml:17: `city` says which unit a row belongs to, which is never public: leave out its bounds and `values`"),
    ("public = true", "public = true\nunit_columns = [\"a\"]",
        "eke.toml:20: a public dataset has no `unit_columns`: leave it out, or leave out `public`"),
    ("public = true", "unit = \"rider\"\nunit_column = \"r\"\nunit_period = \"week\"\ntime_column = \"t\"\nmax_rows = 1",
        "eke.toml:20: `zones` and `trips` are about `rider` by different periods: a unit has one `unit_period` and one `unit_zone` in all its datasets, or none in all; name another [unit.NAME]"),
    // Columns.
    ("{ min = 0, max = 200 }", "200",
        "eke.toml:14: `fare` must be a table, not a whole number: write { min = 0, max = 200 } or { values = [\"Delft\", \"Leiden\"] }"),
    ("{ min = 0, max = 200 }", "{ max = 200 }",
        "eke.toml:14: `max` needs `min` beside it: what is added up is clamped on both sides"),
    ("{ min = 0, max = 200 }", "{ min = 0 }",
        "eke.toml:14: `min` needs `max` beside it: what is added up is clamped on both sides"),
    ("{ min = 0, max = 200 }", "{ min = 200, max = 0 }",
        "eke.toml:14: `min` 200.0 must be less than `max` 0.0: swap them, or widen them"),
    ("{ min = 0, max = 200 }", "{ min = 0, max = 0.0 }",
        "eke.toml:14: `min` 0.0 must be less than `max` 0.0: swap them, or widen them"),
    ("{ min = 0, max = 200 }", "{ min = 0, max = inf }",
        "eke.toml:14: `max` must be finite, not `inf`: write a number such as 200"),
    ("{ min = 0, max = 200 }", "{ min = nan, max = 1 }",
        "eke.toml:14: `min` must be finite, not `nan`: write a number such as 0"),
    ("{ min = 0, max = 200 }", "{ min = -1e308, max = 1e308 }",
        "eke.toml:14: `min` and `max` are too far apart to compute with: narrow them"),
    ("{ min = 0, max = 200 }", "{ min = \"0\", max = 200 }",
        "eke.toml:14: `min` must be a number, not a text: write it like 0"),
    ("{ min = 0, max = 200 }", "{ type = \"integer\", min = 0, max = 200 }",
        "eke.toml:14: `integer` is no type: the types are `int`, `float`, `text`, `bool`, `date` and `timestamp`"),
    ("{ min = 0, max = 200 }", "{ type = \"money\", min = 0, max = 200 }",
        "eke.toml:14: `money` is no type: the types are `int`, `float`, `text`, `bool`, `date` and `timestamp`"),
    ("{ min = 0, max = 200 }", "{ type = \"text\", min = 0, max = 200 }",
        "eke.toml:14: `fare` is text by its `type`: leave out `min` and `max`, which are for numbers"),
    ("{ min = 0, max = 200 }", "{ type = \"int\", min = 0.5, max = 200 }",
        "eke.toml:14: `fare` is int by its `type`: write its `min` and `max` as whole numbers"),
    ("{ min = 0, max = 200 }", "{ type = \"int\", min = 0, max = 9007199254740994 }",
        "eke.toml:14: the bounds of `fare` are too large for integers to be exact: keep them within 9007199254740992"),
    ("[\"Delft\", \"Leiden\"]", "[]",
        "eke.toml:15: `values` is empty: list every key that may be answered, or leave it out to have keys selected privately"),
    ("[\"Delft\", \"Leiden\"]", "\"Delft\"",
        "eke.toml:15: `values` `Delft` is no range: write a range such as values = \"17..90\" or values = \"2026-01-01..2026-12-31\", or a list in brackets"),
    ("[\"Delft\", \"Leiden\"]", "\"1..x\"",
        "eke.toml:15: `values` `1..x` has an end that is neither a whole number nor a day: write a range such as values = \"17..90\" or values = \"2026-01-01..2026-12-31\", or a list in brackets"),
    ("[\"Delft\", \"Leiden\"]", "\"1..2026-01-01\"",
        "eke.toml:15: `values` `1..2026-01-01` has an end that is neither a whole number nor a day: write a range such as values = \"17..90\" or values = \"2026-01-01..2026-12-31\", or a list in brackets"),
    ("[\"Delft\", \"Leiden\"]", "\"9..1\"",
        "eke.toml:15: `values` `9..1` ends before it begins: write a range such as values = \"17..90\" or values = \"2026-01-01..2026-12-31\", or a list in brackets"),
    ("[\"Delft\", \"Leiden\"]", "\"0..100000\"",
        "eke.toml:15: `values` `0..100000` has more than 100000 values: write a range such as values = \"17..90\" or values = \"2026-01-01..2026-12-31\", or a list in brackets"),
    ("[\"Delft\", \"Leiden\"]", "{ from = \"zones\" }",
        "eke.toml:15: `from` `zones` is no column: write values = { from = \"zones.zone\" }, a column of a public dataset"),
    ("[\"Delft\", \"Leiden\"]", "{ from = \"trips.city\" }",
        "eke.toml:15: `values` come from `trips`: it is not public, and who is in it must not be listed; name a public dataset, or list them"),
    ("[\"Delft\", \"Leiden\"]", "{ from = \"towns.city\" }",
        "eke.toml:15: `values` come from `towns`: there is no such dataset; name a public dataset, or list them"),
    ("[\"Delft\", \"Leiden\"]", "{ form = \"zones.city\" }",
        "eke.toml:15: unknown key `form`: did you mean `from`?"),
    ("[\"Delft\", \"Leiden\"]", "[\"Delft\", \"Delft\"]",
        "eke.toml:15: `values` has `\"Delft\"` twice: write it once"),
    ("[\"Delft\", \"Leiden\"]", "[1, 1.0]",
        "eke.toml:15: `values` has `1.0` twice: write it once"),
    ("[\"Delft\", \"Leiden\"]", "[\"Delft\", 1]",
        "eke.toml:15: `values` has `1` beside `\"Delft\"`: write values of one type"),
    ("[\"Delft\", \"Leiden\"]", "[\"Delft\", [1]]",
        "eke.toml:15: `values` has a list in it: write texts, numbers, dates, true or false"),
    ("[\"Delft\", \"Leiden\"]", "[1, nan]",
        "eke.toml:15: `values` has a number that is not finite: leave it out"),
    ("[\"Delft\", \"Leiden\"]", "[99999999999999999999]",
        "eke.toml:15: `values` has an integer of more than 64 bits: leave it out"),
    ("[\"Delft\", \"Leiden\"]", "[08:00:00]",
        "eke.toml:15: `values` has 08:00:00, a time without a day: write the day before it"),
    ("[\"Delft\", \"Leiden\"]", "[2026-11-16T08:00:00Z]",
        "eke.toml:15: `values` has 2026-11-16T08:00:00Z, a time with a zone: write it without one, as the column has it"),
    ("[\"Delft\", \"Leiden\"]", "[2026-11-16T08:00:00.0000001]",
        "eke.toml:15: `values` has 2026-11-16T08:00:00.0000001, which no timestamp is: write at most six decimals"),
    ("[\"Delft\", \"Leiden\"]", "[\"1\"], type = \"int\"",
        "eke.toml:15: `city` is int by its `type`, and `\"1\"` is not: write its `values` like [1, 2]"),
    ("[\"Delft\", \"Leiden\"]", "[\"2026-01-01\"], type = \"date\"",
        "eke.toml:15: `city` is date by its `type`, and `\"2026-01-01\"` is not: write its `values` like [2026-01-31, 2026-02-28]"),
    ("city = {", "rider_id = {",
        "eke.toml:15: `rider_id` says which unit a row belongs to, which is never public: leave out its bounds and `values`"),
    // Who may ask.
    ("budget = { epsilon = 0.5, delta = 1e-8 }", "",
        "eke.toml:23: `finest` needs a `budget` beside it: a question asked in other words opens a new path, and only a budget limits how many"),
    ("finest = { rho = 1e-4 }", "finest = {}",
        "eke.toml:23: `finest` is empty: write finest = { rho = 1e-4 }"),
    ("finest = { rho = 1e-4 }", "finest = 1e-4",
        "eke.toml:23: `finest` must be a table, not a decimal number: write finest = { rho = 1e-4 }"),
    ("finest = { rho = 1e-4 }", "finest = { rho = 0 }",
        "eke.toml:23: rho is zero, which means nothing here: write a number of more than 0 and at most 1e8, or leave it out"),
    ("finest = { rho = 1e-4 }", "finest = { rho = 1e-40 }",
        "eke.toml:23: rho is less than the 1e-30 that eke counts in: give a larger budget"),
    ("tier = \"partner\"", "tier = \"partners\"",
        "eke.toml:29: there is no [tier.partners]: did you mean `partner`?"),
    ("tier = \"partner\"", "tier = \"gold\"",
        "eke.toml:29: there is no [tier.gold]: add it, or write one of these: `internal` and `partner`"),
    ("tier = \"partner\"", "tier = 2",
        "eke.toml:29: `tier` must be a text, not a whole number: write the name of a [tier.NAME]"),
    ("analysts = [\"bob\", \"eve\"]", "",
        "eke.toml:32: [circle.partners] has nobody in it: write analysts = [\"bob\", \"eve\"]"),
    ("analysts = [\"bob\", \"eve\"]", "analysts = []",
        "eke.toml:33: [circle.partners] has nobody in it: write analysts = [\"bob\", \"eve\"]"),
    ("analysts = [\"bob\", \"eve\"]", "analysts = [\"bob\", 1]",
        "eke.toml:33: `analysts` has a whole number in it: write analysts = [\"bob\", \"eve\"]"),
    ("analysts = [\"bob\", \"eve\"]", "analysts = [\"bob\", \"bob\"]",
        "eke.toml:33: `bob` is in [circle.partners] twice: write it once"),
    ("analysts = [\"bob\", \"eve\"]", "analysts = [\"bob\", \"evee\"]",
        "eke.toml:33: there is no [analyst.evee]: did you mean `eve`?"),
    ("analysts = [\"bob\", \"eve\"]", "analysts = \"bob\"",
        "eke.toml:33: `analysts` must be a list, not a text: write analysts = [\"bob\", \"eve\"]"),
    ("budget = { epsilon = 0.6, delta = 1e-8 }", "",
        "eke.toml:32: [circle.partners] has no `budget`: write what its analysts may learn together, such as budget = { epsilon = 0.5, delta = 1e-8 }"),
    ("{ epsilon = 0.6, delta = 1e-8 }", "{ epsilon = 0.6 }",
        "eke.toml:32: the budget of [circle.partners] is in another currency than that of every unit: give both a delta, or neither"),
    ("[tier.internal]", "[ledger]\naddress = \"\"\n[tier.internal]",
        "eke.toml:22: `address` is empty: write a path, or postgresql:// and where the database is"),
    ("[tier.internal]", "[ledger]\naddress = 5\n[tier.internal]",
        "eke.toml:22: `address` must be a text, not a whole number: write a path, or postgresql:// and where the database is"),
    // Not TOML.
    ("max_rows = 20", "max_rows 20",
        "eke.toml:11: this is not TOML: key with no value, expected `=`"),
    ("max_rows = 20", "max_rows =",
        "eke.toml:11: there is no value here that TOML knows: write texts in double quotes"),
    ("max_rows = 20", "max_rows = 20\nmax_rows = 21",
        "eke.toml:12: this is here twice: write it once"),
    ("[analyst.eve]", "[analyst.ana]",
        "eke.toml:30: this is here twice: write it once"),
    ("[\"bob\", \"eve\"]", "[\"bob\", \"eve\"",
        "eke.toml:34: this is not TOML: missing comma between array elements, expected `,`"),
    ("\"Leiden\"", "\"Leiden",
        "eke.toml:15: this is not TOML: invalid basic string, expected `\"`"),
    ("\"Leiden\"", "2026-02-30",
        "eke.toml:15: this is not TOML: invalid date, expected day between 01 and 28"),
];

#[test]
fn every_mistake_is_told_with_its_line_and_what_to_do() {
    let mut failed = 0;
    for (from, to, expected) in WRONG {
        assert!(CITY.contains(from), "{from}");
        let told = match parse(&CITY.replacen(from, to, 1)) {
            Ok(_) => "nothing".to_owned(),
            Err(error) => error.to_string(),
        };
        if told != *expected {
            failed += 1;
            println!("{from:?} as {to:?}\n  {told}\n  {expected}");
        }
    }
    assert_eq!(failed, 0);
}

#[test]
fn a_listed_text_that_no_cell_can_be_is_refused() {
    let listed = |text: &str| parse(&CITY.replace("\"Delft\"", &format!("\"{text}\"")));
    assert!(listed(&"é".repeat(eke_sql::MAX_TEXT / 2)).is_ok());
    assert_eq!(
        listed(&"é".repeat(eke_sql::MAX_TEXT / 2 + 1)).unwrap_err().to_string(),
        "eke.toml:15: `values` has a text of 4098 bytes, and texts end after 4096: shorten it"
    );
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_their_lines() {
    let changes = [
        ("adjacency = \"add-remove\"", "adjacency = \"swap\""),
        ("max_rows = 20", "max_rows = 0"),
        ("source = \"trips.parquet\"", "source = 7"),
        ("fare = { min = 0, max = 200 }", "fare = { min = 5, max = 2 }"),
        ("values = [\"Delft\", \"Leiden\"]", "flavour = 1, colour = 2"),
        ("tier = \"internal\"", "tier = \"nowhere\""),
        ("analysts = [\"bob\", \"eve\"]", "analysts = [\"bob\", \"zed\"]"),
    ];
    let mut text = CITY.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let error = parse(&text).unwrap_err();
    assert_eq!(error.line(), Some(3));
    let told = error.to_string();
    let lines: Vec<&str> = told.lines().map(|line| line.split(": ").next().unwrap()).collect();
    let expected = [3, 7, 11, 14, 15, 15, 27, 33].map(|line| format!("eke.toml:{line}"));
    assert_eq!(lines, expected, "{told}");
    // What follows from a reported mistake is not reported as well: the datasets of the broken
    // unit, say.
    assert!(!told.contains("there is no [unit.rider]"), "{told}");
}

#[test]
fn all_mistakes_of_one_section_are_told_at_once() {
    let changes = [
        ("epsilon = 2.0, delta = 1e-7", "epsilon = -2, delta = 7, method = \"best\""),
        ("fare = { min = 0, max = 200 }", "fare = { type = \"money\", min = 0, values = [] }"),
        ("finest = { rho = 1e-4 }", "finest = { rho = -1 }"),
        ("analysts = [\"bob\", \"eve\"]", "analysts = [\"zed\", 3, \"bob\", \"bob\"]"),
    ];
    let mut text = CITY.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let told = parse(&text).unwrap_err().to_string();
    for part in [
        "eke.toml:4: epsilon",
        "eke.toml:4: delta",
        "`best` is no method",
        "`money` is no type",
        "`min` needs `max`",
        "`values` is empty",
        "eke.toml:23: ",
        "there is no [analyst.zed]",
        "has a whole number in it",
        "`bob` is in [circle.partners] twice",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(told.lines().count(), 10, "{told}");
    // Each entry that is there twice is reported.
    let twice = CITY.replace("max_rows = 20", "max_rows = 20\nmax_rows = 21")
        + "[analyst.ana]\n[tier.internal]\n";
    assert_eq!(parse(&twice).unwrap_err().to_string().matches("here twice").count(), 3);
}

#[test]
fn a_name_is_held_against_those_of_broken_sections_too() {
    let text = CITY.replacen("\"add-remove\"", "\"swap\"", 1).replacen(
        "unit = \"rider\"",
        "unit = \"ridder\"",
        1,
    ) + "[unit.driver]\nadjacency = \"add-remove\"\nbudget = { epsilon = 1, delta = 1e-7 }\n";
    let told = parse(&text).unwrap_err().to_string();
    assert!(told.contains("there is no [unit.ridder]: did you mean `rider`?"), "{told}");
    // Also where there are no others.
    let (text, _) = text.split_once("[unit.driver]").unwrap();
    let told = parse(text).unwrap_err().to_string();
    assert!(told.contains("there is no [unit.ridder]: did you mean `rider`?"), "{told}");
}

#[test]
fn what_is_wrong_with_files_is_told_beside_what_is_wrong_with_the_policy() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    std::fs::write(folder.join("trips.csv"), "rider_id,fare,city\n").unwrap();
    let text = CITY
        .replace("trips.parquet", "trips.csv")
        .replace("rider_id", "ridder_id")
        .replace("max_rows = 20", "max_rows = 0")
        .replace("city =", "citty =")
        .replacen("\"add-remove\"", "\"swap\"", 1);
    let path = folder.join("eke.toml");
    std::fs::write(&path, text).unwrap();
    let told = super::super::Policy::read(&path).unwrap_err().to_string();
    let lines: Vec<&str> =
        told.lines().map(|line| line.rsplit("eke.toml:").next().unwrap()).collect();
    let parts = [
        "3: `swap` is no adjacency",
        "9: `trips.csv` has no unit column `ridder_id`: did you mean `rider_id`?",
        "11: `max_rows` must be at least 1",
        "14: `fare` is text in `trips.csv`: leave out `min` and `max`",
        "15: `trips.csv` has no column `citty`: did you mean `city`?",
        "18: there is no file `zones.csv`",
    ];
    assert_eq!(lines.len(), parts.len(), "{told}");
    for (line, part) in lines.iter().zip(parts) {
        assert!(line.starts_with(part), "{line}: {told}");
    }
}

#[test]
fn a_delta_that_is_large_for_the_people_is_said() {
    let warned = |from: &str, to: &str| {
        let policy = parse(&CITY.replacen(from, to, 1)).unwrap();
        policy.warnings().join("\n")
    };
    assert_eq!(warned("delta = 1e-7", "delta = 1e-5"), "");
    assert!(
        warned("delta = 1e-7", "delta = 2e-5").contains("the delta 2e-5 of [unit.rider] is large")
    );
    assert!(warned("delta = 1e-7", "delta = 1e-3").contains("little is promised"));
    assert!(warned("delta = 1e-8", "delta = 1e-4").contains("of [tier.partner] is large"));
    // With a number of people that the steward states, that number counts.
    let people = |delta: &str, people: u32| {
        warned("delta = 1e-7 }", &format!("delta = {delta} }}\npeople = {people}"))
    };
    assert_eq!(people("1e-4", 500), "");
    assert_eq!(people("1e-7", 1_000_000), "");
    let told = people("1e-7", 2_000_000);
    assert!(
        told.contains("is large for 2000000 people") && told.contains("such as 1e-9"),
        "{told}"
    );
    let error =
        parse(&CITY.replacen("delta = 1e-7 }", "delta = 1e-7 }\npeople = 0", 1)).unwrap_err();
    assert!(error.to_string().contains("`people` must be at least 1"));
}
