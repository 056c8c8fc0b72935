//! `eke geo release`: one person's places, each with noise.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use eke_engine::geo::{Features, ReleasedPlaces, write_whole};
use eke_geo::Region;
use eke_plot::map::{Layer, Map, Things};
use serde_json::{Map as Properties, json};

use super::{Question, print_cost};
use crate::Failure;
use crate::show::number::short;
use crate::show::{Table, print_json};

/// How many places are printed for people.
const SHOWN: usize = 20;

/// What to tell.
#[derive(Args)]
pub(crate) struct Release {
    #[command(flatten)]
    question: Question,
    /// Write the places as GeoJSON to a file; - is the terminal.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw a map of the places, with the circles that 19 of 20 are within, as SVG.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
}

impl Release {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let region = self.question.places.region;
        let (told, price) = self
            .question
            .ask(|person, file, price, seen| person.release(file, region, price, seen))?;
        if let Some(file) = &self.map {
            write_whole(file, &map(&told, region).finish())?;
        }
        let geojson = || features(&told).finish();
        match self.out.as_deref() {
            Some(file) if file.as_os_str() == "-" => {
                return Ok(out.write_all(geojson().as_bytes())?);
            }
            Some(file) => write_whole(file, &geojson())?,
            None => {}
        }
        if self.question.json {
            return print_json(out, &told);
        }
        let mut table = Table::new(&["longitude", "latitude"]).with_numbers([0, 1]);
        for place in told.places.iter().take(SHOWN) {
            table.row([format!("{:.5}", place.longitude()), format!("{:.5}", place.latitude())]);
        }
        table.print(out)?;
        let more = told.places.len().saturating_sub(SHOWN);
        if more > 0 {
            writeln!(out, "  and {more} more: add --out FILE for all of them")?;
        }
        writeln!(out)?;
        writeln!(
            out,
            "  error  {} m on average; 19 of 20 are within {} m, and with 95 % all {} within {} m",
            short(told.mean),
            short(told.within),
            told.places.len(),
            short(told.all_within)
        )?;
        Ok(print_cost(told.cost, price, &told.standing, out)?)
    }
}

fn features(told: &ReleasedPlaces) -> Features {
    let mut features = Features::new();
    for (number, place) in told.places.iter().enumerate() {
        let mut properties = Properties::new();
        properties.insert("place".into(), json!(number + 1));
        properties.insert("within".into(), json!(told.within));
        features.point(*place, properties);
    }
    features
}

/// Up to this number of places are drawn with circles; more are dots.
const CIRCLES: usize = 200;

fn map(told: &ReleasedPlaces, region: Region) -> Map {
    let points = told.places.iter().map(|place| {
        let [east, north] = region.project(*place);
        (east, north)
    });
    let things = if told.places.len() <= CIRCLES {
        Things::Released(points.map(|point| (point, told.within)).collect())
    } else {
        Things::Dots(points.collect())
    };
    let count = told.places.len();
    let label = format!("places as told; 19 of 20 are within {} m", short(told.within));
    Map { title: format!("{count} places"), layers: vec![Layer { label, things }] }
}
