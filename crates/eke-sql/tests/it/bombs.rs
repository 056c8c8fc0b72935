//! Questions that are meant to bring the process down: each is refused, quickly, on a small stack.

use std::time::{Duration, Instant};

use eke_sql::{Expr, MAX_TEXT, SqlError, Summand, Value, plan};

use crate::tables::tables;

/// On a thread with a stack of 1 MiB, half of what threads usually have. The parser is built
/// without optimisation here, which is when its frames are largest.
fn refused(sql: String) -> SqlError {
    let start = Instant::now();
    let text: String = sql.chars().take(60).collect();
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let outcome = thread.spawn(move || plan(&sql, &tables()).map(|_| ())).unwrap().join().unwrap();
    assert!(start.elapsed() < Duration::from_secs(5), "{text} took {:?}", start.elapsed());
    outcome.expect_err(&text)
}

fn is_a_limit(sql: String) {
    let text: String = sql.chars().take(60).collect();
    let error = refused(sql);
    assert!(matches!(error, SqlError::Limit(_)), "{text}: {error}");
}

fn within(condition: &str) -> String {
    format!("SELECT COUNT(*) FROM trips WHERE {condition}")
}

/// Each answer is asked about by the next, and doubles what it shows.
#[test]
fn answers_that_grow_inside_each_other_are_refused() {
    let mut sql = "SELECT COUNT(*) AS n FROM trips".to_owned();
    for _ in 0..8 {
        sql = format!("SELECT n{} AS n FROM ({sql}) AS t", " + n".repeat(20));
    }
    is_a_limit(sql);
    let mut sql = "SELECT COUNT(*) AS n FROM trips".to_owned();
    for _ in 0..40 {
        sql = format!("SELECT n + n AS n FROM ({sql}) AS t");
    }
    refused(sql);
}

#[test]
fn long_and_wide_questions_are_refused() {
    is_a_limit(format!("SELECT COUNT(*) FROM trips {}", " ".repeat(64 * 1024)));
    is_a_limit(within(&format!("fare > 1{}", "+1".repeat(2_000))));
    is_a_limit(within(&format!("fare > 1{}", "+1".repeat(249))));
    is_a_limit(within(&format!("paid{}", " AND paid".repeat(2_000))));
    is_a_limit(within(&format!("paid{}", " OR paid".repeat(500))));
    is_a_limit(within(&format!("stops IN (1{})", ", 1".repeat(10_000))));
    is_a_limit(within(&format!("stops IN (1{})", ", 1".repeat(600))));
    is_a_limit(within(&format!("fare IN (tip{})", ", tip".repeat(300))));
    is_a_limit(format!("SELECT COUNT(*){} FROM trips", ", COUNT(*)".repeat(600)));
    is_a_limit(within(&format!("{} TRUE", "paid = ".repeat(400))));
    is_a_limit(within(&format!("note = 'a'{}", " || 'a'".repeat(400))));
    is_a_limit(within(&format!("CASE {} END", "WHEN paid THEN paid ".repeat(400))));
    is_a_limit(format!(
        "SELECT COUNT(*) FROM trips {}",
        "UNION SELECT COUNT(*) FROM trips ".repeat(800)
    ));
}

#[test]
fn deep_questions_are_refused() {
    for many in [60, 1_000, 10_000] {
        let (open, close) = ("(".repeat(many), ")".repeat(many));
        is_a_limit(within(&format!("{open}paid{close}")));
        is_a_limit(within(&open));
        is_a_limit(format!("{open}SELECT COUNT(*) FROM trips{close}"));
        is_a_limit(within(&format!("{}paid", "NOT ".repeat(many))));
        is_a_limit(within(&format!("{}1 > 0", "- ".repeat(many))));
        is_a_limit(within(&format!("{}1 > 0", "+ ".repeat(many))));
        is_a_limit(within(&format!("{}1 > 0", "~ ".repeat(many))));
        is_a_limit(within(&format!("{}paid{}", "abs(".repeat(many), close)));
        is_a_limit(within(&format!(
            "{}paid{}",
            "CASE WHEN ".repeat(many),
            " THEN 1 END".repeat(many)
        )));
        is_a_limit(format!(
            "SELECT COUNT(*) FROM {}trips{}",
            "(SELECT * FROM ".repeat(many),
            ") t".repeat(many)
        ));
        is_a_limit(format!("SELECT COUNT(*) FROM {open}trips{close}"));
        is_a_limit(within(&format!("fare > {}1{}", "ARRAY[".repeat(many), "]".repeat(many))));
        is_a_limit(within(&format!("{}1{}", "EXISTS (SELECT ".repeat(many), close)));
    }
    // Chains that lean to the left nest in the tree but not in the text.
    is_a_limit(within(&format!("stops{} = 1", "::int".repeat(600))));
    is_a_limit(within(&format!("stops{} = 1", "::int::float".repeat(100))));
    is_a_limit(within(&format!("paid{}", " IS NULL".repeat(400))));
    is_a_limit(within(&format!("stops{} > 1", " % 7".repeat(60))));
    is_a_limit(within(&format!("{}1", "fare BETWEEN 1 AND ".repeat(100))));
    refused(within(&format!("note{} = 'a'", " COLLATE \"C\"".repeat(450))));
    refused(within(&format!("started{} > 1", " AT TIME ZONE 'UTC'".repeat(450))));
    refused(within(&format!("fare{} > 1", "[1]".repeat(700))));
    refused(within(&format!("paid{}", " NOTNULL".repeat(450))));
    refused(within(&format!("paid{}", " ISNULL".repeat(2_000))));
    refused(format!("SELECT COUNT(*) FROM trips{}", " JOIN trips ON paid".repeat(450)));
    refused(format!("SELECT COUNT(*) FROM trips{}", " UNION SELECT 1".repeat(450)));
    refused(format!("{}SELECT COUNT(*) FROM trips", "EXPLAIN ".repeat(2_000)));
    refused(format!("SELECT COUNT(*) FROM trips {}", "/*".repeat(10_000)));
    refused(format!("SELECT {}", "\"".repeat(10_001)));
    refused(within(&"$".repeat(10_001)));
    refused(within(&format!("fare > {}1{}", "f(".repeat(49), ")".repeat(49))));
    refused(within(&format!("CAST(fare AS int{}) = 1", "[]".repeat(1_000))));
    refused(within(&format!("fare > {}", "INTERVAL ".repeat(400))));
}

#[test]
fn large_questions_within_the_limits_are_planned() {
    let listed = (0..450).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let spoken = (0..100).map(|i| format!("stops = {i}")).collect::<Vec<_>>().join(" OR ");
    let chosen = (0..100).map(|i| format!("WHEN {i} THEN 'k{i}'")).collect::<Vec<_>>().join(" ");
    let mut levels = "WITH a0 AS (SELECT * FROM trips)".to_owned();
    for level in 1..100 {
        levels += &format!(", a{level} AS (SELECT * FROM a{} WHERE stops <> {level})", level - 1);
    }
    for sql in [
        within(&format!("stops IN ({listed})")),
        within(&spoken),
        within(&format!("{}paid{}", "(".repeat(40), ")".repeat(40))),
        within(&format!("{}fare > 1", "NOT ".repeat(30))),
        within(&format!("fare{} > 1", " + 1.5".repeat(40))),
        within(&format!("{}note{} = 'a'", "lower(".repeat(30), ")".repeat(30))),
        format!("SELECT CASE stops {chosen} END AS k, COUNT(*) FROM trips GROUP BY k"),
        format!("SELECT COUNT(*) FROM {}trips{}", "(SELECT * FROM ".repeat(20), ") t".repeat(20)),
        levels + " SELECT COUNT(*) FROM a99",
    ] {
        let start = Instant::now();
        plan(&sql, &tables()).unwrap_or_else(|refusal| panic!("{sql}: {refusal}"));
        assert!(start.elapsed() < Duration::from_secs(1), "{sql} took {:?}", start.elapsed());
    }
}

#[test]
fn nesting_just_below_the_limit_is_parsed_in_little_time_and_stack() {
    for many in 1..=49 {
        let (open, close) = ("(".repeat(many), ")".repeat(many));
        for sql in [
            within(&format!("{open}paid{close}")),
            within(&format!("{open}paid")),
            within(&format!("{}paid{}", "(NOT ".repeat(many), close)),
            within(&format!("{}1{} > 0", "-(".repeat(many), close)),
            within(&format!("{}'a'{} > 'b'", "lower(".repeat(many), close)),
            within(&format!("{}fare{} > 1", "coalesce(1, ".repeat(many), close)),
            within(&format!("fare IN {}1{}", "(1, (".repeat(many / 2), "))".repeat(many / 2))),
            within(&format!("{}paid{}", "CASE WHEN ".repeat(many), " THEN TRUE END".repeat(many))),
            within(&format!("{}paid{}", "CASE WHEN TRUE THEN ".repeat(many), " END".repeat(many))),
            within(&format!("{}1{}", "EXISTS (SELECT ".repeat(many), close)),
            within(&format!("{}1{} = 1", "(SELECT ".repeat(many), close)),
            within(&format!("{}1{} = 1", "CAST(".repeat(many), " AS int)".repeat(many))),
            within(&format!("fare > {}1{}", "ARRAY[".repeat(many), "]".repeat(many))),
            within(&format!("{}1{}", "fare[".repeat(many), "]".repeat(many))),
            within(&format!("fare > {}1", "INTERVAL ".repeat(many))),
            format!(
                "SELECT COUNT(*) FROM {}trips{}",
                "(SELECT * FROM ".repeat(many),
                ") t".repeat(many)
            ),
            format!("SELECT COUNT(*) FROM {open}trips{close}"),
            format!("SELECT COUNT(*) FROM {open}trips JOIN trips{close}"),
            format!("SELECT COUNT(*) FROM {open}SELECT 1{close}"),
            format!("SELECT COUNT(*) FROM {open}SELECT * FROM trips{}", ") t".repeat(many)),
            format!("{open}SELECT COUNT(*) FROM trips{close}"),
            format!("SELECT COUNT(*) FROM {}trips{}", "f(".repeat(many), close),
            format!(
                "{}SELECT COUNT(*) FROM trips{}",
                "WITH a AS (".repeat(many),
                ") SELECT COUNT(*) FROM a".repeat(many)
            ),
            format!("SELECT COUNT(*) OVER {open} FROM trips"),
            format!("SELECT COUNT(*) FROM trips GROUP BY {open}city{close}"),
            format!("SELECT COUNT(*) FROM trips GROUP BY GROUPING SETS {open}city{close}"),
            format!("SELECT {open}city, COUNT(*){close} FROM trips"),
        ] {
            let start = Instant::now();
            let text = sql.clone();
            let thread = std::thread::Builder::new().stack_size(1 << 20);
            let _ =
                thread.spawn(move || plan(&sql, &tables()).map(|_| ())).unwrap().join().unwrap();
            assert!(start.elapsed() < Duration::from_secs(2), "{text} took {:?}", start.elapsed());
        }
    }
}

/// Where the parser tries several readings, they must not multiply: forms inside each other, ended
/// badly.
#[test]
fn nested_forms_that_fail_at_their_end_take_no_exponential_time() {
    let forms = [
        ("(", ")"),
        ("lower(", ")"),
        ("f(x => ", ")"),
        ("f('x': ", ")"),
        ("NOT (", ")"),
        ("CASE WHEN ", " THEN 1 END"),
        ("CASE ", " WHEN 1 THEN 1 END"),
        ("CAST(", " AS int)"),
        ("EXTRACT(YEAR FROM ", ")"),
        ("SUBSTRING(", " FROM 1)"),
        ("TRIM(", ")"),
        ("POSITION('a' IN ", ")"),
        ("FLOOR(", ")"),
        ("1 IN (", ")"),
        ("1 IN ((", "))"),
        ("1 IN (SELECT ", ")"),
        ("1 IN ((SELECT ", "))"),
        ("EXISTS (SELECT ", ")"),
        ("EXISTS ((SELECT ", "))"),
        ("(SELECT ", ")"),
        ("((SELECT ", "))"),
        ("(SELECT * FROM (SELECT ", ") t)"),
        ("1 = ANY(", ")"),
        ("ARRAY[", "]"),
        ("x[", "]"),
        ("ROW(", ")"),
        ("INTERVAL ", ""),
        ("INTERVAL (", ")"),
        ("DATE(", ")"),
        ("TIMESTAMP(", ")"),
        ("COUNT(*) FILTER (WHERE ", ")"),
        ("COUNT(*) OVER (PARTITION BY ", ")"),
        ("(1, ", ")"),
        ("- ", ""),
        ("NOT ", ""),
        ("1 BETWEEN 1 AND ", ""),
        ("x::numeric(", ")"),
        ("OVERLAY('a' PLACING ", " FROM 1)"),
        ("GROUPING SETS (", ")"),
        ("STRUCT(", ")"),
        ("MAP {", "}"),
        ("{fn f(", ")}"),
        ("LISTAGG(", ") WITHIN GROUP (ORDER BY 1)"),
        ("xmlconcat(", ")"),
        ("CONVERT(", ", int)"),
    ];
    let mut asked = 0;
    let mut slowest = (Duration::ZERO, String::new());
    for (open, close) in forms {
        for (other, other_close) in
            [(open, close), forms[0], forms[1], forms[5], forms[13], forms[19]]
        {
            for inner in ["1 1", ""] {
                let sql = within(&format!(
                    "{}{inner}{}",
                    format!("{open}{other}").repeat(22),
                    format!("{other_close}{close}").repeat(22)
                ));
                let start = Instant::now();
                let _ = plan(&sql, &tables());
                slowest = slowest.max((start.elapsed(), sql));
                asked += 1;
            }
        }
    }
    assert!(slowest.0 < Duration::from_secs(3), "{slowest:?} of {asked}");
    for (open, close) in [
        ("(SELECT * FROM ", ") t"),
        ("((SELECT * FROM ", ")) t"),
        ("(((SELECT * FROM ", "))) t"),
        ("(trips JOIN ", ")"),
        ("((trips JOIN ", ") JOIN trips)"),
        ("(WITH a AS (SELECT 1) SELECT * FROM ", ") t"),
        ("((VALUES (1)) UNION SELECT * FROM ", ") t"),
        ("LATERAL (SELECT * FROM ", ") t"),
        ("(SELECT 1 FROM trips UNION (SELECT * FROM ", ")) t"),
        ("f(", ")"),
        ("TABLE(", ")"),
        ("UNNEST(", ")"),
        ("(TABLE trips) JOIN ((", "))"),
    ] {
        for many in [8, 16, 24, 48] {
            for inner in ["trips", "1 1", ")", "", "(trips)"] {
                let sql = format!(
                    "SELECT COUNT(*) FROM {}{inner}{}",
                    open.repeat(many),
                    close.repeat(many)
                );
                let start = Instant::now();
                let _ = plan(&sql, &tables());
                assert!(
                    start.elapsed() < Duration::from_secs(3),
                    "{sql} took {:?}",
                    start.elapsed()
                );
            }
        }
    }
}

#[test]
fn questions_that_double_with_every_subquery_are_refused() {
    for step in [
        "SELECT x + x AS x FROM",
        "SELECT x * x - x AS x FROM",
        "SELECT CASE x WHEN x THEN x ELSE x END AS x FROM",
        "SELECT coalesce(x, x, x) + greatest(x, -x) AS x FROM",
        "SELECT CASE WHEN x BETWEEN x AND x THEN x END AS x FROM",
        "SELECT CASE WHEN x IS DISTINCT FROM x THEN 1.0 END AS x FROM",
        "SELECT *, x AS y, x || x AS z FROM",
        "SELECT *, * FROM",
        "SELECT x FROM",
    ] {
        for many in [15, 60, 120] {
            let mut sql = "WITH a0 AS (SELECT fare AS x FROM trips)".to_owned();
            for level in 1..=many {
                sql += &format!(", a{level} AS ({step} a{})", level - 1);
            }
            sql += &format!(" SELECT SUM(x) FROM a{many}");
            let start = Instant::now();
            let outcome = plan(&sql, &tables());
            assert!(start.elapsed() < Duration::from_secs(2), "{step} took {:?}", start.elapsed());
            assert!(outcome.is_err() || step == "SELECT x FROM", "{step}");
        }
    }
    // Many columns, each large, through many levels.
    let wide = (0..40).map(|i| format!("fare+tip+fare+tip AS c{i}")).collect::<Vec<_>>().join(", ");
    let mut sql = format!("WITH a0 AS (SELECT {wide} FROM trips)");
    for level in 1..=100 {
        sql += &format!(", a{level} AS (SELECT * FROM a{} WHERE c1 > 0)", level - 1);
    }
    is_a_limit(sql + " SELECT SUM(c1) FROM a100");
    // The operand of each is written twice.
    is_a_limit(within(&format!("{}paid{}", "(".repeat(20), " BETWEEN TRUE AND TRUE)".repeat(20))));
}

/// All constants of an expression.
fn constants(expr: &Expr, into: &mut Vec<Value>) {
    match expr {
        Expr::Literal(value) => into.push(value.clone()),
        Expr::In(_, values) => into.extend(values.iter().cloned()),
        _ => {}
    }
    expr.children().into_iter().for_each(|child| constants(child, into));
}

/// `p || p || …` with `many` terms, in `levels` CTEs on top of each other.
fn doubled(start: &str, many: usize, levels: usize, end: &str) -> String {
    let mut sql = format!("WITH a0 AS (SELECT *, {start} AS p FROM trips)");
    let chain = vec!["p"; many].join(" || ");
    for level in 1..=levels {
        // Each is written with the next p alone, so that the others stay there to be asked about.
        sql += &format!(", a{level} AS (SELECT note, rider_id, {chain} AS p FROM a{})", level - 1);
    }
    format!("{sql} {end} FROM a{levels}")
}

#[test]
fn constants_stay_as_short_as_texts_while_they_are_worked_out() {
    for (many, levels) in [(16, 2), (20, 3), (25, 4), (2, 40)] {
        for end in [
            "SELECT COUNT(CASE WHEN rider_id = 7 THEN p END)",
            "SELECT COUNT(nullif(p, note))",
            "SELECT COUNT(CASE WHEN note IN (p, 'a') THEN 1 END)",
        ] {
            let sql = doubled("'0123456789abcdéf'", many, levels, end);
            assert!(sql.len() < 4_000);
            let query = plan(&sql, &tables()).unwrap_or_else(|refusal| panic!("{sql}: {refusal}"));
            let json = serde_json::to_string(&query).unwrap();
            assert!(json.len() < 20_000, "{many} {levels}: {} bytes of plan", json.len());
            let mut all = Vec::new();
            for sum in &query.plan.sums {
                if let Summand::Present(expr) = &sum.summand {
                    constants(expr, &mut all);
                }
            }
            let longest = all.iter().map(|value| match value {
                Value::Text(text) => text.len(),
                _ => 0,
            });
            let longest = longest.max().unwrap();
            assert!((MAX_TEXT - 2..=MAX_TEXT).contains(&longest), "{longest}");
        }
    }
}

/// What is put in counts by its length, before it is copied: so does what texts that are not known
/// come to.
#[test]
fn texts_that_double_with_every_subquery_are_refused_before_they_are_there() {
    let end = "SELECT COUNT(p)";
    is_a_limit(doubled("note", 2, 40, end));
    is_a_limit(doubled("note", 9, 3, end));
    is_a_limit(doubled("note || 'a'", 20, 20, end));
    // A long constant beside a column does not fold: this number of copies of it is too large.
    let long = "x".repeat(4_000);
    is_a_limit(doubled(&format!("note || '{long}'"), 5, 3, end));
    // So they are where nothing goes through them.
    let copies = |text: &str| {
        let copies = (0..40).map(|i| format!("note = p AND fare > {i}")).collect::<Vec<_>>();
        let copies = copies.join(" OR ");
        format!(
            "WITH a AS (SELECT note, fare, '{text}' AS p FROM trips) SELECT COUNT(*) FROM a WHERE {copies}"
        )
    };
    plan(&copies("x"), &tables()).unwrap();
    is_a_limit(copies(&long));
    let listed = (0..400).map(|i| format!("'{i}{}'", "y".repeat(150))).collect::<Vec<_>>();
    plan(&within(&format!("note IN ({})", listed.join(", "))), &tables()).unwrap();
    let listed = (0..15).map(|i| format!("'{i}{}'", "y".repeat(4_000))).collect::<Vec<_>>();
    plan(&within(&format!("note IN ({})", listed.join(", "))), &tables()).unwrap();
    let listed = format!("note IN ({0}) OR zone IN ({0})", listed[..15].join(", "));
    refused(within(&listed));
}

#[test]
fn constants_that_are_longer_than_texts_are_refused() {
    let (most, more) = ("a".repeat(MAX_TEXT), "a".repeat(MAX_TEXT + 1));
    plan(&within(&format!("note = '{most}'")), &tables()).unwrap();
    for constant in [
        format!("'{more}'"),
        format!("E'{more}'"),
        format!("$${more}$$"),
        format!("'{}'", "é".repeat(MAX_TEXT / 2 + 1)),
        format!("CAST('{more}' AS int)"),
        format!("lower('{more}')"),
    ] {
        is_a_limit(within(&format!("note || 'a' = {constant} || ''")));
    }
    is_a_limit(within(&format!("note LIKE '{}'", "a".repeat(251))));
    plan(&within(&format!("note LIKE '{}'", "a".repeat(250))), &tables()).unwrap();
}

/// However long the texts of a row are, what it takes is bounded by how often they are gone
/// through.
#[test]
fn questions_that_go_through_texts_too_often_are_refused() {
    let likes = |many: usize, pattern: &str| {
        within(
            &vec![format!("note LIKE '{pattern}'"); many]
                .iter()
                .enumerate()
                .map(|(i, like)| format!("({like} AND stops = {i})"))
                .collect::<Vec<_>>()
                .join(" OR "),
        )
    };
    plan(&likes(60, "%a%b_c"), &tables()).unwrap();
    is_a_limit(likes(60, &format!("%{}", "a".repeat(200))));
    let keys = (0..40).map(|i| format!("lower(note) || '{i}' || upper(zone)"));
    let keys = keys.collect::<Vec<_>>().join(", ");
    is_a_limit(format!("SELECT COUNT(*) FROM trips GROUP BY {keys}"));
    let sums = (0..70).map(|i| format!("COUNT(CAST(note || '{i}' AS int))"));
    is_a_limit(format!("SELECT {} FROM trips", sums.collect::<Vec<_>>().join(", ")));
    // Numbers are not texts.
    let numbers = (0..70).map(|i| format!("stops > {i}.5")).collect::<Vec<_>>().join(" OR ");
    plan(&within(&numbers), &tables()).unwrap();
}

/// A unit's groups are held by their names, which are as long as its texts for every such key.
#[test]
fn a_question_groups_by_few_texts_of_rows() {
    let by = |many: usize| {
        let keys: Vec<_> = (0..many).map(|i| format!("note || '{i}'")).collect();
        format!("SELECT COUNT(*) FROM trips GROUP BY {}", keys.join(", "))
    };
    plan(&by(16), &tables()).unwrap();
    let refusal = refused(by(17)).to_string();
    assert!(refusal.starts_with("The question groups by 17 texts"), "{refusal}");
    // Numbers are short, however many they are.
    let numbers: Vec<_> = (0..40).map(|i| format!("stops + {i}")).collect();
    let sql = format!("SELECT COUNT(*) FROM trips GROUP BY {}", numbers.join(", "));
    plan(&sql, &tables()).unwrap();
}

/// Regular expressions, intervals and what the dialect puts together itself.
#[test]
fn expressions_that_would_grow_are_refused() {
    is_a_limit(within("note ~ '(a{100}){3}'"));
    is_a_limit(within(&format!("note ~ '{}{}'", "(".repeat(30), "){250}".repeat(30))));
    is_a_limit(within(&format!("note ~ '{}'", "a".repeat(251))));
    is_a_limit(within(&format!("note ~ '{}'", "()".repeat(2_000))));
    is_a_limit(within("note ~ 'a{250}' AND note ~ 'b' AND paid"));
    is_a_limit(within(&format!("fare{}", " BETWEEN SYMMETRIC 1 AND fare".repeat(200))));
    is_a_limit(within(&format!(
        "{}fare{}",
        "(1 BETWEEN SYMMETRIC ".repeat(40),
        " AND 2)".repeat(40)
    )));
    is_a_limit(within(&format!("started{} IS NULL", " + INTERVAL '1 day'".repeat(600))));
    is_a_limit(within(&format!("started{} IS NULL", " AT TIME ZONE 'UTC'".repeat(600))));
    is_a_limit(within(&format!("length(concat(note{})) > 1", ", note".repeat(200))));
    is_a_limit(within(&format!(
        "note = {}'a'{}",
        "replace(".repeat(45),
        ", 'a', 'aa')".repeat(45)
    )));
    // Each of these is long only once it is folded.
    refused(within(&format!("note IN ({}repeat('a', 4000))", "repeat('a', 4000), ".repeat(99))));
}
