//! Errors as the command line tells them: what to do, in flags.
//!
//! The engine's sentences name no flags, as a server and Python have none. This file renders the
//! cases that flags help with. Each match below is exhaustive, so a case that is added is decided
//! about.

use eke_engine::error::{Limit, NotAllowed, WayToPay, WrongGoal};
use eke_engine::geo::{PlaceColumn, PlacesError, WrongAsking};
use eke_engine::policy::PolicyError;
use eke_engine::{EngineError, ErrorKind, Refused};

use crate::Failure;

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::of(error.kind(), engine(&error))
    }
}

impl From<PlacesError> for Failure {
    fn from(error: PlacesError) -> Self {
        Self::of(error.kind(), places(&error))
    }
}

impl Failure {
    /// A failure of a kind, with its sentence.
    fn of(kind: ErrorKind, sentence: String) -> Self {
        match kind.exit_code() {
            2 => Self::Usage(sentence),
            3 => Self::Refused(sentence),
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
    let price = refused.price_told().map(|price| format!("--price rho={price}"));
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
        WrongGoal::Error { .. }
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
        | NotAllowed::RunBeyondTier { .. }
        | NotAllowed::PicksBeyondTier { .. } => error.to_string(),
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

fn places(error: &PlacesError) -> String {
    match error {
        PlacesError::NoColumn { what, .. } => format!("{error} with {}", column(*what)),
        PlacesError::Asked(error) => asked(error),
        error => error.to_string(),
    }
}

fn column(what: PlaceColumn) -> &'static str {
    match what {
        PlaceColumn::Longitude => "--longitude",
        PlaceColumn::Latitude => "--latitude",
        PlaceColumn::Id => "--id",
        PlaceColumn::Time => "--time",
        PlaceColumn::Number => "--column",
    }
}

fn asked(error: &WrongAsking) -> String {
    match error {
        WrongAsking::NoAccount { account, address } => format!(
            "there is no account `{account}` in {address}: open it with --budget, such as --budget \
             rho=1e-4 (per square metre) or --budget epsilon=0.01 (per metre)"
        ),
        WrongAsking::OpenedWith { account, metric, least } => format!(
            "account `{account}` was opened with --metric {metric} and --least {}, which are for \
             good: leave them out, or open an account of another name",
            least.get()
        ),
        WrongAsking::OtherAccount => {
            "the ledger holds something else under this account: give --account another name"
                .to_owned()
        }
        WrongAsking::Changed { file } => format!(
            "`{file}` has changed since it was first asked about: add --changed to ask about it as \
             it is now, which is charged anew"
        ),
        WrongAsking::OtherPlaces { .. } => format!("{error} with --snapshot"),
        WrongAsking::NoPeople { path } => format!(
            "there are no accounts in {}: make them with --region longitude,latitude,radius and \
             --budget",
            path.display()
        ),
        WrongAsking::MadeFor { path, region, least, reach } => format!(
            "the accounts in {} were made with --region {},{} --least {} --reach {}, which are for \
             good: leave them out, or make other accounts",
            path.display(),
            region.centre(),
            region.radius().get(),
            least.get(),
            reach.get()
        ),
        WrongAsking::NotEnrolled { people, file } => format!(
            "{people} people of `{file}` have no account yet: give them one with --budget, which \
             is for good"
        ),
        WrongAsking::NoBudget { ledger } => format!(
            "there is no budget in {} yet: give these rows one with --budget, which is for good",
            ledger.display()
        ),
        WrongAsking::GeoJsonTimes
        | WrongAsking::OtherFile { .. }
        | WrongAsking::Nobody { .. }
        | WrongAsking::Neighbours { .. }
        | WrongAsking::SmallBudget { .. }
        | WrongAsking::Share { .. }
        | WrongAsking::Undrawable(_)
        | WrongAsking::DrawnTwice
        | WrongAsking::NoLook { .. }
        | WrongAsking::Person(_)
        | WrongAsking::Crowd(_)
        | WrongAsking::Plan(_)
        | WrongAsking::Shape(_)
        | WrongAsking::Place(_)
        | WrongAsking::Lattice(_) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(failure: Failure) -> (u8, String) {
        match failure {
            Failure::Usage(sentence) => (2, sentence),
            Failure::Failed(error) => (1, error.to_string()),
            Failure::Interrupted(sentence) => (130, sentence),
            Failure::Refused(sentence) => (3, sentence),
        }
    }

    #[test]
    fn what_to_do_is_told_in_flags() {
        let column =
            |what| PlacesError::NoColumn { file: "taxis.csv".into(), what, tried: "`who`".into() };
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
            (column(PlaceColumn::Longitude).into(), 1, "say which one it is with --longitude"),
            (column(PlaceColumn::Id).into(), 1, "say which one it is with --id"),
            (
                PlacesError::from(WrongAsking::OtherPlaces { name: "taxis.csv".into() }).into(),
                2,
                "give them another name with --snapshot",
            ),
            (PlacesError::from(WrongAsking::OtherAccount).into(), 2, "give --account another name"),
            (PlacesError::Spent.into(), 3, "nothing was charged"),
            (EngineError::Stopped.into(), 130, "goes on from there"),
        ];
        for (failure, code, end) in table {
            let (found, sentence) = told(failure);
            assert!(found == code && sentence.ends_with(end), "{found}: {sentence}");
        }
    }
}
