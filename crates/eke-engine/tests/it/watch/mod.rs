//! Watching, from files to verdicts, as programs do it.

mod laws;
mod programs;
mod runs;

use eke_budget::L1;
use eke_engine::report::Owner;
use eke_engine::watch::{Charging, Closeness, NoiseLaw, Side, Steps, Verdict};
use eke_engine::{Engine, WatchQuestion, Watched, Who};
use eke_noise::Confidence;
use eke_select::{AboveThreshold, Change, Direction, LineNoise, LineSpec};

const POLICY: &str = r#"
[unit.rider]
adjacency = "ADJACENCY"
budget = { epsilon = 400.0, delta = 1e-5 }
pure = PURE

[dataset.rides]
source = "rides.csv"
unit = "rider"
unit_column = "rider"
max_groups = 1
max_rows = 1

[dataset.rides.columns]
day = { type = "int" }
fare = { type = "float", min = -10, max = 50 }

[tier.partner]
budget = { epsilon = 300.0, delta = 1e-6, pure = PARTNERS }

[analyst.ana]
[analyst.bob]
tier = "partner"
[analyst.eve]
tier = "partner"
[circle.partners]
analysts = ["bob", "eve"]
budget = { epsilon = 300.0, delta = 1e-6, pure = PARTNERS }
"#;

pub(super) const COUNT: &str = "SELECT COUNT(*) FROM rides WHERE day = $1";

pub(super) fn policy(pure: &str, partners: &str) -> String {
    POLICY.replace("ADJACENCY", "add-remove").replace("PURE", pure).replace("PARTNERS", partners)
}

/// A given number of riders on each day, of one ride each.
pub(super) fn rides(days: &[u32]) -> String {
    let mut text = String::from("rider,day,fare\n");
    let mut rider = 0;
    for (day, count) in days.iter().enumerate() {
        for _ in 0..*count {
            text.push_str(&format!("r{rider},{day},{}\n", rider % 40));
            rider += 1;
        }
    }
    text
}

pub(super) fn steps(days: std::ops::Range<u32>) -> Steps {
    Steps { names: vec!["day".into()], lines: days.map(|day| vec![day.to_string()]).collect() }
}

/// Above 50. Answers that are 40 off the line get the right verdict but for one in a million; those
/// of 0 and 100 get the wrong one once in 1e8.
pub(super) fn watch(who: &str, days: std::ops::Range<u32>) -> WatchQuestion {
    let who = if who == "steward" { Who::Steward } else { Who::Analyst(who.to_owned()) };
    WatchQuestion {
        sql: COUNT.to_owned(),
        steps: steps(days),
        line: 50.0,
        side: Side::Above,
        closeness: Closeness::Absolute(40.0),
        confidence: Confidence::new(0.999_999).unwrap(),
        noise: NoiseLaw::Gaussian,
        range: Some((0.0, 100.0)),
        charging: Charging::ExPost,
        who,
    }
}

pub(super) fn run(engine: &Engine, question: &WatchQuestion) -> (Vec<Verdict>, Watched) {
    let mut verdicts = Vec::new();
    let watched = engine.watch(question, &(), &mut |verdict| {
        verdicts.push(verdict.clone());
        true
    });
    (verdicts, watched.unwrap())
}

pub(super) fn hits(verdicts: &[Verdict]) -> Vec<bool> {
    verdicts.iter().map(|verdict| verdict.hit).collect()
}

/// What an account has spent and set aside in its pure purse.
pub(super) fn pure(engine: &Engine, of: &Owner) -> (f64, f64) {
    let all = engine.budget(&Who::Steward).unwrap();
    let [_, spent, reserved, _] =
        all.iter().find(|standing| standing.owner == *of).unwrap().pure.unwrap();
    (spent, reserved)
}

pub(super) fn rho(engine: &Engine, of: &Owner) -> f64 {
    let all = engine.budget(&Who::Steward).unwrap();
    all.iter().find(|standing| standing.owner == *of).unwrap().spent.rho
}

pub(super) fn analyst(name: &str) -> Owner {
    Owner::Analyst(name.to_owned())
}

pub(super) fn circle() -> Owner {
    Owner::Circle("partners".to_owned())
}

/// The prices of the law that a question has by its own account of it.
pub(super) fn prices(engine: &Engine, question: &WatchQuestion) -> AboveThreshold {
    let plan = engine.explain_watch(question).unwrap();
    let [line, query] = plan.widths;
    let noise = match plan.noise {
        NoiseLaw::Gaussian => LineNoise::Gaussian { line, query },
        NoiseLaw::Laplace => LineNoise::Laplace { line, query },
    };
    let spec = LineSpec {
        threshold: plan.line,
        range: (plan.range[0].unwrap_or(-1e9), plan.range[1].unwrap_or(1e9)),
        sensitivity: L1::new(plan.sensitivity).unwrap(),
        change: if plan.monotone { Change::Monotone } else { Change::General },
        direction: match plan.side {
            Side::Above => Direction::Above,
            Side::Below => Direction::Below,
        },
        noise,
    };
    AboveThreshold::new(spec).unwrap()
}

pub(super) fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1e-9)
}
