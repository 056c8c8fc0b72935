//! `eke-lab speed fleet`: accounts a second that a sheet charges, next to plain doubles that nobody
//! should count money in, and devices of a fleet that are asked.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use clap::Args;
use eke_budget::account::{Prices, Sheet, Who};
use eke_budget::{Amount, Epsilon};
use eke_local::device::Currency;
use eke_local::{Component, Fleet, Mechanism, Request};
use eke_noise::local::{Categories, ReportLaw, Template};
use serde::Serialize;

use crate::Failure;
use eke_lab::seeded::Seeded;

/// How many, and how to show it.
#[derive(Args)]
pub(crate) struct Fleets {
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
    /// Accounts of the sheet.
    #[arg(long, default_value_t = 10_000_000)]
    accounts: u32,
    /// Devices of the fleet.
    #[arg(long, default_value_t = 1_000_000)]
    devices: u32,
}

#[derive(Serialize)]
struct Row {
    what: &'static str,
    seconds: f64,
    per_second: f64,
    /// How many were refused, where some may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<usize>,
}

/// Runs of each; the fastest counts, which is the one least disturbed.
const ROUNDS: usize = 3;

impl Fleets {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let rows = self.rows().map_err(|error| Failure::Usage(error.to_string()))?;
        if self.json {
            serde_json::to_writer(&mut *out, &rows).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        writeln!(out, "  {:<44}{:>10}{:>14}{:>12}", "what", "seconds", "a second", "refused")?;
        for Row { what, seconds, per_second, refused } in rows {
            let refused = refused.map_or(String::new(), |refused| refused.to_string());
            let rate = per_second / 1e6;
            writeln!(out, "  {what:<44}{seconds:>10.3}{rate:>13.1}M{refused:>12}")?;
        }
        Ok(())
    }

    fn rows(&self) -> Result<Vec<Row>, Box<dyn Error>> {
        let mut rows = Vec::new();
        let many = self.accounts as usize;
        let price = |number: u32| {
            Amount::<Epsilon>::from_grains(
                Amount::<Epsilon>::ONE.grains() / 10 * u128::from(number % 7),
            )
        };
        let each: Vec<Amount<Epsilon>> = (0..self.accounts).map(price).collect();
        let plain: Vec<f64> = each.iter().map(|price| price.to_f64()).collect();
        let mut spent = vec![0.0f64; many];
        rows.push(fastest("doubles, each its own price", many, || {
            let mut refused = 0;
            for (spent, price) in spent.iter_mut().zip(&plain) {
                if *spent + price <= 1.0 { *spent += price } else { refused += 1 }
            }
            black_box(&spent);
            Ok(Some(refused))
        })?);
        drop((plain, spent));
        let mut sheet = Sheet::same(Amount::ONE, many)?;
        let tenth = Amount::parse_up("0.1")?;
        rows.push(fastest("charge everyone the same", many, || {
            Ok(Some(sheet.charge(Who::Everyone, Prices::Same(tenth))?.len()))
        })?);
        rows.push(fastest("charge everyone, each its own price", many, || {
            Ok(Some(sheet.charge(Who::Everyone, Prices::Each(&each))?.len()))
        })?);
        let half: Vec<u32> = (0..self.accounts).step_by(2).collect();
        rows.push(fastest("charge every second, each its own price", half.len(), || {
            let prices = Prices::Each(&each[..half.len()]);
            Ok(Some(sheet.charge(Who::These(&half), prices)?.len()))
        })?);
        rows.push(fastest("what is left, at five fractions", many, || {
            black_box(sheet.left_at(&[0.0, 0.25, 0.5, 0.75, 1.0]));
            Ok(None)
        })?);
        drop((sheet, each));
        self.asked(&mut rows)?;
        Ok(rows)
    }

    /// A fleet of devices with one of 128 categories each, asked for a report at 1 and again.
    fn asked(&self, rows: &mut Vec<Row>) -> Result<(), Box<dyn Error>> {
        let many = self.devices as usize;
        let laws = vec![ReportLaw::Subset(Template::new(34, Amount::parse_up("1")?))];
        let mechanism = Mechanism { categories: 128, laws };
        let price = Currency::Pure.price(&mechanism.chain()?, 0)?;
        let mut entropy = Seeded::new(7);
        let mut fleet = Fleet::<Epsilon>::new(Sheet::same(Amount::parse_up("100")?, many)?);
        let categories = Categories::new(128)?;
        let colour = Component { name: "colour".into(), categories, otherwise: 0 };
        fleet.hold(colour, (0..self.devices).map(|device| device % 128).collect())?;
        let mut question = 0;
        let mut request = || {
            question += 1;
            Request {
                question: question.to_string(),
                component: "colour".into(),
                step: 0,
                mechanism: mechanism.clone(),
                report: 0,
                price,
            }
        };
        rows.push(fastest("ask a fleet, 128 categories at 1", many, || {
            let replies = fleet.answer(&request(), Who::Everyone, &mut entropy)?;
            Ok(Some(black_box(replies).halted.len()))
        })?);
        let again = request();
        let _ = fleet.answer(&again, Who::Everyone, &mut entropy)?;
        rows.push(fastest("ask a fleet the same again", many, || {
            let replies = fleet.answer(&again, Who::Everyone, &mut entropy)?;
            Ok(Some(black_box(replies).halted.len()))
        })?);
        Ok(())
    }
}

fn fastest(
    what: &'static str,
    many: usize,
    mut batch: impl FnMut() -> Result<Option<usize>, Box<dyn Error>>,
) -> Result<Row, Box<dyn Error>> {
    let (mut seconds, mut refused) = (f64::INFINITY, None);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        refused = batch()?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    #[expect(clippy::cast_precision_loss, reason = "for showing")]
    let per_second = many as f64 / seconds;
    Ok(Row { what, seconds, per_second, refused })
}
