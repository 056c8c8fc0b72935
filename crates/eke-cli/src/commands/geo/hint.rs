//! Errors about places as the command line tells them, in flags. The matches are exhaustive.

use eke_engine::geo::{PlaceColumn, PlacesError, WrongAsking};

use crate::Failure;

impl From<PlacesError> for Failure {
    fn from(error: PlacesError) -> Self {
        Self::of(error.kind(), places(&error))
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
    use crate::show::hint::tests::told;

    #[test]
    fn what_to_do_about_places_is_told_in_flags() {
        let column =
            |what| PlacesError::NoColumn { file: "taxis.csv".into(), what, tried: "`who`".into() };
        told(vec![
            (column(PlaceColumn::Longitude).into(), 1, "say which one it is with --longitude"),
            (column(PlaceColumn::Id).into(), 1, "say which one it is with --id"),
            (
                PlacesError::from(WrongAsking::OtherPlaces { name: "taxis.csv".into() }).into(),
                2,
                "give them another name with --snapshot",
            ),
            (PlacesError::from(WrongAsking::OtherAccount).into(), 2, "give --account another name"),
            (PlacesError::Spent.into(), 3, "nothing was charged"),
        ]);
    }
}
