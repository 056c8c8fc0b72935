//! `eke geo neighbours`: who is nearest to a place.

use std::io::Write;

use clap::Args;
use eke_engine::geo::CrowdQuestion;
use eke_geo::Place;

use super::crowd::Crowd;
use crate::Failure;
use crate::show::Table;
use crate::show::number::{percent, short};

/// To which place.
#[derive(Args)]
pub(crate) struct Neighbours {
    #[command(flatten)]
    crowd: Crowd,
    /// The place: longitude,latitude.
    #[arg(long, value_name = "LON,LAT", allow_hyphen_values = true)]
    to: Place,
    /// The number of people to find.
    #[arg(long, value_name = "N", default_value_t = 1)]
    k: usize,
}

impl Neighbours {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (to, k) = (self.to, self.k);
        self.crowd.run(CrowdQuestion::Neighbours { to, k }, out, |answered, out| {
            let heads = ["nearest", "seems to be away", "is away"];
            let mut table = Table::new(&heads).with_numbers([1]);
            for near in &answered.answer.nearest {
                let within = near.within.map_or_else(String::new, |[low, high]| {
                    format!("{} to {} m", short(low), short(high))
                });
                table.row([
                    near.id.clone(),
                    format!("{} m", short(near.distance.max(0.0))),
                    within,
                ]);
            }
            table.print(out)?;
            if let Some(rivals) = answered.answer.rivals {
                let sure = percent(1.0 - self.crowd.beta(), 1.0);
                let others = match rivals {
                    0 => "nobody else is".to_owned(),
                    1 => "1 other person may be".to_owned(),
                    rivals => format!("{rivals} others may be"),
                };
                writeln!(
                    out,
                    "  distances hold for all of them at once with {sure}; {others} as near"
                )?;
            }
            let heard = answered.answer.nearest.len();
            if heard < k {
                writeln!(out, "  {heard} and not {k}: nobody else has enough left to be heard")?;
            }
            writeln!(out)
        })
    }
}
