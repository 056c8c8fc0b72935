//! Laws in closed form or by summing, for mechanisms to be compared with.

/// Two-sided geometric noise: `P(k)` proportional to `exp(-rate |k|)`.
pub(crate) fn geometric(rate: f64) -> impl Fn(i64) -> f64 {
    let zero = (1.0 - (-rate).exp()) / (1.0 + (-rate).exp());
    move |k| zero * (-rate * double(k).abs()).exp()
}

/// What is between noise of two rates: nothing with some probability, and noise of the coarser rate
/// else.
pub(crate) fn residual(fine: f64, coarse: f64) -> impl Fn(i64) -> f64 {
    let part = (1.0 - (-coarse).exp()) / (1.0 - (-fine).exp());
    let weight = (coarse - fine).exp() * part * part;
    let law = geometric(coarse);
    move |k| (if k == 0 { weight } else { 0.0 }) + (1.0 - weight) * law(k)
}

/// The noise at three points of one geometric path, the finest first.
pub(crate) fn path_of_three([fine, middle, coarse]: [f64; 3]) -> impl Fn([i64; 3]) -> f64 {
    let (first, second, third) =
        (geometric(fine), residual(fine, middle), residual(middle, coarse));
    move |[f, m, c]| first(f) * second(m - f) * third(c - m)
}

/// Planar Laplace noise on a lattice: `P(z)` proportional to `exp(-rate |z|)`, summed as far as it
/// matters.
pub(crate) fn planar<const N: usize>(rate: f64) -> impl Fn([i64; N]) -> f64 {
    let weight = move |point: [i64; N]| {
        let square: f64 = point.iter().map(|&z| double(z).powi(2)).sum();
        (-rate * square.sqrt()).exp()
    };
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let reach = (40.0 / rate) as i64;
    let side = 2 * reach + 1;
    let points = (0..N).fold(1, |points, _| points * side);
    let total: f64 = (0..points)
        .map(|mut code| {
            weight([(); N].map(|()| {
                let coordinate = code % side - reach;
                code /= side;
                coordinate
            }))
        })
        .sum();
    move |point| weight(point) / total
}

/// A discrete Gaussian: `P(k)` proportional to `exp(-(k - centre)²/(2 variance))`.
pub(crate) fn gaussian(centre: f64, variance: f64) -> impl Fn(i64) -> f64 {
    let weight = move |k: i64| (-(double(k) - centre).powi(2) / (2.0 * variance)).exp();
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let reach = (variance.sqrt() * 12.0 + centre.abs() + 12.0) as i64;
    let total: f64 = (-reach..=reach).map(weight).sum();
    move |k| weight(k) / total
}

/// Skellam noise: the difference of two Poisson numbers of mean lambda, by the ratios of
/// neighbouring probabilities from far out inwards.
pub(crate) fn skellam(lambda: f64) -> impl Fn(i64) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let end = ((2.0 * lambda).sqrt() * 12.0) as usize + 60;
    let (mut ratio, mut weights) = (0.0, Vec::new());
    for j in (1..=4 * end).rev() {
        let j = j as f64;
        ratio = 1.0 / (j / lambda + ratio);
        weights.push(ratio);
    }
    weights.push(1.0);
    weights.reverse();
    for j in 1..weights.len() {
        weights[j] *= weights[j - 1];
    }
    let total: f64 = 2.0 * weights.iter().sum::<f64>() - 1.0;
    move |k| {
        let at = usize::try_from(k.unsigned_abs()).unwrap_or(usize::MAX);
        weights.get(at).map_or(0.0, |weight| weight / total)
    }
}

/// A number of a few thousand or million as a double, which it is exactly.
pub(crate) fn double(k: i64) -> f64 {
    k as f64
}
