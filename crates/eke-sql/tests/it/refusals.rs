//! Refusals as fields: what a program reads, where people read the sentence.

use eke_sql::error::{
    BoundsError, LimitError, NameError, Named, Sought, SyntaxError, TypeError, Unsupported,
};
use eke_sql::{SqlError, Type, plan};

use crate::tables::tables;

fn refused(sql: &str) -> SqlError {
    plan(sql, &tables()).unwrap_err()
}

#[test]
fn a_name_that_is_not_known_says_where_it_was_looked_for_and_what_is_like_it() {
    let SqlError::Name(NameError::Unknown { what, name, sought, near, known }) =
        refused("SELECT SUM(fares) FROM trips")
    else {
        panic!("it is a name");
    };
    assert_eq!((what, name.as_str(), near.as_deref()), (Named::Column, "fares", Some("fare")));
    assert_eq!(sought, Sought::In("trips".to_owned()));
    assert!(known.contains(&"fare".to_owned()));
    let other = refused("SELECT COUNT(*) FROM nothing_of_the_kind");
    let SqlError::Name(NameError::Unknown { what: Named::Table, near: None, known, .. }) = other
    else {
        panic!("{other}");
    };
    assert!(known.contains(&"trips".to_owned()));
}

#[test]
fn names_that_differ_in_case_alone_are_told_in_plain_english() {
    let twice = "SELECT COUNT(*) AS n, SUM(fare) AS n FROM trips ORDER BY n";
    let refusal = refused(twice);
    assert_eq!(
        refusal,
        SqlError::Name(NameError::Twice { what: Named::Alias, name: "n".to_owned() })
    );
    assert_eq!(refusal.to_string(), "There are several aliases `n`: give each a name of its own");
}

#[test]
fn refusals_say_which_part_and_what_instead() {
    let written = |text: &str| text.to_owned();
    let table: [(&str, SqlError); 6] = [
        ("", SyntaxError::Empty.into()),
        (
            "SELECT COUNT(*) FROM trips TABLESAMPLE BERNOULLI (10)",
            Unsupported::Feature {
                what: "TABLESAMPLE",
                instead: "the same question must have the same rows",
            }
            .into(),
        ),
        ("SELECT fare FROM trips", Unsupported::ShowsRows { item: written("fare") }.into()),
        (
            "SELECT COUNT(*) FROM trips WHERE fare",
            TypeError::Condition { written: written("fare"), kind: Type::Float }.into(),
        ),
        (
            "SELECT SUM(fare * 1e600) FROM trips",
            TypeError::NoDouble { written: written("1e600") }.into(),
        ),
        (
            "SELECT SUM(fare * 0) FROM trips",
            BoundsError::Nothing {
                written: written("fare * 0"),
                low: 0.0,
                high: 0.0,
                is_average: false,
            }
            .into(),
        ),
    ];
    for (sql, refusal) in table {
        assert_eq!(refused(sql), refusal, "{sql}");
    }
    let long = format!("SELECT COUNT(*) FROM trips WHERE zone = '{}'", "x".repeat(70_000));
    assert!(matches!(refused(&long), SqlError::Limit(LimitError::Text { most_kilobytes: 64 })));
}

/// What a field quotes of a question is on one line and short, whatever the question has in it.
#[test]
fn fields_are_on_one_line_and_short() {
    let name = format!("\"a\nb\u{7}{}\"", "c".repeat(300));
    let SqlError::Name(NameError::Unknown { name, .. }) =
        refused(&format!("SELECT SUM({name}) FROM trips"))
    else {
        panic!("it is a name");
    };
    assert!(name.chars().count() == 61 && !name.contains(char::is_control), "{name:?}");
}
