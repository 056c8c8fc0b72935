//! The day with the largest count, released privately (report noisy max): how close the released
//! day comes, by the noise that is added to counts.
//!
//! The experiment of Lebensold, Precup and Balle on report noisy max (appendix B.3). *Accuracy* is
//! one less what the chosen day lacks of the largest, as a share of the largest. Every mechanism is
//! calibrated to the same epsilon and drawn exactly through eke's own choices; the paper's baseline
//! takes the maximum for what follows from Gaussian noise on all days, with a delta of one over the
//! people.

use std::error::Error;

use eke_budget::convert::{Curve, GaussianCurve};
use eke_budget::{Delta, Epsilon, L1};
use eke_noise::evidence::Scores;
use eke_noise::{Exact, choose};
use eke_plot::plot::{Lines, Plot, Scale};
use eke_select::{Change, Choice, MaxNoise, NoisyMax, NoisyMaxSpec};
use eke_testkit::Seeded;

use crate::experiments::threshold_search::Stream;
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Size, Trials};
use crate::frame::report::Report;
use crate::frame::summary::Summary;
use crate::frame::table::Table;
use crate::{account, paid};

/// The day with the largest count.
pub(crate) const NOISY_MAX: Experiment = Experiment {
    name: "noisy-max",
    paper: Paper::Selection,
    figure: "figures 9 to 16",
    about: "The day with the largest count: accuracy at an epsilon, by the noise and by how it is accounted for.",
    data: &["bike_day.csv.gz", "lcl_daily_aggregate.csv.gz"],
    time: "10 s",
    trials: Trials { full: 1000, quick: 100, smoke: 5 },
    run: reported,
};

/// How a day is chosen, and how that is accounted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Normal noise, at its pure price for any change.
    Gaussian,
    /// Normal noise on all days, of which the maximum is part, with a delta of one over the people.
    Release,
    /// Normal noise, at its pure price for counts that one person moves one way.
    GaussianMonotone,
    /// Laplace noise, for any change.
    Laplace,
    /// The exponential mechanism, for any change.
    Exponential,
    /// Permute and flip, for any change.
    Flip,
    /// Permute and flip, for counts that one person moves one way.
    FlipMonotone,
}

impl Way {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Release,
        Self::FlipMonotone,
        Self::GaussianMonotone,
        Self::Gaussian,
        Self::Laplace,
        Self::Exponential,
        Self::Flip,
    ];

    /// As it is written in tables.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Gaussian => "Gaussian, pure price (paper)",
            Self::Release => "Gaussian on all days, delta 1/people (its baseline)",
            Self::GaussianMonotone => "Gaussian, pure price, one-way (eke)",
            Self::Laplace => "Laplace noise",
            Self::Exponential => "exponential mechanism",
            Self::Flip => "permute and flip",
            Self::FlipMonotone => "permute and flip, one-way (eke)",
        }
    }

    /// What is drawn to keep epsilon, for days of a stream.
    ///
    /// # Errors
    /// Nothing keeps it.
    pub(crate) fn choice(
        self,
        stream: &Stream,
        epsilon: Epsilon,
    ) -> Result<Choice, Box<dyn Error>> {
        let (sensitivity, each) = (stream.sensitivity()?, f64::from(stream.each));
        let candidates = u64::try_from(stream.answers.len())?;
        let spec = |change: Change, noise: MaxNoise| NoisyMaxSpec {
            candidates,
            range: (0.0, f64::from(stream.people) * each),
            sensitivity,
            change,
            noise,
        };
        let any = MaxNoise::Gaussian(1.0);
        // The rate at which a choice costs epsilon, if two scores move apart by as much as one, or
        // by twice that.
        let rate = epsilon.get() / each * (1.0 - 1e-12);
        Ok(match self {
            Self::Gaussian => {
                Choice::noisy_max(&NoisyMax::calibrate(spec(Change::General, any), epsilon)?)?
            }
            Self::GaussianMonotone => {
                Choice::noisy_max(&NoisyMax::calibrate(spec(Change::Monotone, any), epsilon)?)?
            }
            Self::Release => {
                let rho =
                    GaussianCurve.rho(epsilon, Delta::new(1.0 / f64::from(stream.people))?)?;
                let days = stream.answers.len() as f64;
                let deviation = each * (days / 2.0 / rho.get()).sqrt();
                let noise = MaxNoise::Gaussian(deviation);
                Choice::noisy_max(&NoisyMax::new(spec(Change::General, noise))?)?
            }
            Self::Laplace => {
                let noise = MaxNoise::Laplace(2.0 / rate);
                Choice::noisy_max(&NoisyMax::new(spec(Change::General, noise))?)?
            }
            Self::Exponential => Choice::exponential(rate / 2.0, sensitivity, Change::General)?,
            Self::Flip => Choice::permute_and_flip(rate / 2.0, sensitivity, Change::General)?,
            Self::FlipMonotone => Choice::permute_and_flip(rate, sensitivity, Change::Monotone)?,
        })
    }
}

/// The accuracy of one choice.
fn accuracy(
    stream: &Stream,
    choice: &Choice,
    sensitivity: L1,
    seeded: &mut Seeded,
) -> Result<f64, Box<dyn Error>> {
    let receipt = paid(&mut account(), choice.clone())?;
    let scores = Exact::new(Scores(stream.answers.clone()), sensitivity);
    let chosen = choose(&scores, receipt, seeded)?.get().ok_or("no day was chosen")?;
    let best = stream.answers.iter().max().ok_or("there are no days")?;
    let lacking = (best - stream.answers[chosen]) as f64 / *best as f64;
    Ok(1.0 - lacking)
}

fn reported(context: &Context) -> Result<Report, Box<dyn Error>> {
    let (bikes, london) = (Stream::bikes(context.data())?, Stream::london(context.data())?);
    let first = |stream: &Stream, days: usize| {
        let days = stream.answers.iter().copied().take(days).collect();
        Stream { answers: days, ..stream.clone() }
    };
    let streams = match context.size() {
        Size::Full => vec![first(&bikes, 90), first(&bikes, 365), first(&london, 365), london],
        Size::Quick => vec![first(&bikes, 365), first(&london, 365)],
        Size::Smoke => vec![first(&bikes, 30)],
    };
    let epsilons: &[f64] = context.pick(
        &[0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
        &[0.005, 0.02, 0.1, 0.5],
        &[0.1, 1.0],
    );
    let mut table = Table::new(
        "how close the chosen day comes",
        ["stream", "days", "way", "epsilon"],
        ["accuracy"],
    )
    .across("epsilon");
    let mut panels = Vec::new();
    for stream in &streams {
        let (name, days) = (stream.name, stream.answers.len());
        let mut lines = Vec::new();
        for way in Way::ALL {
            let mut line = Vec::new();
            for &epsilon in epsilons {
                let choice = way.choice(stream, Epsilon::new(epsilon)?)?;
                let point = format!("{name} {days} {} {epsilon}", way.label());
                let sensitivity = stream.sensitivity()?;
                let found = context.each_trial(&point, context.trials(), |_, seeded| {
                    accuracy(stream, &choice, sensitivity, seeded)
                })?;
                let found = Summary::of(found);
                line.push((epsilon, found.mean));
                let keys = [name.into(), days.into(), way.label().into(), epsilon.into()];
                table.row(keys, [found.into()]);
            }
            lines.push(line);
        }
        panels.push(Lines { title: format!("{name}, {days} days"), lines });
    }
    let plot = Plot {
        title: format!("the day with the largest count; means of {} choices", context.trials()),
        across: "epsilon".to_owned(),
        upwards: "accuracy".to_owned(),
        scales: (Scale::Logarithmic, Scale::Linear),
        columns: 2,
        lines: Way::ALL.iter().map(|way| way.label().to_owned()).collect(),
        panels,
    };
    Ok(Report::new(plot.title.clone()).with_table(table).with_plot(&plot))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::data::Data;
    use eke_budget::{Charge, Purchase};

    #[test]
    fn every_choice_costs_its_epsilon_and_nearly_all_of_it() {
        let stream = Stream::bikes(&Data::made_up(1)).unwrap();
        for way in Way::ALL {
            for epsilon in [0.05, 1.0] {
                let choice = way.choice(&stream, Epsilon::new(epsilon).unwrap()).unwrap();
                let Charge::Pure { epsilon: charged, .. } = choice.charge() else {
                    panic!("{way:?} has no pure price")
                };
                // The baseline is charged otherwise.
                if way != Way::Release {
                    let share = charged.to_f64() / epsilon;
                    assert!((0.999..=1.0).contains(&share), "{way:?} {epsilon} {share}");
                }
            }
        }
    }

    #[test]
    fn much_budget_finds_the_best_day_and_none_finds_any() {
        let stream = Stream::bikes(&Data::made_up(1)).unwrap();
        let mean = |epsilon: f64| {
            let choice = Way::Flip.choice(&stream, Epsilon::new(epsilon).unwrap()).unwrap();
            let sensitivity = stream.sensitivity().unwrap();
            let mut seeded = Seeded::new(3);
            let mut one = || accuracy(&stream, &choice, sensitivity, &mut seeded).unwrap();
            (0..200).map(|_| one()).sum::<f64>() / 200.0
        };
        assert!(mean(20.0) > 0.999);
        // Days are spread evenly here.
        assert!((mean(1e-6) - 0.5).abs() < 0.1);
    }
}
