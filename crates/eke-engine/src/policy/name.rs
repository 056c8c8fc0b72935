//! Names: which there may be, and which one was probably meant.

use super::error::quoted;

/// How long a name may be, in bytes: a unit's and an analyst's together name an account.
const LONGEST: usize = 64;

/// The words of SQL that cannot name a table unless they are quoted.
const RESERVED: &str = "\
    all and any as between by case cast cross distinct else end except exists false fetch for \
    from full group having in inner intersect into is join lateral left like limit natural not \
    null offset on or order outer qualify right select set table then true union using values \
    when where window with";

/// Whether that may name a unit, a tier, an analyst or a circle; what is wrong with it if not.
pub(super) fn check(kind: &str, name: &str) -> Result<(), String> {
    let shown = quoted(name);
    check_length(kind, name)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.chars().all(fits) || !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(format!(
            "{shown} cannot name {kind}: write letters, digits, `_`, `-` and `.`, and begin with a letter or a digit"
        ));
    }
    Ok(())
}

/// Whether that may name a dataset, and so a table of SQL; what is wrong with it if not.
pub(super) fn check_table(name: &str) -> Result<(), String> {
    let shown = quoted(name);
    check_length("a dataset", name)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.chars().all(fits) || !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return Err(format!(
            "{shown} cannot name a dataset: questions use it as a table, so write letters, digits and `_`, and do not begin with a digit"
        ));
    }
    if RESERVED.split_whitespace().any(|word| name.eq_ignore_ascii_case(word)) {
        return Err(format!(
            "{shown} cannot name a dataset: it is a word of SQL, so write something like `{name}_data`"
        ));
    }
    Ok(())
}

fn check_length(kind: &str, name: &str) -> Result<(), String> {
    match name.len() {
        0 => Err(format!("an empty text cannot name {kind}: write a name of at least one letter")),
        1..=LONGEST => Ok(()),
        length => Err(format!(
            "{} cannot name {kind}: it has {length} bytes, so shorten it to {LONGEST}",
            quoted(name)
        )),
    }
}

/// The one of `known` that was probably meant: few letters differ, or only their case does.
pub(super) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // The distance is found in time that grows with both lengths.
    if name.len() > 4 * LONGEST {
        return None;
    }
    let far = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= 4 * LONGEST)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= far)
        .min()
        .map(|(_, candidate)| candidate)
}

/// What to say where a name is not known: the one probably meant, or those that there are.
pub(super) fn suggestion(name: &str, known: &[&str], there_are: &str) -> String {
    /// How many names are listed.
    const LISTED: usize = 12;
    if let Some(meant) = nearest(name, known.iter().copied()) {
        return format!("did you mean {}?", quoted(meant));
    }
    let mut listed: Vec<_> = known.iter().take(LISTED).map(|name| quoted(name)).collect();
    if known.len() > LISTED {
        listed.push(format!("{} more", known.len() - LISTED));
    }
    let last = listed.pop().unwrap_or_default();
    if !listed.is_empty() {
        format!("{there_are} {} and {last}", listed.join(", "))
    } else if there_are.ends_with(" are") {
        format!("the only one is {last}")
    } else {
        format!("{there_are} {last}")
    }
}

/// How many letters are put in, left out, changed or swapped with the next one.
fn distance(a: &str, b: &str) -> usize {
    let letters = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (a, b) = (letters(a), letters(b));
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_was_probably_meant_differs_in_few_letters() {
        let known = ["max_rows", "max_groups", "unit", "unit_column"];
        let cases = [
            ("max_row", Some("max_rows")),
            ("MAX_ROWS", Some("max_rows")),
            ("uint", Some("unit")),
            ("unitcolumn", Some("unit_column")),
            ("maxgroup", Some("max_groups")),
            ("fare", None),
            ("", None),
        ];
        for (name, meant) in cases {
            assert_eq!(nearest(name, known), meant, "{name}");
        }
    }

    #[test]
    fn words_of_sql_and_long_names_do_not_name_datasets() {
        for name in ["trips", "_t", "t2", "Trips_2024", "orders"] {
            assert_eq!(check_table(name), Ok(()));
        }
        for name in ["2024", "a-b", "a.b", "order", "SELECT", "é", "", &"t".repeat(65)] {
            assert!(check_table(name).is_err(), "{name}");
        }
        for name in ["ana", "ana.b", "a-1", "4"] {
            assert_eq!(check("an analyst", name), Ok(()));
        }
        for name in ["", "a/b", "..", "-a", "a b", "é", &"t".repeat(65)] {
            assert!(check("an analyst", name).is_err(), "{name}");
        }
    }
}
