//! `eke geo neighbours`: who is nearest to a place.

use std::io::Write;

use clap::Args;
use eke_engine::CrowdQuestion;
use eke_geo::Place;

use super::crowd::Crowd;
use crate::Failure;
use crate::number::short;
use crate::table::Table;

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
            let mut table = Table::new(&["nearest", "seems to be away"]).with_numbers([1]);
            for near in &answered.answer.nearest {
                table.row([near.id.clone(), format!("{} m", short(near.distance.max(0.0)))]);
            }
            table.print(out)?;
            let heard = answered.answer.nearest.len();
            if heard < k {
                writeln!(out, "  {heard} and not {k}: nobody else has enough left to be heard")?;
            }
            writeln!(out)
        })
    }
}
