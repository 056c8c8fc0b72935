//! What eke proposes to a steward, going by names alone. It decides nothing.

use eke_sql::Type;

use crate::policy::name;

/// The columns that could say which unit a row belongs to, going by their names; the likeliest
/// first.
#[must_use]
pub fn suggest_unit_columns(columns: &[(String, Option<Type>)]) -> Vec<&str> {
    const PEOPLE: &str = "\
        user rider patient person device customer client member employee student driver account \
        household subscriber visitor citizen";
    let rank = |name: &str| {
        let name = name.to_lowercase();
        let stem = stem(&name);
        let is = |person| stem.strip_prefix(person).is_some_and(|rest| matches!(rest, "" | "s"));
        let is_person = PEOPLE.split_whitespace().any(is);
        match (is_person, stem == name) {
            (true, false) => Some(0),
            (true, true) => Some(1),
            (false, false) => Some(2),
            (false, true) => (name == "id" || name == "uid" || name == "uuid").then_some(3),
        }
    };
    let fits = |kind: &Option<Type>| matches!(kind, None | Some(Type::Int | Type::Text));
    let mut found: Vec<_> = columns
        .iter()
        .filter(|(_, kind)| fits(kind))
        .filter_map(|(name, _)| Some((rank(name)?, name.as_str())))
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, name)| name).collect()
}

/// What a column looks like that hardly names people, going by its name and type.
pub(in crate::policy) fn looks_like_measurement(
    name: &str,
    kind: Option<Type>,
) -> Option<&'static str> {
    const AMOUNTS: &str = "\
        fare fares amount amounts price prices cost costs tip tips total totals sum income salary \
        wage payment balance age ages weight height length distance duration speed temperature \
        score rating rank count quantity number lat lon lng metres meters km \
        miles percent share rate value";
    const TIMES: &str = "\
        date dates day days time times timestamp datetime month week year hour minute started \
        ended start end created updated birthday birthdate dob";
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    // `price_id` names a price list, perhaps, and no price.
    let is_id = words.iter().any(|word| matches!(*word, "id" | "uid" | "uuid" | "key" | "no"));
    let among = |list: &str| !is_id && list.split_whitespace().any(|word| words.contains(&word));
    match kind {
        Some(Type::Float) => Some("a measurement"),
        Some(Type::Date | Type::Timestamp) => Some("a time"),
        Some(Type::Bool) => Some("a yes or no"),
        _ if among(AMOUNTS) => Some("a measurement"),
        _ if among(TIMES) => Some("a time"),
        _ => None,
    }
}

/// What questions could call a file: `data/Trips-2026.csv.gz` is `trips_2026`.
#[must_use]
pub fn suggest_name(source: &str) -> String {
    let file = source.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    let letters = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let mut suggested: String = letters.collect::<String>().to_ascii_lowercase();
    suggested = suggested.trim_matches('_').chars().take(48).collect();
    if suggested.is_empty() {
        return "data".to_owned();
    }
    if suggested.starts_with(|c: char| c.is_ascii_digit()) {
        suggested.insert_str(0, "data_");
    }
    if name::check_table(&suggested).is_err() {
        suggested.push_str("_data");
    }
    suggested
}

/// A column's name without what says that it is an identifier.
pub(in crate::policy) fn stem(name: &str) -> &str {
    ["_id", "-id", " id", "_uuid", "_key", "_no"]
        .into_iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name)
}
