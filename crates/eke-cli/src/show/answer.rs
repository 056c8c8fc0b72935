//! An answer as people read it: its rows, what they lack, and what it cost; or as CSV.
//!
//! Everything here is made of released values and of public information.

use std::io::{self, Write};

use eke_engine::ask::{
    Chosen, Column, Covers, CutCounts, CutVerdict, Dated, Kind, Suppressed, TotalsCover, Unmet,
    WhyFewer,
};
use eke_engine::{Answer, Cell, Row, Stopped};

use crate::show::number::{
    cost, cost_in_both, estimate, grouped, percent, plural, short, three_digits_up,
};
use crate::show::{Table, note};

/// How an answer is shown.
#[derive(Clone, Copy, Default)]
pub(crate) struct Style {
    /// Whether the highest price was a tenth of what was left, since nothing was said.
    pub(crate) is_tenth: bool,
    /// Whether what noise fixed in advance would cost is shown as well, and which values are good
    /// enough by their absolute error alone.
    pub(crate) is_verbose: bool,
}

/// The answer as a table, and below it what it cost.
pub(crate) fn print(answer: &Answer, style: Style, out: &mut impl Write) -> io::Result<()> {
    table(answer, style, out)?;
    writeln!(out)?;
    if answer.free {
        writeln!(out, "  cost   nothing")?;
    } else {
        let part = percent(answer.cost.rho, answer.budget.rho);
        let price = cost_in_both(&answer.cost, answer.epsilon);
        writeln!(out, "  cost   {price}, {part} of the budget")?;
    }
    writeln!(out, "  left   rho {}", short(answer.left.rho))?;
    let Some(fixed) = answer.fixed.as_ref().filter(|_| style.is_verbose && !answer.free) else {
        return Ok(());
    };
    let is_more = fixed.rho > answer.cost.rho + answer.left.rho;
    writeln!(
        out,
        "  noise fixed in advance would cost {} to promise this for any data{}",
        cost(fixed),
        if is_more { ", more than there is" } else { "" }
    )
}

/// The mark of a value that missed its goal.
const UNMET: char = '*';
/// What a total shows in place of a key that it is over.
const ALL: &str = "(all)";
/// The mark of a pick that cannot be told from noise.
const DOUBTFUL: char = '~';

/// The rows of an answer with their intervals, and below them what they lack.
pub(crate) fn table(answer: &Answer, style: Style, out: &mut impl Write) -> io::Result<()> {
    let values = || answer.rows.iter().flat_map(|row| &row.values);
    let confidence = values().map(|value| value.confidence).next().unwrap_or(0.95);
    let interval = format!("{} noise interval", format_percent(confidence));
    let mut head = Vec::new();
    let mut numbers = Vec::new();
    for column in &answer.columns {
        match column.kind {
            Kind::Key => head.push(column.name.clone()),
            Kind::Value => {
                numbers.push(head.len());
                head.push(column.name.clone());
                head.push(interval.clone());
            }
            Kind::Low | Kind::High | Kind::Met => {
                numbers.push(head.len());
                head.push(column.name.clone());
            }
        }
    }
    let doubtful = answer.picks.as_ref().map_or(&[][..], |picks| &picks.doubtful);
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new(&head).with_numbers(numbers);
    for (number, row) in answer.rows.iter().enumerate() {
        let (mut keys, mut values) = (row.keys.iter(), row.values.iter());
        let mut cells = Vec::new();
        for column in &answer.columns {
            match column.kind {
                Kind::Key => {
                    let shown = keys.next().map_or_else(String::new, key);
                    cells.push(if is_total(row, &column.name) { ALL.to_owned() } else { shown });
                }
                Kind::Value => {
                    let value = values.next();
                    cells.extend(value.map_or_else(Default::default, |cell| shown(cell, column)));
                }
                side => cells
                    .push(values.next().map_or_else(String::new, |cell| of_a_value(side, cell))),
            }
        }
        if doubtful.binary_search(&number).is_ok()
            && let Some(last) = cells.last_mut()
        {
            last.push(' ');
            last.push(DOUBTFUL);
        }
        table.row(cells);
    }
    table.print(out)?;
    counted(answer, out)?;
    ranks(answer, out)?;
    if answer.listed {
        note("", "the keys are public, and no row was read: some may be in no row", out)?;
    }
    why_so_few(answer, out)?;
    what_is_unmet(answer, style, out)?;
    if answer.picked {
        note("", &picked(answer), out)?;
    }
    if !doubtful.is_empty() {
        note(
            &DOUBTFUL.to_string(),
            "cannot be told from noise: were all other groups empty, one of them might as well \
             have been picked",
            out,
        )?;
    }
    if let Some(finest) = &answer.tier {
        note("", &format!("your tier sees no path further than {}", cost(finest)), out)?;
    }
    if let Some(suppressed) = answer.suppressed.filter(|suppressed| suppressed.rows > 0) {
        note("", &too_few_units(suppressed), out)?;
    }
    if let Some(chosen) = answer.chosen.filter(|chosen| chosen.rows < chosen.groups) {
        note("", &chosen_rows(chosen, confidence), out)?;
    }
    what_is_cut(answer, out)?;
    how_it_adds_up(answer, out)
}

/// Where quantiles stand among the rows, and how many rows lie beyond the least and the largest.
fn ranks(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    let values = answer.columns.iter().filter(|column| column.kind != Kind::Key);
    for (place, column) in values.enumerate() {
        let cells = || answer.rows.iter().filter_map(|row| row.values.get(place));
        if column.kind != Kind::Value || column.quantile.is_none() {
            continue;
        }
        let ranks = || cells().filter_map(|cell| cell.rank);
        let most =
            ranks().filter_map(|rank| rank.beyond).fold(None, |most: Option<f64>, beyond| {
                Some(most.map_or(beyond, |most| most.max(beyond)))
            });
        let name = &column.name;
        if let Some(beyond) = most {
            let beyond = plural_of(beyond.ceil());
            note("", &format!("{name}: {beyond} may lie beyond it"), out)?;
            continue;
        }
        let low = ranks().map(|rank| rank.low).fold(f64::INFINITY, f64::min);
        let high = ranks().map(|rank| rank.high).fold(f64::NEG_INFINITY, f64::max);
        if low <= high {
            let (low, high) = (rank_percent(low, f64::floor), rank_percent(high, f64::ceil));
            note("", &format!("{name}: its rank is between {low} and {high}"), out)?;
        }
    }
    Ok(())
}

/// What was counted of each unit.
pub(crate) fn counted(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    match &answer.covers {
        Some(covers) => note("", &format!("counted: {}", covers.note), out),
        None => Ok(()),
    }
}

/// How many units lose something to that.
pub(crate) fn what_is_cut(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    let Some(covers) = &answer.covers else { return Ok(()) };
    for (mark, said) in cuts(covers, "cut").into_iter().chain(of_totals(answer, covers)) {
        note(mark, &said, out)?;
    }
    Ok(())
}

/// At most this many rows.
fn plural_of(rows: f64) -> String {
    let end = if rows > 1.0 { "s" } else { "" };
    format!("at most {} row{end}", grouped(rows, 0))
}

/// A share of the rows, rounded outwards.
fn rank_percent(share: f64, outwards: fn(f64) -> f64) -> String {
    format!("{}%", short(outwards(share.clamp(0.0, 1.0) * 10_000.0) / 100.0))
}

/// What to know before rows are added up, and what was done for them to add up.
fn how_it_adds_up(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    if let Some(additive) = &answer.additive {
        let columns = additive.columns.join(" and ");
        let zero = if additive.nonnegative { ", none below zero" } else { "" };
        let depends = match &answer.totals {
            Some(totals) if !totals.one_row_each => {
                "; what is counted adds up where each unit has one row, as the policy's bounds say"
            }
            _ => "",
        };
        note(
            "",
            &format!("{columns} made to add up, by what noise they have{zero}{depends}"),
            out,
        )?;
        if !additive.without_intervals.is_empty() {
            let columns = additive.without_intervals.join(" and ");
            let text = format!(
                "{columns} without intervals: where these values stopped depends on their noise, \
                 and sums of them have none that is known; --price and absolute errors do"
            );
            note("", &text, out)?;
        }
    }
    if answer.sums_too_large {
        note(
            "",
            "rows add up to too much on average: groups that seem large stop early; for sums over \
             rows ask with --price or an absolute error",
            out,
        )?;
    }
    Ok(())
}

/// How many units lose something to the bounds, each sentence with a mark where it is a warning.
fn cuts(covers: &Covers, what: &str) -> Vec<(&'static str, String)> {
    let mark = |warns: bool| if warns { "!" } else { "" };
    let mut all = Vec::new();
    if let Some(cut) = &covers.cut {
        all.extend(cut.notes.iter().map(|said| (mark(cut.warns()), format!("{what}: {said}"))));
    }
    if let Some(whole) = &covers.whole {
        let notes = whole.notes.iter();
        all.extend(notes.map(|said| (mark(whole.warns()), format!("profile: {said}"))));
    }
    if let Some(dataset) = &covers.unprofiled {
        let hint = format!("`eke profile {dataset}` would tell, once and for a price of its own");
        all.push(("", format!("{what}: {hint}")));
    }
    all
}

/// What totals count of each unit where that is less than what the rows do, and how many units lose
/// something to it, unless they are few.
fn of_totals(answer: &Answer, rows: &Covers) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for TotalsCover { over, covers } in answer.totals.iter().flat_map(|totals| &totals.covers) {
        let of = match over.is_empty() {
            true => "other sets".to_owned(),
            false => format!("totals over {}", over.join(", ")),
        };
        if covers.is_less_than(rows) {
            all.push(("", format!("counted in {of}: {}", covers.note)));
        }
        let is_few = |cut: &CutCounts| cut.verdict.is_none_or(|is| is == CutVerdict::Few);
        if !covers.cut.as_ref().is_none_or(is_few) {
            all.extend(cuts(covers, &format!("cut in {of}")));
        }
    }
    all
}

fn is_total(row: &Row, column: &str) -> bool {
    row.over.iter().any(|over| **over == *column)
}

fn too_few_units(suppressed: Suppressed) -> String {
    let (rows, are, they) = match suppressed.rows {
        1 => ("1 row".to_owned(), "is", "it is"),
        rows => (format!("{} rows", grouped(rows as f64, 0)), "are", "they are"),
    };
    let units = grouped(f64::from(suppressed.min_units), 0);
    format!("{rows} {are} not shown: by a noisy count {they} about fewer than {units} units")
}

/// Why there are no rows, or fewer than were asked for.
fn why_so_few(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    let is_empty = answer.rows.is_empty();
    let selected = answer.units.map(|units| {
        let units = grouped(units as f64, 0);
        format!(
            "a group is shown if about {units} units or more are in it, or if the policy lists its \
             value"
        )
    });
    let Some(fewer) = answer.fewer else {
        return match (is_empty, selected) {
            (true, Some(selected)) => note("", &format!("no rows: {selected}"), out),
            (true, None) => note("", "no rows", out),
            (false, Some(selected)) => note("", &selected, out),
            (false, None) => Ok(()),
        };
    };
    let why = match fewer.why {
        WhyFewer::Groups => match selected {
            Some(selected) => format!("there are no more groups to show: {selected}"),
            None => "there are no more groups".to_owned(),
        },
        WhyFewer::Having => "HAVING left the others out".to_owned(),
        WhyFewer::Units => "the others are about too few units".to_owned(),
        WhyFewer::Tier => "your tier sees no more picks".to_owned(),
        WhyFewer::Goal => {
            "the last that were picked did not all reach their goal, and the next would be smaller \
             still"
                .to_owned()
        }
        WhyFewer::Price => {
            "the highest price did not allow more picks: half of it is kept to measure them"
                .to_owned()
        }
    };
    let many = format!("{} of {}", grouped(fewer.rows as f64, 0), grouped(fewer.wanted as f64, 0));
    note("", &format!("{many}: {why}"), out)
}

/// Which columns missed their goal, why, and what would do.
fn what_is_unmet(answer: &Answer, style: Style, out: &mut impl Write) -> io::Result<()> {
    // The steward of an older ledger has answers that do not say what would do.
    let mut lines: Vec<Unmet> = Vec::new();
    for cell in answer.rows.iter().flat_map(|row| &row.values) {
        let is_floor = style.is_verbose && cell.ending == Stopped::Floor;
        if why(cell).is_empty() && !is_floor {
            continue;
        }
        let is_same = |one: &Unmet| one.name == *cell.name && one.ending == cell.ending;
        if let Some(line) = lines.iter_mut().find(|one| is_same(one)) {
            line.rows += 1;
            continue;
        }
        let told = answer.unmet.iter().find(|one| is_same(one));
        let (needs, reach) = told.map_or((None, None), |told| (told.needs, told.reach));
        let (name, ending) = ((*cell.name).to_owned(), cell.ending);
        lines.push(Unmet { name, ending, rows: 1, needs, reach });
    }
    for line in lines {
        let is_alone = answer.rows.len() == 1;
        let rows = plural(line.rows as u64, "row");
        let where_ = if is_alone { String::new() } else { format!(" in {rows}") };
        if line.ending == Stopped::Floor {
            let text = format!(
                "{}{where_} is good enough by its absolute error: what --or says, or else what one \
                 unit can change it by",
                line.name
            );
            note("", &text, out)?;
            continue;
        }
        let text = format!("{} not met{where_}: {}", line.name, would_do(&line, answer, style));
        note(&UNMET.to_string(), &text, out)?;
    }
    Ok(())
}

/// Why a goal was missed, and what would do.
fn would_do(line: &Unmet, answer: &Answer, style: Style) -> String {
    let why = match line.ending {
        Stopped::HighestPrice | Stopped::OutOfReach if style.is_tenth => {
            "it costs more than a tenth of what was left, the highest price unless --at-most says \
             otherwise"
        }
        Stopped::Met | Stopped::Floor => "",
        Stopped::HighestPrice => "the highest price was reached",
        Stopped::OutOfReach => "it is out of reach of the highest price",
        Stopped::Refused => "the budget does not allow more",
        Stopped::Grid => "the grid does not allow more",
        Stopped::Chosen => "its noise is part of why it is shown",
        Stopped::Tier => "your tier sees no further",
    };
    let reach = line.reach.map(|reach| {
        let reach = three_digits_up(reach);
        format!("±\u{a0}{} is within reach", short(reach))
    });
    let do_it = match (line.needs, line.ending, reach) {
        (Some(needs), ending, _) if needs.rho <= answer.left.rho => {
            let price = three_digits_up(needs.rho);
            let price = short(price);
            let flag = match ending {
                Stopped::HighestPrice | Stopped::OutOfReach => {
                    format!(": --at-most rho={}", typed(&price))
                }
                _ => String::new(),
            };
            format!("about rho {price} more would do{flag}")
        }
        (Some(needs), _, reach) => {
            let price = short(three_digits_up(needs.rho));
            let reach = reach.map_or(String::new(), |reach| format!("; {reach}"));
            format!("it needs about rho {price} more, and there is less left{reach}")
        }
        (None, _, Some(reach)) => reach,
        (None, _, None) => return why.to_owned(),
    };
    format!("{why}; {do_it}")
}

/// A number as it is typed: without what groups its digits.
fn typed(number: &str) -> String {
    number.chars().filter(|digit| !matches!(digit, ',' | '\u{a0}' | ' ')).collect()
}

/// What picks are worth.
fn picked(answer: &Answer) -> String {
    let off = answer.picks.as_ref().map_or(String::new(), |picks| {
        format!(
            ", by about {} at most for {} of the picks",
            short(picks.within),
            format_percent(picks.confidence)
        )
    });
    format!("picked as the largest by noisy values: groups that are not shown may be larger{off}")
}

fn chosen_rows(chosen: Chosen, confidence: f64) -> String {
    format!(
        "{} of {} groups, chosen by their noisy values: each interval misses 1 in {}, so that of \
         those shown {} hold on average",
        grouped(chosen.rows as f64, 0),
        grouped(chosen.groups as f64, 0),
        grouped((1.0 / (1.0 - chosen.level)).round(), 0),
        format_percent(confidence),
    )
}

fn shown(cell: &Cell, column: &Column) -> [String; 2] {
    let dated = cell.dated.as_ref().and_then(|dated| {
        let Dated { value, low, high } = dated;
        Some([value.clone()?, format!("{} to {}", low.as_ref()?, high.as_ref()?)])
    });
    let [value, mut interval] = match (cell.value, cell.low, cell.high) {
        _ if dated.is_some() => dated.unwrap_or_default(),
        (Some(value), Some(low), Some(high)) => {
            let (value, interval) = for_people([value, low, high], column);
            [value, interval]
        }
        (Some(value), None, None) => [short(value), "none".to_owned()],
        _ => ["unknown".to_owned(), "any".to_owned()],
    };
    if !why(cell).is_empty() {
        interval.push(' ');
        interval.push(UNMET);
    }
    [value, interval]
}

/// A value and its interval as people read them: of a count nothing is below zero, though it may
/// have been drawn there.
pub(crate) fn for_people([value, low, high]: [f64; 3], column: &Column) -> (String, String) {
    let least = if column.counts { 0.0 } else { f64::NEG_INFINITY };
    let [low, high] = [low, high].map(|end| end.max(least));
    estimate(value.max(low).min(high), low, high)
}

/// Why a value misses its goal, briefly. Empty where it is met, or where a price was asked for.
pub(crate) fn why(cell: &Cell) -> &'static str {
    if cell.met.is_none() && matches!(cell.ending, Stopped::HighestPrice | Stopped::Tier) {
        return "";
    }
    match cell.ending {
        Stopped::Met | Stopped::Floor => "",
        Stopped::HighestPrice => "not met: the highest price",
        Stopped::OutOfReach => "not met: out of reach",
        Stopped::Refused => "not met: the budget",
        Stopped::Grid => "not met: the grid",
        Stopped::Chosen => "not met: chosen by its noise",
        Stopped::Tier => "not met: your tier",
    }
}

pub(crate) fn key(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "NULL".to_owned(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn format_percent(confidence: f64) -> String {
    format!("{}%", short(confidence * 100.0))
}

/// An end of a value's interval, or whether its goal is met, where a column shows that alone.
fn of_a_value(side: Kind, cell: &Cell) -> String {
    let dated = cell.dated.as_ref();
    match side {
        Kind::Low if dated.is_some() => dated.and_then(|at| at.low.clone()).unwrap_or_default(),
        Kind::High if dated.is_some() => dated.and_then(|at| at.high.clone()).unwrap_or_default(),
        Kind::Low => cell.low.map_or_else(String::new, short),
        Kind::High => cell.high.map_or_else(String::new, short),
        Kind::Met => cell.met.map_or_else(String::new, |met| met.to_string()),
        Kind::Key | Kind::Value => String::new(),
    }
}

/// The answer as CSV.
pub(crate) fn csv(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    let mut head = Vec::new();
    for column in &answer.columns {
        head.push(quoted(&column.name));
        if column.kind == Kind::Value {
            for end in ["low", "high", "met"] {
                head.push(quoted(&format!("{} {end}", column.name)));
            }
        }
    }
    let has_totals = answer.totals.is_some();
    if has_totals {
        head.push("over".to_owned());
    }
    if let Some(covers) = &answer.covers {
        writeln!(out, "# counted: {}", covers.note)?;
        for (_, said) in cuts(covers, "cut").into_iter().chain(of_totals(answer, covers)) {
            writeln!(out, "# {said}")?;
        }
    }
    writeln!(out, "{}", head.join(","))?;
    let mut digits = Vec::new();
    for row in &answer.rows {
        let (mut keys, mut values) = (row.keys.iter(), row.values.iter());
        for (place, column) in answer.columns.iter().enumerate() {
            if place > 0 {
                out.write_all(b",")?;
            }
            match column.kind {
                Kind::Key => match keys.next() {
                    None | Some(serde_json::Value::Null) => {}
                    Some(serde_json::Value::Number(number)) => write!(out, "{number}")?,
                    Some(other) => out.write_all(quoted(&key(other)).as_bytes())?,
                },
                Kind::Value => {
                    let Some(cell) = values.next() else { continue };
                    let ends = [cell.value, cell.low, cell.high];
                    for (value, dated) in ends.into_iter().zip(dates(cell)) {
                        match (dated, value) {
                            (Some(dated), _) => out.write_all(dated.as_bytes())?,
                            (None, Some(value)) => write_number(value, &mut digits, out)?,
                            (None, None) => {}
                        }
                        out.write_all(b",")?;
                    }
                    if let Some(met) = cell.met {
                        write!(out, "{met}")?;
                    }
                }
                side => {
                    let Some(cell) = values.next() else { continue };
                    let end = if side == Kind::Low { cell.low } else { cell.high };
                    let [_, low, high] = dates(cell);
                    let dated = if side == Kind::Low { low } else { high };
                    match (side, end, cell.met) {
                        (Kind::Met, _, Some(met)) => write!(out, "{met}")?,
                        (Kind::Low | Kind::High, _, _) if dated.is_some() => {
                            out.write_all(dated.unwrap_or_default().as_bytes())?;
                        }
                        (Kind::Low | Kind::High, Some(end), _) => {
                            write_number(end, &mut digits, out)?;
                        }
                        _ => {}
                    }
                }
            }
        }
        if has_totals {
            // The columns that a row is a total over: a key may be empty without that.
            write!(out, ",{}", quoted_if_any(&row.over.join(" ")))?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A value and the ends of its interval as days or moments are written; nothing for numbers.
fn dates(cell: &Cell) -> [Option<&str>; 3] {
    let Some(Dated { value, low, high }) = &cell.dated else { return [None; 3] };
    [value, low, high].map(Option::as_deref)
}

/// Writes a number in the fewest digits, without an exponent: as `Display` does, and faster, since
/// an answer may have millions.
fn write_number(number: f64, digits: &mut Vec<u8>, out: &mut impl Write) -> io::Result<()> {
    digits.clear();
    serde_json::to_writer(&mut *digits, &number)?;
    if !number.is_finite() || digits.contains(&b'e') {
        return write!(out, "{number}");
    }
    out.write_all(digits.strip_suffix(b".0").unwrap_or(digits))
}

fn quoted_if_any(text: &str) -> String {
    if text.is_empty() { String::new() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.is_empty() {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_the_fewest_digits() {
        let mut bits = 1u64;
        let some = (0..2000).map(|_| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from_bits(bits)
        });
        let odd = [0.0, -0.0, 1.0, -17.0, 0.1, 1e15, 1e16, 1e17, 1e-5, 1e-7, 5e-324, f64::MAX];
        let none = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let small = (-500..500).map(|number| f64::from(number) / 64.0);
        for number in odd.into_iter().chain(none).chain(small).chain(some) {
            let mut out = Vec::new();
            write_number(number, &mut Vec::new(), &mut out).unwrap();
            let (written, shown) = (String::from_utf8(out).unwrap(), number.to_string());
            // Of two that are as near and as short, either will do.
            let read: f64 = written.parse().unwrap();
            assert!(read.to_bits() == number.to_bits() || number.is_nan(), "{shown}");
            assert_eq!(written.len(), shown.len(), "{shown}");
            assert!(written == shown || number.abs() > 1e9, "{written} and not {shown}");
        }
        for (number, shown) in [(0.1, "0.1"), (-17.0, "-17"), (1e21, "1000000000000000000000")] {
            let mut out = Vec::new();
            write_number(number, &mut Vec::new(), &mut out).unwrap();
            assert_eq!(out, shown.as_bytes());
        }
    }
}
