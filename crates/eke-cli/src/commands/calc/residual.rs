//! Whether one law of noise can be made of another: `eke calc residual`.

use std::io::Write;

use clap::Args;
use eke_budget::residual::{
    BochnerMatrix, NoResidual, NoiseLaw, Probabilities, Residual, ResidualPart, Verdict, residual,
};
use serde::Serialize;

use crate::Failure;
use crate::show::{Table, print_json};

/// Two laws.
#[derive(Args)]
pub(crate) struct ResidualArgs {
    /// The law with less noise.
    #[arg(long, value_name = "LAW")]
    from: NoiseLaw,
    /// The law with more noise.
    #[arg(long, value_name = "LAW")]
    to: NoiseLaw,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What was found, as JSON.
#[derive(Serialize)]
struct Found<'a> {
    from: NoiseLaw,
    to: NoiseLaw,
    /// Null where it could not be decided.
    exists: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    residual: Option<&'a [ResidualPart]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<&'a Probabilities>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<&'a BochnerMatrix>,
}

/// How many probabilities are shown.
const SHOWN: usize = 10;
/// The largest matrix that is shown whole.
const WHOLE: usize = 6;

impl ResidualArgs {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let verdict = residual(self.from, self.to);
        if self.json {
            return print_json(out, &self.found(&verdict));
        }
        let Self { from, to, .. } = self;
        match &verdict {
            Verdict::Yes(residual) => {
                writeln!(out, "Yes: {from} plus an independent residual is {to}.")?;
                print_residual(residual, out)
            }
            Verdict::No { reason, witness } => {
                writeln!(out, "No: no independent residual makes {to} of {from}, since")?;
                writeln!(out, "{reason}.")?;
                print_witness(witness.as_ref(), *reason, out)
            }
            Verdict::Undecided(doubt) => {
                writeln!(
                    out,
                    "Undecided: whether a residual makes {to} of {from} cannot be told, since"
                )?;
                Ok(writeln!(out, "{doubt}.")?)
            }
        }
    }

    fn found<'a>(&self, verdict: &'a Verdict) -> Found<'a> {
        let mut found = Found {
            from: self.from,
            to: self.to,
            exists: None,
            residual: None,
            probabilities: None,
            reason: None,
            witness: None,
        };
        match verdict {
            Verdict::Yes(residual) => {
                found.exists = Some(true);
                found.residual = residual.parts.as_deref();
                found.probabilities = residual.probabilities.as_ref();
            }
            Verdict::No { reason, witness } => {
                found.exists = Some(false);
                found.reason = Some(reason.to_string());
                found.witness = witness.as_ref();
            }
            Verdict::Undecided(doubt) => found.reason = Some(doubt.to_string()),
        }
        found
    }
}

/// The parts, and the first probabilities.
fn print_residual(residual: &Residual, out: &mut impl Write) -> Result<(), Failure> {
    match residual.parts.as_deref() {
        Some([]) => return Ok(writeln!(out, "They are the same law: the residual is 0.")?),
        Some([part]) => writeln!(out, "It is {part}.")?,
        Some(parts) => {
            writeln!(out, "It is the sum of independent parts:")?;
            for part in parts {
                writeln!(out, "- {part}")?;
            }
        }
        None => {
            let error = residual.probabilities.as_ref().map_or(0.0, |known| known.error);
            writeln!(
                out,
                "It was computed numerically, with an error of at most {error:.1e} in each probability."
            )?;
        }
    }
    let Some(Probabilities { values, .. }) = &residual.probabilities else { return Ok(()) };
    writeln!(out)?;
    let mut table = Table::new(&["residual", "probability"]).with_numbers([0]);
    for (number, value) in values.iter().enumerate().take(SHOWN) {
        let sign = if number == 0 { "" } else { "±" };
        table.row([format!("{sign}{number}"), format!("{value:.9}")]);
    }
    table.print(out)?;
    if values.len() > SHOWN {
        writeln!(
            out,
            "\nA sign of either kind has the probability shown; add --json for all of them."
        )?;
    }
    Ok(())
}

/// The matrix, with its points around it, and its eigenvalues.
fn print_witness(
    witness: Option<&BochnerMatrix>,
    reason: NoResidual,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let Some(BochnerMatrix { points, matrix, eigenvalues, error }) = witness else {
        return Ok(writeln!(out, "No small matrix shows it in doubles.")?);
    };
    let number = |value: &f64| {
        let size = value.abs();
        if size != 0.0 && !(1e-4..1e6).contains(&size) {
            format!("{value:.5e}")
        } else {
            format!("{value:.6}")
        }
    };
    let also = if matches!(reason, NoResidual::Indefinite) { "" } else { " too" };
    writeln!(
        out,
        "\nThis matrix of R(s - t), R the ratio of the characteristic functions, shows it{also}:\n"
    )?;
    let mut table = Table::default().with_numbers(0..=points.len());
    let head = std::iter::once("s, t".to_owned());
    if points.len() <= WHOLE {
        table.row(head.chain(points.iter().map(number)));
        for (point, row) in points.iter().zip(matrix) {
            table.row(std::iter::once(number(point)).chain(row.iter().map(number)));
        }
        table.print(out)?;
    } else {
        let mut table = Table::new(&["t", "R(t)"]).with_numbers([0, 1]);
        for (point, value) in points.iter().zip(&matrix[0]) {
            table.row([number(point), number(value)]);
        }
        table.print(out)?;
        writeln!(out, "\n(its first row; each row is the one above, moved by one place)")?;
    }
    writeln!(out, "\nIts eigenvalues are, with an error of at most {error:.1e},")?;
    let values: Vec<String> = eigenvalues.iter().map(number).collect();
    Ok(writeln!(out, "  {}", values.join("  "))?)
}
