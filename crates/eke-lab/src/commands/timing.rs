//! `eke-lab timing`: whether how long rows take tells what they hold.
//!
//! Two sides are timed in turns, and Welch's t compares them. In the process: 600 rows of the
//! longest texts there are, chosen against a pattern, next to as many that are as long and
//! harmless; and the matcher that tries again after every mismatch, which must be caught. With
//! `--eke`: the program itself on two neighbouring tables, as somebody outside would measure it.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use eke_sql::MAX_TEXT;
use eke_sql::scalar::{self, Pattern};
use serde::Serialize;

use super::print_json;
use crate::Failure;

/// What to time.
#[derive(Args)]
pub(crate) struct Timing {
    /// Times either side is timed.
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    rounds: u32,
    /// Time this `eke` on neighbouring tables, and not what it is made of.
    #[arg(long, value_name = "PROGRAM")]
    eke: Option<PathBuf>,
    /// Another question for it.
    #[arg(long, value_name = "SQL", requires = "eke")]
    question: Option<String>,
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
}

/// Beyond this the two sides differ: chance is far below one in 100,000.
const LINE: f64 = 4.5;
/// Rows of one unit.
const ROWS: usize = 600;

/// What is done with the texts of all rows.
type Work<'a> = &'a dyn Fn(&[String]) -> usize;

#[derive(Serialize)]
struct Row {
    what: String,
    /// The mean of one round of either side, in milliseconds.
    one: f64,
    other: f64,
    t: f64,
    /// Whether the two must not differ, or must.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<Claim>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Claim {
    Same,
    /// A control, which the measurement must catch.
    Differs,
}

impl Row {
    fn passes(&self) -> bool {
        match self.claim {
            None => true,
            Some(Claim::Same) => self.t.abs() < LINE,
            Some(Claim::Differs) => self.t.abs() >= LINE,
        }
    }
}

impl Timing {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let rows = match &self.eke {
            Some(eke) => vec![self.program(eke)?],
            None => self.parts(),
        };
        let failed = rows.iter().filter(|row| !row.passes()).count();
        if self.json {
            print_json(out, &rows)?;
        } else {
            writeln!(out, "  {:<56}{:>12}{:>12}{:>10}", "what", "one", "other", "t")?;
            for row in &rows {
                let mark = match (row.claim, row.passes()) {
                    (None, _) => "",
                    (Some(Claim::Same), true) => "  the same",
                    (Some(Claim::Same), false) => "  DIFFERS",
                    (Some(Claim::Differs), true) => "  caught",
                    (Some(Claim::Differs), false) => "  MISSED",
                };
                let Row { what, one, other, t, .. } = row;
                writeln!(out, "  {what:<56}{one:>9.3} ms{other:>9.3} ms{t:>10.1}{mark}")?;
            }
        }
        match failed {
            0 => Ok(()),
            _ => Err(Failure::Found(format!("{failed} of {} do not fit their claims", rows.len()))),
        }
    }

    /// What rows are worked on with.
    fn parts(&self) -> Vec<Row> {
        let texts = |text: &str| vec![text.repeat(MAX_TEXT / text.len()); ROWS];
        let (hostile, harmless) = (texts("a"), texts("z"));
        let mut rows = Vec::new();
        for (name, pattern, slow) in [
            // Of this one, and of the last, little is tried twice.
            ("a short pattern", "%ab".to_owned(), false),
            ("one that nearly fits everywhere", format!("%{}b", "a".repeat(62)), true),
            ("the longest, with gaps", format!("%{}b", "a_a".repeat(82)), true),
            ("many parts", format!("%{}b", "a%".repeat(100)), false),
        ] {
            let (compiled, plain) = (Pattern::new(&pattern, false), tokens(&pattern));
            let like = |texts: &[String]| {
                let mut scratch = Vec::new();
                texts.iter().filter(|text| compiled.matches(text, &mut scratch)).count()
            };
            let again = |texts: &[String]| {
                let mut scratch = Vec::new();
                texts.iter().filter(|text| tries_again(&plain, text, &mut scratch)).count()
            };
            let (one, other) = (&hostile[..], &harmless[..]);
            let what = format!("LIKE, {name}");
            rows.push(self.compared(what, Some(Claim::Same), || like(one), || like(other)));
            if !slow {
                continue;
            }
            let (what, claim) = (format!("control: trying again, {name}"), Some(Claim::Differs));
            // Slow is the point: a few rows show it.
            rows.push(self.compared(what, claim, || again(&one[..20]), || again(&other[..20])));
        }
        // What these take depends on what a text holds, within a few passes over it: nothing is
        // claimed of them.
        let odd = texts("ΐ");
        let (digits, blank) = (texts("7"), texts(" "));
        let short: Vec<String> = vec!["1.5".to_owned(); ROWS];
        let halves = vec![format!("{}5", "1".repeat(395)); ROWS];
        let nothing = vec![String::new(); ROWS];
        let upper = |texts: &[String]| texts.iter().map(|text| scalar::upper(text).len()).sum();
        let read = |texts: &[String]| {
            texts.iter().filter(|text| scalar::float_of_text(text).is_some()).count()
        };
        let both =
            |texts: &[String]| texts.iter().map(|text| scalar::concat(text, "b").len()).sum();
        for (what, work, one, other) in [
            ("upper, odd letters", &upper as Work, &odd, &hostile),
            ("a number, 396 digits", &read, &halves, &short),
            ("a number, all blank", &read, &blank, &digits),
            ("||, long and empty", &both, &hostile, &nothing),
        ] {
            rows.push(self.compared(what.to_owned(), None, || work(one), || work(other)));
        }
        rows
    }

    /// Two sides in the process.
    fn compared(
        &self,
        what: String,
        claim: Option<Claim>,
        mut one: impl FnMut() -> usize,
        mut other: impl FnMut() -> usize,
    ) -> Row {
        self.in_turns(what, claim, |side| {
            let start = Instant::now();
            black_box(if side == 0 { one() } else { other() });
            Ok::<_, Infallible>(start.elapsed().as_secs_f64())
        })
        .unwrap_or_else(|never| match never {})
    }

    /// Two sides, each timed in seconds, in turns; which is first is turned round every time.
    fn in_turns<E>(
        &self,
        what: String,
        claim: Option<Claim>,
        mut time: impl FnMut(usize) -> Result<f64, E>,
    ) -> Result<Row, E> {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..=self.rounds {
            let first = (round % 2) as usize;
            for side in [first, 1 - first] {
                let seconds = time(side)?;
                // The first time warms up.
                if round > 0 {
                    times[side].push(seconds * 1e3);
                }
            }
        }
        let [one, other] = &times;
        Ok(Row { what, one: mean(one), other: mean(other), t: welch(one, other), claim })
    }

    /// The program itself, with and without one unit.
    fn program(&self, eke: &Path) -> Result<Row, Failure> {
        let folder = tempfile::tempdir().map_err(Failure::usage)?;
        let question = self.question.clone().unwrap_or_else(|| {
            format!(
                "SELECT COUNT(*) FROM trips WHERE CASE WHEN rider = 'alice' THEN note ELSE '' END LIKE '%{}b'",
                "a".repeat(60)
            )
        });
        let sides = ["with", "without"].map(|name| folder.path().join(name));
        for (side, hers) in sides.iter().zip([ROWS, 0]) {
            fs::create_dir_all(side).map_err(Failure::usage)?;
            fs::write(side.join("eke.toml"), POLICY).map_err(Failure::usage)?;
            fs::write(side.join("trips.csv"), trips(hers)).map_err(Failure::usage)?;
        }
        let what = "eke ask, with 600 long rows and without".to_owned();
        self.in_turns(what, Some(Claim::Same), |side| asked(eke, &sides[side], &question))
    }
}

const POLICY: &str = "[unit.rider]
adjacency = \"add-remove\"
budget = { epsilon = 2.0, delta = 1e-6 }

[dataset.trips]
source = \"trips.csv\"
unit = \"rider\"
unit_column = \"rider\"
max_groups = 2
max_rows = 3

[analyst.ana]
";

/// Twenty thousand rows of others, and `hers` of alice.
fn trips(hers: usize) -> String {
    let others = (0..20_000).map(|row| format!("u{},a note of {row}\n", row % 5_000));
    let hers = (0..hers).map(|_| format!("alice,{}\n", "a".repeat(MAX_TEXT)));
    std::iter::once("rider,note\n".to_owned()).chain(others).chain(hers).collect()
}

/// How long the program takes to answer, with a ledger that knows nothing yet.
fn asked(eke: &Path, folder: &Path, question: &str) -> Result<f64, Failure> {
    for entry in fs::read_dir(folder).map_err(Failure::usage)?.flatten() {
        let kept =
            ["eke.toml", "trips.csv"].map(OsStr::new).contains(&entry.file_name().as_os_str());
        if kept {
            continue;
        }
        let path = entry.path();
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }
            .map_err(Failure::usage)?;
    }
    let mut command = Command::new(eke);
    command.args(["ask", question, "--price", "rho=1e-6", "--as", "ana", "--yes", "--json"]);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().map_err(Failure::usage)?;
    let seconds = start.elapsed().as_secs_f64();
    if status.success() {
        Ok(seconds)
    } else {
        Err(Failure::Usage(format!(
            "`{}` did not answer ({status}): ask it by hand",
            eke.display()
        )))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Any,
    One,
    This(char),
}

/// A pattern without escapes.
fn tokens(pattern: &str) -> Vec<Token> {
    pattern
        .chars()
        .map(|character| match character {
            '%' => Token::Any,
            '_' => Token::One,
            other => Token::This(other),
        })
        .collect()
}

/// How `LIKE` was matched once: from the last `%` again, one place further, after every mismatch.
fn tries_again(tokens: &[Token], text: &str, scratch: &mut Vec<char>) -> bool {
    scratch.clear();
    scratch.extend(text.chars());
    let (mut token, mut at) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    while at < scratch.len() {
        match tokens.get(token) {
            Some(Token::Any) => {
                last = Some((token, at));
                token += 1;
            }
            Some(Token::One) => (token, at) = (token + 1, at + 1),
            Some(Token::This(character)) if *character == scratch[at] => {
                (token, at) = (token + 1, at + 1);
            }
            _ => {
                let Some((any, end)) = last else { return false };
                last = Some((any, end + 1));
                (token, at) = (any + 1, end + 1);
            }
        }
    }
    tokens[token..].iter().all(|token| *token == Token::Any)
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

/// Welch's t of two samples. What is slowest of each, a hundredth, is left out on both sides alike:
/// other programs cause it.
fn welch(one: &[f64], other: &[f64]) -> f64 {
    let kept = |times: &[f64]| {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        times.truncate(times.len() - times.len() / 100);
        times
    };
    let (one, other) = (kept(one), kept(other));
    let spread = |times: &[f64]| {
        let mean = mean(times);
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        squares / (times.len() as f64 - 1.0) / times.len() as f64
    };
    (mean(&one) - mean(&other)) / (spread(&one) + spread(&other)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_is_that_of_the_textbook() {
        // Means 2 and 5, variances 1 and 4.
        let t = welch(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]);
        assert!((t + 3.0 / (5.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_control_matches_what_patterns_match() {
        for pattern in ["%ab", "a%b%", "_a", "%", "", "%a_a%b", "aaab"] {
            let compiled = Pattern::new(pattern, false);
            for text in ["", "a", "ab", "aab", "aaab", "ba", "abab", "acab"] {
                let expected = compiled.matches(text, &mut Vec::new());
                let found = tries_again(&tokens(pattern), text, &mut Vec::new());
                assert_eq!(found, expected, "{text} like {pattern}");
            }
        }
    }
}
