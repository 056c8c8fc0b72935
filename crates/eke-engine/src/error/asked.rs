//! What is wrong with what was asked for, each as a case with fields.
//!
//! All of it follows from the question, the policy and what the asker has left: never from rows.
//! The sentences name no flags; a surface that has flags matches on the cases, which is why these
//! enums may be matched exhaustively.

use std::path::PathBuf;

use eke_budget::number::ParameterError;
use eke_budget::{Amount, Rho};
use eke_noise::select::RankingError;
use eke_noise::stopping::GoalError;
use eke_select::SelectError;

use super::short;
use crate::ask::shown::additive::NotAdditive;

/// Why a goal cannot be followed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WrongGoal {
    /// An error that is no positive number, or too large.
    #[error("an error of {error} is out of range: write a positive number")]
    Error {
        /// What was asked for.
        error: f64,
    },
    /// One that quantiles are not searched to.
    #[error("{0}")]
    Search(#[from] GoalError),
    /// A line that no answer can be held against.
    #[error("the line at {line} is out of range: write one that an answer can come near")]
    Line {
        /// Where it was asked for.
        line: f64,
    },
    /// A part of a line at zero.
    #[error(
        "no distance is a part of a line at 0: say how far off it answers must be told rightly"
    )]
    NoDistance,
    /// A distance from the line that is no positive number.
    #[error("the distance from the line must be a positive number, such as 100")]
    Distance {
        /// What was asked for.
        distance: f64,
    },
    /// A confidence that is no better than a guess.
    #[error(
        "a verdict is right half of the time whatever it costs: ask for a confidence above 50%"
    )]
    Confidence {
        /// What was asked for.
        confidence: f64,
    },
    /// A range without anything in it.
    #[error("a range goes from a smaller to a larger number, such as 0 to 10000")]
    Range {
        /// Where it begins.
        from: f64,
        /// Where it ends.
        to: f64,
    },
    /// A line that is out of the range of the answers.
    #[error(
        "no answer can come near the line: put it where answers are, or give a range that it is in"
    )]
    NowhereNear,
    /// A goal for a column that the answer has not, or that is no value.
    #[error("no column of the answer with a value is called `{column}`: there is {}", known.join(", "))]
    NoSuchColumn {
        /// What it was called.
        column: String,
        /// The columns that have values.
        known: Vec<String>,
    },
    /// Two goals for one column.
    #[error("`{column}` has two goals: give it one")]
    ColumnTwice {
        /// The column.
        column: String,
    },
    /// A column without a goal, where no goal is for all.
    #[error("`{column}` has no goal: give it one, or one for all columns that are not named")]
    ColumnWithout {
        /// The column.
        column: String,
    },
    /// A price, beside goals of columns or as one.
    #[error("a price is for all columns together: give it alone, or give columns errors")]
    PriceAndColumns,
    /// A number that is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A law that cannot be priced.
    #[error(transparent)]
    Law(#[from] SelectError),
    /// A ranking that cannot be drawn.
    #[error(transparent)]
    Ranking(#[from] RankingError),
}

/// What the asker may not see, or cannot pay with.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotAllowed {
    /// SQL is paid in rho, and an account has none.
    #[error(
        "`{account}` has a pure budget alone, and SQL questions are paid in rho: give it a delta in {}",
        policy.display()
    )]
    NoRho {
        /// The account.
        account: String,
        /// The policy.
        policy: PathBuf,
    },
    /// Runs that are paid for before they start are paid in rho, and an account has none.
    #[error(
        "`{account}` has a pure budget alone, and runs that are paid for before they start are \
         paid in rho: pay for what each run comes to"
    )]
    NoRhoForRuns {
        /// The account.
        account: String,
    },
    /// A watch is paid in epsilon, and an account has none.
    #[error(
        "`{account}` has no pure budget, which pays for what a watch comes to: {}",
        either(ways)
    )]
    NoPure {
        /// The account.
        account: String,
        /// What would work instead. There is at least one.
        ways: Vec<WayToPay>,
    },
    /// A run tells more than a tier may see of any one path.
    #[error(
        "your tier may not see verdicts that are this sure, over {steps} steps: ask for a larger \
         distance from the line or for fewer steps, or ask the steward"
    )]
    RunBeyondTier {
        /// How many steps there are.
        steps: u64,
    },
    /// A pick costs more than a tier may see of any one path.
    #[error(
        "refused: picking the largest costs rho={} each, and your tier sees no path that far; \
         nothing was charged: ask for a price and not for an accuracy, or ask the steward",
        short(*each)
    )]
    PicksBeyondTier {
        /// What each pick costs.
        each: Amount<Rho>,
    },
    /// All that was seen of a question with other bounds, and this, is more than a tier may see.
    #[error(
        "refused: your tier sees a question up to rho={} in all, whatever its bounds, and with \
         other bounds you have seen most of that: ask with those bounds again, which is free, or \
         ask the steward",
        short(*finest)
    )]
    FamilyBeyondTier {
        /// How far the tier sees a question.
        finest: Amount<Rho>,
    },
    /// A profile is the steward's to buy, and the policy shows it to nobody else.
    #[error(
        "profiles are the steward's to buy, and that of `{dataset}` is not published: nothing was \
         charged; ask the steward"
    )]
    ProfileUnpublished {
        /// The dataset.
        dataset: String,
    },
    /// A profile is published, and nobody has bought it yet.
    #[error(
        "the steward has bought no such profile of `{dataset}` yet: nothing was charged; ask the \
         steward"
    )]
    NoProfile {
        /// The dataset.
        dataset: String,
    },
    /// A profile tells more than a tier may see of any one path.
    #[error(
        "a histogram of this profile costs rho={}, and your tier sees no path that far: nothing \
         was charged; ask the steward",
        short(*each)
    )]
    ProfileBeyondTier {
        /// What its dearest histogram costs.
        each: Amount<Rho>,
    },
}

/// Why there is no profile as it was asked for. Nothing was charged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotProfiled {
    /// A column that there is not, or that says whose a row is.
    #[error(
        "`{dataset}` has no column `{column}` that can be profiled: name others of its columns, and \
         not the one that says which unit a row belongs to"
    )]
    NoColumn {
        /// The column.
        column: String,
        /// The dataset.
        dataset: String,
    },
    /// A column whose values are no numbers.
    #[error("`{column}` holds no numbers, so it has no bounds: count its groups as a key instead")]
    NoNumber {
        /// The column.
        column: String,
    },
    /// A column that is named twice.
    #[error("`{column}` is named twice: name it once, every histogram is paid for")]
    Twice {
        /// The column.
        column: String,
    },
}

/// How a watch could be paid for that an account has no pure budget for.
#[derive(Clone, Debug, PartialEq)]
pub enum WayToPay {
    /// Not by the asker alone.
    AskSteward,
    /// By a pure part of the budget, which the policy does not give yet.
    PureBudget {
        /// The policy.
        policy: PathBuf,
        /// How much.
        pure: f64,
        /// How many steps of a run it pays for, all of them.
        steps: u64,
    },
    /// By a pure part of the budget, and with a larger distance from the line.
    PureBudgetWithin {
        /// The policy.
        policy: PathBuf,
        /// How much.
        pure: f64,
        /// A distance that it pays for.
        distance: f64,
    },
    /// Before each run starts, in rho.
    BeforeEachRun {
        /// A distance from the line that fits, if the one that was asked for does not.
        distance: Option<f64>,
    },
    /// With fewer steps.
    FewerSteps,
}

impl std::fmt::Display for WayToPay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AskSteward => f.write_str("ask the steward"),
            Self::PureBudget { policy, pure, steps } => write!(
                f,
                "write pure = {pure} beside its budget in {}, which pays for a run of {steps} steps",
                policy.display()
            ),
            Self::PureBudgetWithin { policy, pure, distance } => write!(
                f,
                "write pure = {pure} beside its budget in {}, and ask for a distance of {distance}, which that pays for",
                policy.display()
            ),
            Self::BeforeEachRun { distance: None } => {
                f.write_str("pay for each run before it starts")
            }
            Self::BeforeEachRun { distance: Some(distance) } => {
                write!(f, "pay for each run before it starts, and ask for a distance of {distance}")
            }
            Self::FewerSteps => f.write_str("ask for fewer steps"),
        }
    }
}

fn either(ways: &[WayToPay]) -> String {
    let ways: Vec<String> = ways.iter().map(ToString::to_string).collect();
    ways.join(", or ")
}

/// Why a question cannot be answered in the way that it is asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnswered {
    /// It is about rows that need no budget.
    #[error("`{dataset}` is public: read it directly")]
    Public {
        /// The dataset.
        dataset: String,
    },
    /// It brings rows of different units together.
    #[error("`{one}` and `{other}` are not about the same unit: ask about one of them")]
    OtherUnits {
        /// A dataset.
        one: String,
        /// Another one.
        other: String,
    },
    /// It brings rows together whose units are written in different ways.
    #[error(
        "the ids of units in `{one}` and `{other}` are of different types, and none would be equal: \
         ask the steward to write them to the files as the same type"
    )]
    OtherIds {
        /// A dataset.
        one: String,
        /// Another one.
        other: String,
    },
    /// It joins a row with very many rows of public tables.
    #[error(
        "a row would become up to {rows} rows in joins with public tables, up to `{table}`: at most \
         {most} are allowed{}, since the time that it takes would tell who has such a row; join on \
         a key that fewer rows of the public table have",
        if *passes == 0 { "" } else { " in a question that does as much with texts" }
    )]
    FanOut {
        /// The public table.
        table: String,
        /// How many rows one may become.
        rows: usize,
        /// How many are allowed.
        most: usize,
        /// How often texts are gone through for each.
        passes: usize,
    },
    /// A watch of groups.
    #[error("a watch has one answer a step: leave GROUP BY out, and give its values as parameters")]
    WatchOfGroups,
    /// A watch of some rows of an answer.
    #[error("a watch has one answer a step: leave HAVING, ORDER BY, LIMIT and OFFSET out")]
    WatchOfSomeRows,
    /// A watch of an average.
    #[error(
        "an AVG is two sums, and only one can be held against a line: watch the SUM or the COUNT"
    )]
    WatchOfAverage,
    /// It asks for quantiles of a dataset whose policy does not try them.
    #[error(
        "quantiles are on trial, and are answered where the steward writes `try_quantiles = true` \
         into `[dataset.{dataset}]` of the policy"
    )]
    QuantilesUntried {
        /// The dataset.
        dataset: String,
    },
    /// It asks for quantiles alone of rows that must be about enough units.
    #[error(
        "rows that are about too few units are left out (min_units), which is decided by a count \
         beside the quantiles: select a COUNT too"
    )]
    QuantilesOfFew,
    /// A watch of several numbers.
    #[error("a watch has one answer a step: select one COUNT or SUM")]
    WatchOfSeveral,
    /// It was to be made to add up.
    #[error("the answer cannot be made to add up: {0}")]
    NotAdditive(#[from] NotAdditive),
}

/// Why keys that are not public cannot be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoKeys {
    /// The budget has no delta.
    #[error(
        "the keys of this question are not public, and selecting them needs a budget with a delta: \
         list them in the policy as `values`, or group by something else"
    )]
    NoDelta,
    /// They cost more than a tier may see of any one path.
    #[error(
        "the keys of this question are not public, and your tier may not see keys selected at the \
         price that it takes: ask for public keys, or ask the steward"
    )]
    BeyondTier,
    /// They have a price that is not in rho.
    #[error("a selection has a price in rho")]
    NotInRho,
}
