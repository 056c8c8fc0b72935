//! `eke geo density`: how dense people are around a place.

use std::io::Write;

use clap::Args;
use eke_budget::Metres;
use eke_engine::geo::CrowdQuestion;
use eke_geo::Place;

use super::crowd::{Crowd, print_estimate};
use crate::Failure;

/// Where.
#[derive(Args)]
pub(crate) struct Density {
    #[command(flatten)]
    crowd: Crowd,
    /// The place: longitude,latitude.
    #[arg(long, value_name = "LON,LAT", allow_hyphen_values = true)]
    at: Place,
    /// The bandwidth of the Gaussian kernel, in metres.
    #[arg(long, value_name = "METRES")]
    bandwidth: Metres,
}

impl Density {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (at, bandwidth) = (self.at, self.bandwidth);
        self.crowd.run(CrowdQuestion::Density { at, bandwidth }, out, |answered, out| {
            print_estimate("people a square kilometre", &answered.answer, out)
        })
    }
}
