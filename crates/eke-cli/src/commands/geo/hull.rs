//! `eke geo hull`: the convex hull of one person's places, nearly.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use eke_engine::geo::{Features, HullOfPlaces, write_whole};
use eke_geo::person::{Directions, HullPlan};
use eke_geo::{Place, Region};
use eke_plot::map::{Layer, Map, Things};
use serde_json::{Map as Properties, json};

use super::{Question, print_cost};
use crate::Failure;
use crate::show::number::short;
use crate::show::{Table, print_json};

/// What to tell.
#[derive(Args)]
pub(crate) struct Hull {
    #[command(flatten)]
    question: Question,
    /// The number of directions in which the farthest place is chosen [default: the number with the
    /// smallest error]
    #[arg(long, value_name = "K")]
    directions: Option<u32>,
    /// As in the paper: searches along a noisy line, in 16 to 128 directions.
    #[arg(long)]
    paper: bool,
    /// Write the hull and its points as GeoJSON to a file; - is the terminal.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw a map of the hull, as SVG.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
}

impl Hull {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let mut plan = if self.paper { HullPlan::published() } else { HullPlan::default() };
        if let Some(count) = self.directions {
            plan.directions = Directions::Exactly(count);
        }
        let region = self.question.places.region;
        let (hull, price) = self
            .question
            .ask(|person, file, price, seen| person.hull(file, region, &plan, price, seen))?;
        if let Some(file) = &self.map {
            write_whole(file, &map(&hull, region).finish())?;
        }
        match self.out.as_deref() {
            Some(file) if file.as_os_str() == "-" => {
                return Ok(out.write_all(features(&hull).finish().as_bytes())?);
            }
            Some(file) => write_whole(file, &features(&hull).finish())?,
            None => {}
        }
        if self.question.json {
            return print_json(out, &hull);
        }
        let mut table = Table::new(&["longitude", "latitude"]).with_numbers([0, 1]);
        for corner in &hull.told.corners {
            table.row([format!("{:.5}", corner.longitude()), format!("{:.5}", corner.latitude())]);
        }
        table.print(out)?;
        writeln!(out)?;
        let (told, sure) = (&hull.told, short(plan.confidence.get() * 100.0));
        writeln!(
            out,
            "  hull   {} km² by {} places, looked for in {} directions",
            short(told.area / 1e6),
            told.rows.len(),
            told.directions
        )?;
        let total = short(told.error.total());
        writeln!(out, "  error  with {sure} % no place is more than {total} m outside of it")?;
        Ok(print_cost(hull.cost, price, &hull.standing, out)?)
    }
}

fn features(hull: &HullOfPlaces) -> Features {
    let mut features = Features::new();
    let named = |name: &str| Properties::from_iter([("name".to_owned(), json!(name))]);
    features.polygon(std::slice::from_ref(&hull.told.corners), named("hull"));
    for (place, row) in hull.told.points.iter().zip(&hull.told.rows) {
        let mut properties = named("place");
        properties.insert("row".into(), json!(row));
        features.point(*place, properties);
    }
    features
}

fn map(hull: &HullOfPlaces, region: Region) -> Map {
    let point = |place: &Place| {
        let [east, north] = region.project(*place);
        (east, north)
    };
    let told = &hull.told;
    let within = told.error.points;
    let layer = |label: &str, things| Layer { label: label.to_owned(), things };
    let hull = Things::Hull(told.corners.iter().map(point).collect());
    let points = told.points.iter().map(|place| (point(place), within)).collect();
    Map {
        title: "the hull of places".to_owned(),
        layers: vec![
            layer("hull", hull),
            layer("places that it was made of, as told", Things::Released(points)),
        ],
    }
}
