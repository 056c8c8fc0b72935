//! A page as PostgreSQL is given it: one JSON object, and the large bytes beside it.

use eke_budget::Amount;
use serde_json::{Map, Value, json};

use crate::store::grains::{self, Money};
use crate::store::{AccountRow, Page};

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

/// The object, by the names that `eke_append` knows, and the bytes; none if the money of an account
/// is more than an amount holds. Lists that are empty are left out.
pub(super) fn json(page: &Page) -> Option<(String, Blobs<'_>)> {
    let mut blobs = Blobs::default();
    let mut lists = Map::new();
    let mut add = |name: &str, rows: Vec<Value>| {
        if !rows.is_empty() {
            lists.insert(name.to_owned(), rows.into());
        }
    };
    add("accounts", page.accounts.iter().map(account).collect::<Option<_>>()?);
    let lines = page.lines.iter().map(|row| {
        let digest = row.digest.to_string();
        json!({ "account": *row.account, "line": row.line, "body": row.body, "digest": digest })
    });
    add("lines", lines.collect());
    let questions = page.questions.iter();
    let questions =
        questions.map(|(digest, text)| json!({ "digest": digest.to_string(), "text": **text }));
    add("questions", questions.collect());
    let requests = page.requests.iter().map(|row| {
        let digest = row.digest.to_string();
        json!({ "key": row.key.as_str(), "digest": digest, "account": *row.account })
    });
    add("requests", requests.collect());
    let levels = page.levels.iter().map(|row| {
        let (currency, price) = grains::price(row.at);
        json!({
            "account": *row.account,
            "path": row.path.to_string(),
            "currency": currency,
            "before": row.from,
            "increments": row.increments,
            "price": hex(&price),
            "sensitivity": row.sensitivity.map(|sensitivity| sensitivity.to_string()),
        })
    });
    add("levels", levels.collect());
    let rounds = page.rounds.iter().map(|row| {
        let worst = row.worst.map(hex_amount);
        json!({ "account": *row.account, "round": row.round, "worst": worst })
    });
    add("rounds", rounds.collect());
    let answers = page.answers.iter();
    let answers =
        answers.map(|row| json!({ "key": row.key.as_str(), "body": blobs.add(&row.body) }));
    add("answers", answers.collect());
    let releases = page.releases.iter().map(|row| {
        let state = row.state.as_deref().map(|state| blobs.add(state));
        json!({ "path": row.path.to_string(), "key": row.key.as_str(), "state": state })
    });
    add("releases", releases.collect());
    let draws = page.draws.iter().map(|row| {
        let (path, key) = (row.path.to_string(), row.key.as_str());
        let round = row.round.as_deref().map(|round| blobs.add(round));
        json!({ "path": path, "key": key, "lost": row.lost, "round": round })
    });
    add("draws", draws.collect());
    let holds = page.holds.iter().map(|row| {
        let (path, key) = (row.path.to_string(), row.key.as_str());
        json!({ "path": path, "account": *row.account, "key": key, "new": row.new })
    });
    add("holds", holds.collect());
    let points = page.points.iter().map(|row| {
        let (path, key) = (row.path.to_string(), row.key.as_str());
        let plan = row.plan.as_deref().map(|plan| blobs.add(plan));
        json!({ "path": path, "increment": row.increment, "key": key, "plan": plan })
    });
    add("points", points.collect());
    let seen = page.seen.iter().map(|row| {
        let (currency, price) = grains::price(row.at);
        json!({
            "account": *row.account,
            "path": row.path.to_string(),
            "line": row.line,
            "currency": currency,
            "price": hex(&price),
            "key": row.key.as_str(),
        })
    });
    add("seen", seen.collect());
    let sheets = page.sheets.iter().map(|row| {
        let bytes = blobs.add(&row.bytes);
        json!({ "account": *row.account, "version": row.version, "bytes": bytes })
    });
    add("sheets", sheets.collect());
    Some((Value::Object(lists).to_string(), blobs))
}

/// An account; what its budget is, only when it is new.
fn account(row: &AccountRow) -> Option<Value> {
    let standing = &row.standing;
    let money = Money::of(standing)?;
    let new = row.before.is_none();
    let if_new = |bytes: [u8; 16]| new.then(|| hex(&bytes));
    Some(json!({
        "name": *standing.account,
        "budget": if new { Some(serde_json::to_string(&standing.budget).ok()?) } else { None },
        "from_lines": row.before.map(|before| before.lines),
        "from_head": row.before.map(|before| before.head.to_string()),
        "lines": row.after.lines,
        "head": row.after.head.to_string(),
        "next_sequence": standing.next_sequence,
        "next_round": standing.next_round,
        "rho_budget": if_new(money.rho_budget),
        "rho_spent": hex(&money.rho_spent),
        "rho_delta_budget": if_new(money.rho_delta_budget),
        "rho_delta_spent": hex(&money.rho_delta_spent),
        "epsilon_budget": if_new(money.epsilon_budget),
        "epsilon_taken": hex(&money.epsilon_taken),
        "epsilon_spent": hex(&money.epsilon_spent),
        "epsilon_delta_budget": if_new(money.epsilon_delta_budget),
        "epsilon_delta_spent": hex(&money.epsilon_delta_spent),
    }))
}
