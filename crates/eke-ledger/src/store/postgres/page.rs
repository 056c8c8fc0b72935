//! A page as PostgreSQL is given it: one JSON object, and the large bytes beside it.

use eke_budget::Amount;
use serde::Serialize;

use crate::store::Page;
use crate::store::grains::{self, Money};

/// The object, by the names that `eke_append` knows. Lists that are empty are left out.
#[derive(Serialize)]
pub(super) struct JsonPage<'a> {
    accounts: Vec<Account<'a>>,
    lines: Vec<Line<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<Question<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requests: Vec<Request<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<Level<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rounds: Vec<Round<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<Answer<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    releases: Vec<Release<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    draws: Vec<Draw<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    holds: Vec<Hold<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    points: Vec<Point<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    seen: Vec<Seen<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sheets: Vec<Sheet<'a>>,
}

#[derive(Serialize)]
struct Account<'a> {
    name: &'a str,
    budget: Option<String>,
    from_lines: Option<u64>,
    from_head: Option<String>,
    lines: u64,
    head: String,
    next_sequence: u64,
    next_round: u64,
    rho_budget: Option<String>,
    rho_spent: String,
    rho_delta_budget: Option<String>,
    rho_delta_spent: String,
    epsilon_budget: Option<String>,
    epsilon_taken: String,
    epsilon_spent: String,
    epsilon_delta_budget: Option<String>,
    epsilon_delta_spent: String,
}

#[derive(Serialize)]
struct Line<'a> {
    account: &'a str,
    line: u64,
    body: &'a str,
    digest: String,
}

#[derive(Serialize)]
struct Question<'a> {
    digest: String,
    text: &'a str,
}

#[derive(Serialize)]
struct Request<'a> {
    key: &'a str,
    digest: String,
    account: &'a str,
}

#[derive(Serialize)]
struct Level<'a> {
    account: &'a str,
    path: String,
    currency: i16,
    before: u32,
    increments: u32,
    price: String,
    sensitivity: Option<String>,
}

#[derive(Serialize)]
struct Round<'a> {
    account: &'a str,
    round: u64,
    worst: Option<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    key: &'a str,
    body: usize,
}

#[derive(Serialize)]
struct Release<'a> {
    path: String,
    key: &'a str,
    state: Option<usize>,
}

#[derive(Serialize)]
struct Draw<'a> {
    path: String,
    key: &'a str,
    lost: bool,
    round: Option<usize>,
}

#[derive(Serialize)]
struct Hold<'a> {
    path: String,
    account: &'a str,
    key: &'a str,
    new: bool,
}

#[derive(Serialize)]
struct Point<'a> {
    path: String,
    increment: u32,
    key: &'a str,
    plan: Option<usize>,
}

#[derive(Serialize)]
struct Seen<'a> {
    account: &'a str,
    path: String,
    line: u64,
    currency: i16,
    price: String,
    key: &'a str,
}

#[derive(Serialize)]
struct Sheet<'a> {
    account: &'a str,
    version: u64,
    bytes: usize,
}

/// Large bytes, each known by its place from 1.
#[derive(Default)]
pub(super) struct Blobs<'a> {
    pub(super) all: Vec<&'a [u8]>,
}

impl<'a> Blobs<'a> {
    fn add(&mut self, bytes: &'a [u8]) -> usize {
        self.all.push(bytes);
        self.all.len()
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn hex_amount<C>(amount: Amount<C>) -> String {
    hex(&grains::bytes(amount))
}

/// The object and the bytes; none if the money of an account is more than an amount holds.
pub(super) fn json<'a>(page: &'a Page) -> Option<(String, Blobs<'a>)> {
    let mut blobs = Blobs::default();
    let accounts = page.accounts.iter().map(|row| {
        let standing = &row.standing;
        let money = Money::of(standing)?;
        let new = row.before.is_none();
        let if_new = |bytes: [u8; 16]| new.then(|| hex(&bytes));
        Some(Account {
            name: &standing.account,
            budget: if new { Some(serde_json::to_string(&standing.budget).ok()?) } else { None },
            from_lines: row.before.map(|before| before.lines),
            from_head: row.before.map(|before| before.head.to_string()),
            lines: row.after.lines,
            head: row.after.head.to_string(),
            next_sequence: standing.next_sequence,
            next_round: standing.next_round,
            rho_budget: if_new(money.rho_budget),
            rho_spent: hex(&money.rho_spent),
            rho_delta_budget: if_new(money.rho_delta_budget),
            rho_delta_spent: hex(&money.rho_delta_spent),
            epsilon_budget: if_new(money.epsilon_budget),
            epsilon_taken: hex(&money.epsilon_taken),
            epsilon_spent: hex(&money.epsilon_spent),
            epsilon_delta_budget: if_new(money.epsilon_delta_budget),
            epsilon_delta_spent: hex(&money.epsilon_delta_spent),
        })
    });
    let object = JsonPage {
        accounts: accounts.collect::<Option<Vec<_>>>()?,
        lines: page
            .lines
            .iter()
            .map(|row| Line {
                account: &row.account,
                line: row.line,
                body: &row.body,
                digest: row.digest.to_string(),
            })
            .collect(),
        questions: page
            .questions
            .iter()
            .map(|(digest, text)| Question { digest: digest.to_string(), text })
            .collect(),
        requests: page
            .requests
            .iter()
            .map(|row| Request {
                key: row.key.as_str(),
                digest: row.digest.to_string(),
                account: &row.account,
            })
            .collect(),
        levels: page
            .levels
            .iter()
            .map(|row| {
                let (currency, price) = grains::price(row.at);
                Level {
                    account: &row.account,
                    path: row.path.to_string(),
                    currency,
                    before: row.from,
                    increments: row.increments,
                    price: hex(&price),
                    sensitivity: row.sensitivity.map(|sensitivity| sensitivity.to_string()),
                }
            })
            .collect(),
        rounds: page
            .rounds
            .iter()
            .map(|row| Round {
                account: &row.account,
                round: row.round,
                worst: row.worst.map(hex_amount),
            })
            .collect(),
        answers: page
            .answers
            .iter()
            .map(|row| Answer { key: row.key.as_str(), body: blobs.add(&row.body) })
            .collect(),
        releases: page
            .releases
            .iter()
            .map(|row| Release {
                path: row.path.to_string(),
                key: row.key.as_str(),
                state: row.state.as_deref().map(|state| blobs.add(state)),
            })
            .collect(),
        draws: page
            .draws
            .iter()
            .map(|row| Draw {
                path: row.path.to_string(),
                key: row.key.as_str(),
                lost: row.lost,
                round: row.round.as_deref().map(|round| blobs.add(round)),
            })
            .collect(),
        holds: page
            .holds
            .iter()
            .map(|row| Hold {
                path: row.path.to_string(),
                account: &row.account,
                key: row.key.as_str(),
                new: row.new,
            })
            .collect(),
        points: page
            .points
            .iter()
            .map(|row| Point {
                path: row.path.to_string(),
                increment: row.increment,
                key: row.key.as_str(),
                plan: row.plan.as_deref().map(|plan| blobs.add(plan)),
            })
            .collect(),
        seen: page
            .seen
            .iter()
            .map(|row| {
                let (currency, price) = grains::price(row.at);
                Seen {
                    account: &row.account,
                    path: row.path.to_string(),
                    line: row.line,
                    currency,
                    price: hex(&price),
                    key: row.key.as_str(),
                }
            })
            .collect(),
        sheets: page
            .sheets
            .iter()
            .map(|row| Sheet {
                account: &row.account,
                version: row.version,
                bytes: blobs.add(&row.bytes),
            })
            .collect(),
    };
    Some((serde_json::to_string(&object).ok()?, blobs))
}
