//! Questions without a price are refused with a sentence.

use eke_budget::{Epsilon, L1};
use eke_select::{
    AboveThreshold, Change, Direction, Exponential, LineNoise, LineSpec, MaxNoise, NoisyMax,
    NoisyMaxSpec, RenyiLine,
};

#[test]
fn what_has_no_price_is_refused_with_a_sentence() {
    let one = L1::new(1.0).unwrap();
    let spec = LineSpec {
        threshold: 5.0,
        range: (0.0, 10.0),
        sensitivity: one,
        change: Change::General,
        direction: Direction::Above,
        noise: LineNoise::Gaussian { line: 1.0, query: 2.0 },
    };
    let line = |spec| AboveThreshold::new(spec).unwrap_err().to_string();
    let range = |low, high| line(LineSpec { range: (low, high), ..spec });
    assert_eq!(range(3.0, 1.0), "the range 3 to 1 is empty: write its smaller end first");
    assert_eq!(range(2.0, 2.0), "the range 2 to 2 is empty: write its smaller end first");
    let not_finite = "the range is not a finite number: write a number such as 0 to 1000";
    assert_eq!(range(0.0, f64::INFINITY), not_finite);
    assert_eq!(range(f64::NAN, 1.0), not_finite);
    let threshold = line(LineSpec { threshold: f64::NAN, ..spec });
    assert_eq!(threshold, "the threshold is not a finite number: write a number such as 500");
    let noise = |line_noise, query| {
        line(LineSpec { noise: LineNoise::Gaussian { line: line_noise, query }, ..spec })
    };
    assert_eq!(
        noise(0.0, 1.0),
        "the deviation of the line 0 is not a positive number: write one such as 10"
    );
    assert_eq!(
        noise(1.0, -2.0),
        "the deviation of the answers -2 is not a positive number: write one such as 17.3"
    );
    assert_eq!(
        noise(1000.0, 1.0),
        "the noise of the line is more than 100 times that of the answers: give the answers more"
    );
    let epsilon = Epsilon::new(1.0).unwrap();
    let steps = AboveThreshold::calibrate(spec, 1.7, 0, false, epsilon).unwrap_err().to_string();
    assert_eq!(steps, "0 steps cannot be priced: write a number from 1 to 1000000000000");
    // Nothing is ever above a line that is far above the range.
    let far = LineSpec { threshold: 100.0, ..spec };
    let free = AboveThreshold::calibrate(far, 1.7, 5, true, epsilon).unwrap_err().to_string();
    assert_eq!(
        free,
        "however little noise there is, it costs less than 1 here: write a smaller epsilon"
    );

    let max = |candidates, noise| {
        let (range, change) = ((0.0, 1.0), Change::General);
        NoisyMax::new(NoisyMaxSpec { candidates, range, sensitivity: one, change, noise })
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        max(0, MaxNoise::Gaussian(1.0)),
        "there are no candidates to choose from: give at least one"
    );
    assert_eq!(
        max(3, MaxNoise::Laplace(f64::NAN)),
        "the scale is not a finite number: write a number such as 10"
    );
    let rate = Exponential::new(-1.0, one, Change::General).unwrap_err().to_string();
    assert_eq!(rate, "the rate -1 is not a positive number: write one such as 0.5");
    assert!(RenyiLine::new(-1.0, one, 1.0, 2.0).is_err());
    assert!(RenyiLine::new(1.0, one, 1.0, 1.5).is_err());
}
