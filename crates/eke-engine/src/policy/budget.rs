//! Budgets as a policy writes them: `budget = { epsilon = 2.0, delta = 1e-7 }`.
//!
//! Numbers are read as the decimals that were written, by the types that check them, so the same
//! text always gives the same budget.

use std::str::FromStr;

use eke_budget::budget::BudgetError;
use eke_budget::convert::Method;
use eke_budget::number::ParameterError;
use eke_budget::{Adjacency, Amount, BudgetSpec, Delta, Epsilon, Metric, Rho};

use super::PolicyError;
use super::error::quoted;
use super::name::suggestion;
use super::section::{Field, Section};

/// What a budget may say in its braces.
const INSIDE: [&str; 7] = ["epsilon", "rho", "delta", "pure", "zcdp_delta", "pure_delta", "method"];
/// What may stand beside a budget as well, in the table that has it.
pub(super) const BESIDE: [&str; 3] = ["pure", "zcdp_delta", "pure_delta"];
const EXAMPLE: &str = "budget = { epsilon = 2.0, delta = 1e-7 }";

/// The budget of a section; none if it has none. The parts of it that stand beside it count as
/// well.
pub(super) fn read(section: Section<'_>) -> Result<Option<BudgetSpec>, PolicyError> {
    let Some(field) = section.get("budget") else {
        return match BESIDE.into_iter().find_map(|name| section.get(name)) {
            None => Ok(None),
            Some(part) => Err(part.wrong(format!(
                "`{}` is a part of a budget, and there is none: add {EXAMPLE}",
                part.name()
            ))),
        };
    };
    let inside = field.section(&INSIDE, "a budget", EXAMPLE)?;
    let find = |name: &str| match (inside.get(name), section.get(name)) {
        (Some(_), Some(twice)) if BESIDE.contains(&name) => {
            Err(twice.wrong(format!("`{name}` stands in the budget and beside it: write it once")))
        }
        (within, beside) => Ok(within.or(beside.filter(|_| BESIDE.contains(&name)))),
    };

    let page = section.page();
    let target = match (find("epsilon")?, find("rho")?) {
        (None, None) => Err(field.wrong(BudgetError::Empty.to_string())),
        (Some(_), Some(_)) => Err(field.wrong(BudgetError::BothTargets.to_string())),
        (Some(epsilon), None) => parameter::<Epsilon>(epsilon).map(BudgetSpec::promising),
        (None, Some(rho)) => parameter::<Rho>(rho).map(BudgetSpec::zcdp),
    };
    // Mistakes in one part are reported beside those in the others.
    let target = page.keep(target);
    let delta = page.keep(optional(find("delta"), parameter::<Delta>));
    let pure = page.keep(optional(find("pure"), parameter::<Epsilon>));
    let zcdp_delta = page.keep(optional(find("zcdp_delta"), parameter::<Delta>));
    let pure_delta = page.keep(optional(find("pure_delta"), parameter::<Delta>));
    let method = page.keep(optional(find("method"), read_method));
    let (Some(mut spec), Some(delta), Some(pure)) = (target, delta, pure) else {
        return Err(page.told_elsewhere());
    };
    let (Some(zcdp_delta), Some(pure_delta), Some(method)) = (zcdp_delta, pure_delta, method)
    else {
        return Err(page.told_elsewhere());
    };
    spec = delta.map_or(spec, |delta| spec.with_delta(delta));
    spec = pure.map_or(spec, |pure| spec.with_pure(pure));
    spec = zcdp_delta.map_or(spec, |delta| spec.with_zcdp_delta(delta));
    spec = pure_delta.map_or(spec, |delta| spec.with_pure_delta(delta));
    spec = method.map_or(spec, |method| spec.with_method(method));
    // Neighbours that replace a unit have the same budgets; only prices differ.
    spec.resolve(Metric::Hamming(Adjacency::AddRemove))
        .map_err(|error| field.wrong(error.to_string()))?;
    Ok(Some(spec))
}

/// What a field says, if it is there.
fn optional<'p, T>(
    field: Result<Option<Field<'p>>, PolicyError>,
    read: impl FnOnce(Field<'p>) -> Result<T, PolicyError>,
) -> Result<Option<T>, PolicyError> {
    field?.map(read).transpose()
}

/// `finest = { rho = 1e-4 }`.
pub(super) fn read_finest(field: Field<'_>) -> Result<Amount<Rho>, PolicyError> {
    let example = "finest = { rho = 1e-4 }";
    let rho = field
        .section(&["rho"], "`finest`", example)?
        .require("rho", &format!("`finest` is empty: write {example}"))?;
    let finest = Amount::at_most(parameter::<Rho>(rho)?);
    if finest.is_zero() {
        return Err(rho.wrong(BudgetError::RoundsToNothing(Rho::NAME).to_string()));
    }
    Ok(finest)
}

fn parameter<P: FromStr<Err = ParameterError>>(field: Field<'_>) -> Result<P, PolicyError> {
    field.decimal("0.5")?.parse().map_err(|error: ParameterError| {
        if error.name() == field.name() {
            field.wrong(error.to_string())
        } else {
            field.wrong(format!("in `{}`, {error}", field.name()))
        }
    })
}

fn read_method(field: Field<'_>) -> Result<Method, PolicyError> {
    let text = field.text("\"tight\"")?;
    Method::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
        let instead = suggestion(text, &Method::ALL.map(Method::name), "the methods are");
        field.wrong(format!("{} is no method: {instead}", quoted(text)))
    })
}
