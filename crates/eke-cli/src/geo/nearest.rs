//! `eke geo nearest`: which of one person's places are nearest to a public one.

use std::io::Write;

use clap::Args;
use eke_geo::Place;
use eke_geo::person::NearestMethod;

use super::{Payer, Places, Price, print_cost, reading};
use crate::Failure;
use crate::show::number::short;
use crate::show::{Table, print_json};

/// What to tell.
#[derive(Args)]
pub(crate) struct Nearest {
    #[command(flatten)]
    places: Places,
    /// The public place: longitude,latitude.
    #[arg(long, value_name = "LON,LAT", allow_hyphen_values = true)]
    to: Place,
    /// The number of places to choose.
    #[arg(long, value_name = "K", default_value_t = 1)]
    k: u32,
    /// Search by comparisons with a noisy threshold, as in the paper, instead of by exponential
    /// choices.
    #[arg(long)]
    paper: bool,
    #[command(flatten)]
    price: Price,
    #[command(flatten)]
    payer: Payer,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Nearest {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let price = self.price.price()?;
        let file = self.places.open()?;
        let mut person = self.payer.open(&file, price)?;
        let method =
            if self.paper { NearestMethod::Paper { margin: None } } else { NearestMethod::Ranked };
        let bar = reading();
        let asked = (self.to, self.k, method);
        let seen = |rows| bar.set_position(rows);
        let told = person.nearest(&file, self.places.region, asked, price, &seen);
        bar.finish_and_clear();
        let told = told?;
        if self.json {
            return print_json(out, &told);
        }
        let mut table = Table::new(&["nearest", "row"]).with_numbers([0, 1]);
        for (at, row) in told.rows.iter().enumerate() {
            table.row([(at + 1).to_string(), row.to_string()]);
        }
        table.print(out)?;
        writeln!(out)?;
        if let Some(error) = told.error {
            let what = "with 95 % none is further than its true counterpart by more than that";
            writeln!(out, "  error  {} m: {what}", short(error))?;
        }
        Ok(print_cost(told.cost, price, &told.standing, out)?)
    }
}
