//! Errors as the command line tells them: what to do, in flags.
//!
//! The engine's sentences name no flags, as a server and Python have none. This file renders the
//! cases that flags help with. Each match below is exhaustive, so a case that is added is decided
//! about.

use eke_engine::error::{Limit, NotAllowed, WayToPay, WrongGoal};
use eke_engine::policy::PolicyError;
use eke_engine::{EngineError, ErrorKind, Refused};

use crate::Failure;

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::of(error.kind(), engine(&error))
    }
}

impl Failure {
    /// A failure of a kind, with its sentence.
    pub(crate) fn of(kind: ErrorKind, sentence: String) -> Self {
        match kind.exit_code() {
            2 => Self::Usage(sentence),
            3 => Self::Refused(sentence),
            4 => Self::Declined(sentence),
            130 => Self::Interrupted(sentence),
            _ => Self::Failed(sentence.into()),
        }
    }
}

fn engine(error: &EngineError) -> String {
    match error {
        EngineError::Refused(error) => refused(error),
        EngineError::Goal(error) => goal(error),
        EngineError::Beyond(error) => not_allowed(error),
        EngineError::Policy(PolicyError::Missing { .. }) => format!("{error} with --policy"),
        error => error.to_string(),
    }
}

/// A refusal, with what would fit as it is written here.
fn refused(refused: &Refused) -> String {
    let error = refused.error.map(|error| format!("--within {error}"));
    let price = refused.price.map(|price| format!("--price rho={price}"));
    let at_most = refused.at_most.map(|most| format!("--at-most rho={most}"));
    let advice = match (refused.limit, refused.fits) {
        (Limit::Tenth, Some(_)) => ": set a highest price with --at-most".to_owned(),
        _ => refused.advice(error.or(price), at_most),
    };
    format!("{}; {}{advice}", refused.reason(), refused.stays_paid())
}

fn goal(error: &WrongGoal) -> String {
    match error {
        WrongGoal::NoDistance => format!("{error} with --error"),
        WrongGoal::Range { .. } => {
            "a range goes from a smaller to a larger number, such as --range 0 10000".to_owned()
        }
        WrongGoal::NowhereNear => "no answer can come near the line: put it where answers are, or \
                                   give a --range that it is in"
            .to_owned(),
        WrongGoal::ColumnWithout { column } => {
            format!("`{column}` has no error to stay within: write --within 5%,{column}=10")
        }
        WrongGoal::PriceAndColumns
        | WrongGoal::NoSuchColumn { .. }
        | WrongGoal::ColumnTwice { .. }
        | WrongGoal::Error { .. }
        | WrongGoal::Search(_)
        | WrongGoal::Line { .. }
        | WrongGoal::Distance { .. }
        | WrongGoal::Confidence { .. }
        | WrongGoal::Parameter(_)
        | WrongGoal::Law(_)
        | WrongGoal::Ranking(_) => error.to_string(),
    }
}

fn not_allowed(error: &NotAllowed) -> String {
    match error {
        NotAllowed::NoRhoForRuns { account } => format!(
            "`{account}` has a pure budget alone, and runs that are paid for before they start are \
             paid in rho: leave out --charge ex-ante"
        ),
        NotAllowed::NoPure { account, ways } => {
            let ways: Vec<String> = ways.iter().map(way_to_pay).collect();
            format!(
                "`{account}` has no pure budget, which pays for what a watch comes to: {}",
                ways.join(", or ")
            )
        }
        NotAllowed::NoRho { .. }
        | NotAllowed::ProfileUnpublished { .. }
        | NotAllowed::NoProfile { .. }
        | NotAllowed::ProfileBeyondTier { .. }
        | NotAllowed::RunBeyondTier { .. }
        | NotAllowed::PicksBeyondTier { .. }
        | NotAllowed::FamilyBeyondTier { .. } => error.to_string(),
    }
}

fn way_to_pay(way: &WayToPay) -> String {
    match way {
        WayToPay::PureBudgetWithin { policy, pure, distance } => format!(
            "write pure = {pure} beside its budget in {}, and ask with --error {distance} for what \
             that pays",
            policy.display()
        ),
        WayToPay::BeforeEachRun { distance: None } => {
            "pay for each run before it starts with --charge ex-ante".to_owned()
        }
        WayToPay::BeforeEachRun { distance: Some(distance) } => {
            format!("pay for each run before it starts with --charge ex-ante --error {distance}")
        }
        WayToPay::AskSteward | WayToPay::PureBudget { .. } | WayToPay::FewerSteps => {
            way.to_string()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Each failure ends the program with its code, and its sentence with these words.
    pub(crate) fn told(table: Vec<(Failure, u8, &str)>) {
        for (failure, code, end) in table {
            let (found, sentence) = failure.told();
            assert!(found == code && sentence.ends_with(end), "{found}: {sentence}");
        }
    }

    #[test]
    fn what_to_do_is_told_in_flags() {
        let ways = vec![
            WayToPay::PureBudgetWithin { policy: "eke.toml".into(), pure: 0.5, distance: 90.0 },
            WayToPay::BeforeEachRun { distance: Some(120.0) },
        ];
        let account = || "rider".to_owned();
        let policy = PolicyError::Missing { path: "eke.toml".into() };
        let table: Vec<(Failure, u8, &str)> = vec![
            (EngineError::from(WrongGoal::NoDistance).into(), 2, "rightly with --error"),
            (
                EngineError::from(WrongGoal::Range { from: 2.0, to: 1.0 }).into(),
                2,
                "such as --range 0 10000",
            ),
            (EngineError::from(WrongGoal::NowhereNear).into(), 2, "give a --range that it is in"),
            (
                EngineError::from(NotAllowed::NoRhoForRuns { account: account() }).into(),
                3,
                "leave out --charge ex-ante",
            ),
            (
                EngineError::from(NotAllowed::NoPure { account: account(), ways }).into(),
                3,
                "ask with --error 90 for what that pays, or pay for each run before it starts with \
                 --charge ex-ante --error 120",
            ),
            (EngineError::from(policy).into(), 1, "or say where it is with --policy"),
            (EngineError::Declined.into(), 4, "not asked: nothing was charged"),
            (EngineError::Stopped.into(), 130, "and a highest price counts anew"),
        ];
        told(table);
    }
}
