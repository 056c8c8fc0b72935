//! Values made elsewhere at many digits, which code is held against.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::str::FromStr;

use serde::Deserialize;

/// A value with its name and what it was made from, as decimals.
#[derive(Clone, Debug, Deserialize)]
pub struct Golden {
    /// What it is.
    pub name: String,
    /// What it was made from, by name.
    pub inputs: BTreeMap<String, String>,
    /// The value as it is written.
    #[serde(rename = "value")]
    pub digits: String,
}

impl Golden {
    /// The values of a file of JSON.
    ///
    /// # Panics
    /// The file holds something else.
    #[must_use]
    pub fn read(json: &str) -> Vec<Self> {
        serde_json::from_str(json).expect("golden values")
    }

    /// One of the numbers that it was made from.
    ///
    /// # Panics
    /// There is none of this name, or it is of another type.
    #[must_use]
    pub fn input<T: FromStr<Err: Debug>>(&self, name: &str) -> T {
        self.inputs[name].parse().expect("a number")
    }

    /// The value, or if it is too small for a double, none.
    ///
    /// # Panics
    /// The file has no number there.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        Some(self.digits.parse().expect("a number")).filter(|&value: &f64| value != 0.0)
    }

    /// The natural logarithm of the value, also where a double would not hold it.
    ///
    /// # Panics
    /// The file has no number there.
    #[must_use]
    pub fn ln(&self) -> f64 {
        let (mantissa, exponent) = self.digits.split_once('e').unwrap_or((&self.digits, "0"));
        let number = |text: &str| text.parse::<f64>().expect("a number");
        number(mantissa).ln() + number(exponent) * 10f64.ln()
    }

    /// A computed loss is not below the truth, and at most one part in 10⁹ above it.
    ///
    /// # Panics
    /// It is below, or further above.
    pub fn assert_not_below(&self, computed: f64) {
        let (what, truth) = self.truth();
        assert!(computed >= truth, "{what}: {computed} < {truth}");
        let excess = (computed - truth) / truth.abs();
        assert!(excess <= 1e-9, "{what}: {computed} is {excess:e} above");
    }

    /// A computed budget is not above the truth, and at most one part in 10⁹ below it.
    ///
    /// # Panics
    /// It is above, or further below.
    pub fn assert_not_above(&self, computed: f64) {
        let (what, truth) = self.truth();
        assert!(computed <= truth, "{what}: {computed} > {truth}");
        let lack = (truth - computed) / truth.abs();
        assert!(lack <= 1e-9, "{what}: {computed} is {lack:e} below");
    }

    /// The logarithm of a computed loss is not below that of the truth but for rounding, and at
    /// most 1e-9 above it.
    ///
    /// # Panics
    /// It is below, or further above.
    pub fn assert_ln_not_below(&self, computed: f64) {
        let (Self { name, inputs, .. }, truth) = (self, self.ln());
        let slack = truth.abs() * 1e-15;
        assert!(computed >= truth - slack, "{name} {inputs:?}: {computed} < {truth}");
        assert!(computed <= truth + 1e-9 + slack, "{name} {inputs:?}: {computed} > {truth}");
    }

    /// What it is, in words, and its value.
    fn truth(&self) -> (String, f64) {
        let what = format!("{} {:?}", self.name, self.inputs);
        (what, self.value().expect("a value that a double holds"))
    }
}
