//! `eke geo neighbours`: who is nearest to a place.

use std::io::Write;

use clap::Args;
use eke_engine::CrowdQuestion;
use eke_geo::Place;

use super::crowd::Crowd;
use crate::Failure;

/// To which place.
#[derive(Args)]
pub(crate) struct Neighbours {
    #[command(flatten)]
    crowd: Crowd,
    /// The place: longitude,latitude.
    #[arg(long, value_name = "LON,LAT", allow_hyphen_values = true)]
    to: Place,
    /// How many of the nearest.
    #[arg(long, value_name = "N", default_value_t = 1)]
    k: usize,
}

impl Neighbours {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (to, k) = (self.to, self.k);
        self.crowd.run(CrowdQuestion::Neighbours { to, k }, out, |answered, out| {
            writeln!(out, "  nearest, as far as can be told")?;
            for (rank, id) in answered.answer.nearest.iter().enumerate() {
                writeln!(out, "  {:>4}  {id}", rank + 1)?;
            }
            writeln!(out)
        })
    }
}
