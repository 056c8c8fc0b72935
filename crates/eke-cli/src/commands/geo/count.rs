//! `eke geo count`: how many people are in an area.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use eke_budget::Metres;
use eke_engine::geo::{Area, CrowdQuestion, read_shapes};
use eke_geo::Place;

use super::crowd::{Crowd, print_estimate};
use crate::Failure;

/// Which area.
#[derive(Args)]
pub(crate) struct Count {
    #[command(flatten)]
    crowd: Crowd,
    #[command(flatten)]
    area: AreaArgs,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct AreaArgs {
    /// The polygons of a GeoJSON file.
    #[arg(long, value_name = "FILE")]
    within: Option<PathBuf>,
    /// All within a radius of a place: longitude,latitude,metres.
    #[arg(long, value_name = "LON,LAT,METRES", value_parser = circle, allow_hyphen_values = true)]
    circle: Option<(Place, Metres)>,
    /// A box: west,south,east,north, in degrees.
    #[arg(long = "box", value_name = "W,S,E,N", value_parser = corners, allow_hyphen_values = true)]
    corners: Option<[f64; 4]>,
}

impl Count {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let area = self.area.area()?;
        self.crowd.run(CrowdQuestion::Count(area), out, |answered, out| {
            print_estimate("people in the area", &answered.answer, out)
        })
    }
}

impl AreaArgs {
    fn area(&self) -> Result<Area, Failure> {
        if let Some((centre, radius)) = self.circle {
            return Ok(Area::Circle(centre, radius));
        }
        if let Some(corners) = self.corners {
            return Ok(Area::Box(corners));
        }
        let Some(file) = &self.within else {
            return Err(Failure::Usage("say where, with --within, --circle or --box".into()));
        };
        let shown = file.display();
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::Usage(format!("`{shown}` cannot be read: {error}")))?;
        let shapes = read_shapes(&text)
            .map_err(|error| Failure::Usage(format!("`{shown}` holds no area: {error}")))?;
        Ok(Area::Polygons(shapes.into_iter().flatten().collect()))
    }
}

fn circle(text: &str) -> Result<(Place, Metres), String> {
    let wrong = || format!("`{text}` is not a circle: write longitude,latitude,metres");
    let (place, radius) = text.rsplit_once(',').ok_or_else(wrong)?;
    let place: Place = place.parse().map_err(|_| wrong())?;
    let radius: f64 = radius.trim().parse().map_err(|_| wrong())?;
    Ok((place, Metres::new(radius).map_err(|error| error.to_string())?))
}

fn corners(text: &str) -> Result<[f64; 4], String> {
    let wrong = || format!("`{text}` is not a box: write west,south,east,north in degrees");
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let corners: [f64; 4] = numbers.map_err(|_| wrong())?.try_into().map_err(|_| wrong())?;
    let [west, south, east, north] = corners;
    if west < east && south < north { Ok(corners) } else { Err(wrong()) }
}
