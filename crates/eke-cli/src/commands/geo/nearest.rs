//! `eke geo nearest`: which of one person's places are nearest to a public one.

use std::io::Write;

use clap::Args;
use eke_geo::Place;
use eke_geo::person::NearestMethod;

use super::{Question, print_cost};
use crate::Failure;
use crate::show::number::short;
use crate::show::{Table, print_json};

/// What to tell.
#[derive(Args)]
pub(crate) struct Nearest {
    #[command(flatten)]
    question: Question,
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
}

impl Nearest {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let method =
            if self.paper { NearestMethod::Paper { margin: None } } else { NearestMethod::Ranked };
        let asked = (self.to, self.k, method);
        let (told, price) = self.question.ask(|person, file, price, seen| {
            person.nearest(file, self.question.places.region, asked, price, seen)
        })?;
        if self.question.json {
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
