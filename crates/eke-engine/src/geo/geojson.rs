//! GeoJSON (RFC 7946): points and polygons in, collections of features out.
//!
//! Files are strict JSON in longitude and latitude. What is wrong with a feature is said in one
//! sentence with the feature's number, counted from one, and never with what it holds. Files about
//! people are read row by row like others: a feature that is no point is somebody without a place,
//! and it is for the caller to say what that counts as.

use eke_geo::Place;
use eke_geo::shape::Rings;
use serde_json::{Map, Value, json};

/// Why a text is not GeoJSON that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GeoJsonError {
    /// Not JSON.
    #[error("it is not JSON: line {line} cannot be read")]
    Json {
        /// Which line, from one.
        line: usize,
    },
    /// JSON, but something else.
    #[error(
        "it is not GeoJSON: it has no `type` that is a FeatureCollection, a Feature or a geometry"
    )]
    NotGeoJson,
    /// Other coordinates.
    #[error("it is not in longitude and latitude (WGS 84): convert it, and leave `crs` out")]
    Crs,
    /// Something is wrong with a feature.
    #[error("feature {feature} {fault}")]
    Feature {
        /// Which one, from one.
        feature: usize,
        /// What is wrong.
        fault: Fault,
    },
}

/// What is wrong with a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Not a feature.
    #[error("is not a feature: its `type` is Feature")]
    NotAFeature,
    /// Nowhere.
    #[error("has no geometry")]
    NoGeometry,
    /// Not a point.
    #[error("is not a Point or a MultiPoint")]
    NotAPoint,
    /// Not a polygon.
    #[error("is not a Polygon or a MultiPolygon")]
    NotAPolygon,
    /// Coordinates are not as they should be.
    #[error("has coordinates that are not lists of longitude and latitude")]
    Position,
    /// A place that is none.
    #[error("has a place off the earth: positions are longitude and then latitude, in degrees")]
    OffTheEarth,
    /// A ring does not end where it begins.
    #[error(
        "has a ring that is not closed: a ring has four positions or more, and the last is the first"
    )]
    OpenRing,
    /// No id.
    #[error("has no such property to tell whose it is, or one that is not a text or a number")]
    NoId,
}

/// A feature of places: whose they are, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct PointFeature {
    /// Whose, if that was asked for.
    pub id: Result<Option<String>, Fault>,
    /// Where: one place for a point, several for a multi-point.
    pub places: Result<Vec<Place>, Fault>,
}

/// Reads points, and of each whose it is by a property if one is given (a feature's own `id` where
/// that is called `id` and no property is). Every feature counts, whatever it holds.
///
/// # Errors
/// The text as a whole is not GeoJSON. Nothing in the error is from a feature.
pub fn read_points(text: &str, id: Option<&str>) -> Result<Vec<PointFeature>, GeoJsonError> {
    let read = |feature: &Value| PointFeature { id: whose(feature, id), places: places(feature) };
    Ok(features(&parsed(text)?)?.into_iter().map(read).collect())
}

/// Reads the polygons of each feature: of public files, since what is wrong is said of the first
/// feature with a fault. A polygon is its outer ring, and then its holes, without the last corner,
/// which is the first.
///
/// # Errors
/// The text is not GeoJSON, or a feature is not one or more polygons.
pub fn read_shapes(text: &str) -> Result<Vec<Vec<Rings<Place>>>, GeoJsonError> {
    let root = parsed(text)?;
    let shape = |(at, feature): (usize, &Value)| {
        let polygons = geometry(feature).and_then(|geometry| {
            let mut found = Vec::new();
            polygons(geometry, &mut found)?;
            if found.is_empty() { Err(Fault::NotAPolygon) } else { Ok(found) }
        });
        polygons.map_err(|fault| GeoJsonError::Feature { feature: at + 1, fault })
    };
    features(&root)?.into_iter().enumerate().map(shape).collect()
}

/// Features to be written, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    features: Vec<Value>,
}

impl Features {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A place.
    pub fn point(&mut self, place: Place, properties: Map<String, Value>) {
        self.add(json!({"type": "Point", "coordinates": position(place)}), properties);
    }

    /// A polygon: its outer ring, which is written against the clock, and then its holes, which are
    /// written with it.
    pub fn polygon(&mut self, rings: &[Vec<Place>], properties: Map<String, Value>) {
        let ring = |(at, ring): (usize, &Vec<Place>)| {
            let mut places = ring.clone();
            if (area(ring) < 0.0) == (at == 0) {
                places.reverse();
            }
            places.extend(places.first().copied());
            places.into_iter().map(position).collect::<Vec<Value>>()
        };
        let rings: Vec<Vec<Value>> = rings.iter().enumerate().map(ring).collect();
        self.add(json!({"type": "Polygon", "coordinates": rings}), properties);
    }

    /// The file: a feature a line.
    #[must_use]
    pub fn finish(&self) -> String {
        let lines: Vec<String> = self.features.iter().map(Value::to_string).collect();
        format!("{{\"type\":\"FeatureCollection\",\"features\":[\n{}\n]}}\n", lines.join(",\n"))
    }

    fn add(&mut self, geometry: Value, properties: Map<String, Value>) {
        let feature =
            [("type", "Feature".into()), ("geometry", geometry), ("properties", properties.into())];
        self.features
            .push(feature.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
    }
}

fn parsed(text: &str) -> Result<Value, GeoJsonError> {
    // Some programs mark their texts as UTF-8.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // What the reader says may quote the text.
    serde_json::from_str(text).map_err(|error| GeoJsonError::Json { line: error.line() })
}

/// The features of a collection; a feature or a geometry alone is one.
fn features(root: &Value) -> Result<Vec<&Value>, GeoJsonError> {
    const GEOMETRIES: [&str; 7] = [
        "Point",
        "MultiPoint",
        "LineString",
        "MultiLineString",
        "Polygon",
        "MultiPolygon",
        "GeometryCollection",
    ];
    // From before there was only one.
    let crs = &root["crs"];
    let is_degrees =
        |name: &str| ["CRS84", "EPSG::4326", "EPSG:4326"].iter().any(|end| name.ends_with(end));
    if !crs.is_null() && !crs["properties"]["name"].as_str().is_some_and(is_degrees) {
        return Err(GeoJsonError::Crs);
    }
    match root["type"].as_str() {
        Some("FeatureCollection") => {
            let features = root["features"].as_array().ok_or(GeoJsonError::NotGeoJson)?;
            Ok(features.iter().collect())
        }
        Some("Feature") => Ok(vec![root]),
        Some(name) if GEOMETRIES.contains(&name) => Ok(vec![root]),
        _ => Err(GeoJsonError::NotGeoJson),
    }
}

/// The geometry of a feature, or itself if it is one.
fn geometry(feature: &Value) -> Result<&Value, Fault> {
    match feature["type"].as_str() {
        Some("Feature") => {
            Some(&feature["geometry"]).filter(|found| !found.is_null()).ok_or(Fault::NoGeometry)
        }
        Some(_) if feature.get("coordinates").is_some() || feature.get("geometries").is_some() => {
            Ok(feature)
        }
        _ => Err(Fault::NotAFeature),
    }
}

fn whose(feature: &Value, id: Option<&str>) -> Result<Option<String>, Fault> {
    id.map(|name| property(feature, name).ok_or(Fault::NoId)).transpose()
}

/// A property as text; a feature's own id counts as one.
fn property(feature: &Value, name: &str) -> Option<String> {
    let found = match feature.get("properties").and_then(|properties| properties.get(name)) {
        None if name == "id" => feature.get("id")?,
        found => found?,
    };
    match found {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn places(feature: &Value) -> Result<Vec<Place>, Fault> {
    let geometry = geometry(feature)?;
    let coordinates = &geometry["coordinates"];
    match geometry["type"].as_str() {
        Some("Point") => Ok(vec![place(coordinates)?]),
        Some("MultiPoint") => list(coordinates)?.iter().map(place).collect(),
        _ => Err(Fault::NotAPoint),
    }
}

/// Adds the polygons of a geometry.
fn polygons(geometry: &Value, found: &mut Vec<Rings<Place>>) -> Result<(), Fault> {
    let coordinates = &geometry["coordinates"];
    match geometry["type"].as_str() {
        Some("Polygon") => found.push(rings(coordinates)?),
        Some("MultiPolygon") => {
            for polygon in list(coordinates)? {
                found.push(rings(polygon)?);
            }
        }
        // Collections inside collections are not written by anybody, and are not read here.
        Some("GeometryCollection") => {
            for part in list(&geometry["geometries"])? {
                if part["type"].as_str() == Some("GeometryCollection") {
                    return Err(Fault::NotAPolygon);
                }
                polygons(part, found)?;
            }
        }
        _ => return Err(Fault::NotAPolygon),
    }
    Ok(())
}

fn rings(coordinates: &Value) -> Result<Rings<Place>, Fault> {
    let ring = |ring: &Value| {
        let mut places: Vec<Place> = list(ring)?.iter().map(place).collect::<Result<_, _>>()?;
        if places.len() < 4 || places.first() != places.last() {
            return Err(Fault::OpenRing);
        }
        places.pop();
        Ok(places)
    };
    let rings: Rings<Place> = list(coordinates)?.iter().map(ring).collect::<Result<_, _>>()?;
    if rings.is_empty() { Err(Fault::Position) } else { Ok(rings) }
}

/// A position: longitude, latitude, and perhaps a height, which nobody asks for.
fn place(position: &Value) -> Result<Place, Fault> {
    let numbers: Option<Vec<f64>> = list(position)?.iter().map(Value::as_f64).collect();
    match numbers.as_deref() {
        Some(&[longitude, latitude] | &[longitude, latitude, _]) => {
            Place::new(longitude, latitude).map_err(|_| Fault::OffTheEarth)
        }
        _ => Err(Fault::Position),
    }
}

fn list(value: &Value) -> Result<&Vec<Value>, Fault> {
    value.as_array().ok_or(Fault::Position)
}

/// To a centimetre, once around the earth at most.
fn position(place: Place) -> Value {
    let round = |degrees: f64| (degrees * 1e7).round() / 1e7;
    let longitude = match place.longitude() {
        longitude if longitude > 180.0 => longitude - 360.0,
        longitude if longitude < -180.0 => longitude + 360.0,
        longitude => longitude,
    };
    json!([round(longitude), round(place.latitude())])
}

/// Twice the area of a ring in degrees, positive against the clock.
fn area(ring: &[Place]) -> f64 {
    let next = ring.iter().cycle().skip(1);
    ring.iter()
        .zip(next)
        .map(|(one, two)| one.longitude() * two.latitude() - two.longitude() * one.latitude())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(longitude: f64, latitude: f64) -> Place {
        Place::new(longitude, latitude).unwrap()
    }

    fn collection(features: &str) -> String {
        format!(r#"{{"type":"FeatureCollection","features":[{features}]}}"#)
    }

    fn feature(geometry: &str, properties: &str) -> String {
        format!(r#"{{"type":"Feature","geometry":{geometry},"properties":{properties}}}"#)
    }

    #[test]
    fn points_are_read_with_whose_they_are() {
        let text = collection(
            &[
                feature(r#"{"type":"Point","coordinates":[4.36,52.01]}"#, r#"{"who":"ada"}"#),
                feature(r#"{"type":"Point","coordinates":[4,52,7.5]}"#, r#"{"who":17}"#),
                feature(
                    r#"{"type":"MultiPoint","coordinates":[[4,52],[5,53]]}"#,
                    r#"{"who":" eve "}"#,
                ),
            ]
            .join(","),
        );
        let found = read_points(&text, Some("who")).unwrap();
        let ids: Vec<_> = found.iter().map(|row| row.id.clone().unwrap().unwrap()).collect();
        assert_eq!(ids, ["ada", "17", "eve"]);
        assert_eq!(found[0].places, Ok(vec![at(4.36, 52.01)]));
        assert_eq!(found[1].places, Ok(vec![at(4.0, 52.0)]));
        assert_eq!(found[2].places, Ok(vec![at(4.0, 52.0), at(5.0, 53.0)]));
        // A geometry or a feature alone, marked as UTF-8, with an id of its own.
        let alone = "\u{feff}{\"type\":\"Point\",\"coordinates\":[1,2]}";
        assert_eq!(read_points(alone, None).unwrap()[0].places, Ok(vec![at(1.0, 2.0)]));
        let own = r#"{"type":"Feature","id":"x","geometry":null,"properties":null}"#;
        let own = &read_points(own, Some("id")).unwrap()[0];
        assert_eq!((&own.id, &own.places), (&Ok(Some("x".to_owned())), &Err(Fault::NoGeometry)));
    }

    #[test]
    fn every_feature_counts_whatever_it_holds() {
        for (feature, fault) in [
            (feature("null", "{}"), Fault::NoGeometry),
            ("7".to_owned(), Fault::NotAFeature),
            (r#"{"type":"Place"}"#.to_owned(), Fault::NotAFeature),
            (feature(r#"{"type":"Point","coordinates":[1]}"#, "{}"), Fault::Position),
            (feature(r#"{"type":"Point","coordinates":[1,2,3,4]}"#, "{}"), Fault::Position),
            (feature(r#"{"type":"Point","coordinates":["1",2]}"#, "{}"), Fault::Position),
            (feature(r#"{"type":"Point"}"#, "{}"), Fault::Position),
            (feature(r#"{"type":"Point","coordinates":[52,104.5]}"#, "{}"), Fault::OffTheEarth),
            (
                feature(r#"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#, "{}"),
                Fault::NotAPoint,
            ),
        ] {
            let good = r#"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}"#;
            let text = collection(&format!("{good},{feature}"));
            let found = read_points(&text, Some("who")).unwrap();
            assert_eq!(found.len(), 2);
            assert_eq!(found[0].places, Ok(vec![at(1.0, 2.0)]));
            assert_eq!(found[1].places, Err(fault), "{feature}");
            assert!(found.iter().all(|row| row.id == Err(Fault::NoId)));
        }
    }

    #[test]
    fn no_error_says_what_a_feature_holds() {
        let secret = "\u{22}52.0116\u{22}";
        for text in [
            format!("{{\"type\":\"FeatureCollection\",\n\"features\":[{secret}{secret}]}}"),
            format!("{secret},"),
            "[".repeat(200_000),
            format!("{{\"type\":{secret}}}"),
            format!("{{\"type\":\"FeatureCollection\",\"features\":{secret}}}"),
            format!("{{\"type\":\"FeatureCollection\",\"crs\":{secret},\"features\":[]}}"),
        ] {
            for error in [read_points(&text, None).unwrap_err(), read_shapes(&text).unwrap_err()] {
                assert!(!error.to_string().contains("52"), "{error}");
            }
        }
        let error = read_points("{\n\n\"type\" 7", None).unwrap_err();
        assert_eq!(error.to_string(), "it is not JSON: line 3 cannot be read");
        let old = r#"{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}},"features":[]}"#;
        assert_eq!(read_points(old, None), Ok(vec![]));
        let metres = old.replace("OGC:1.3:CRS84", "EPSG::3857");
        assert_eq!(read_points(&metres, None), Err(GeoJsonError::Crs));
    }

    #[test]
    fn polygons_are_read_and_faults_are_said_with_their_number() {
        let ring = "[[0,0],[4,0],[4,4],[0,4],[0,0]]";
        let hole = "[[1,1],[2,1],[2,2],[1,1]]";
        let one = format!(r#"{{"type":"Polygon","coordinates":[{ring},{hole}]}}"#);
        let many = format!(r#"{{"type":"MultiPolygon","coordinates":[[{ring}],[{hole}]]}}"#);
        let both = format!(r#"{{"type":"GeometryCollection","geometries":[{one},{many}]}}"#);
        let text = collection(
            &[
                feature(&one, r#"{"name":"Delft"}"#),
                feature(&many, r#"{"id":3}"#),
                feature(&both, "null"),
            ]
            .join(","),
        );
        let found = read_shapes(&text).unwrap();
        let sizes: Vec<Vec<usize>> =
            found.iter().map(|polygons| polygons.iter().map(Vec::len).collect()).collect();
        assert_eq!(sizes, [vec![2], vec![1, 1], vec![2, 1, 1]]);
        assert_eq!(found[0][0][0].len(), 4, "the last corner is the first");
        for (geometry, sentence) in [
            ("null", "feature 2 has no geometry"),
            (
                r#"{"type":"Point","coordinates":[1,2]}"#,
                "feature 2 is not a Polygon or a MultiPolygon",
            ),
            (
                r#"{"type":"Polygon","coordinates":[]}"#,
                "feature 2 has coordinates that are not lists of longitude and latitude",
            ),
            (
                r#"{"type":"GeometryCollection","geometries":[]}"#,
                "feature 2 is not a Polygon or a MultiPolygon",
            ),
            (
                r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}"#,
                "feature 2 has a ring that is not closed: a ring has four positions or more, and the last is the first",
            ),
        ] {
            let text = collection(&format!("{},{}", feature(&one, "{}"), feature(geometry, "{}")));
            assert_eq!(read_shapes(&text).unwrap_err().to_string(), sentence);
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut features = Features::new();
        let named = |name: &str| Map::from_iter([("name".to_owned(), json!(name))]);
        features.point(at(-122.418_912_345_678, 37.775), named("a \"point\""));
        features.point(at(190.0, 0.0), Map::new());
        // Written the wrong way around.
        let outer = vec![at(0.0, 0.0), at(0.0, 4.0), at(4.0, 4.0), at(4.0, 0.0)];
        let hole = vec![at(1.0, 1.0), at(2.0, 1.0), at(2.0, 2.0)];
        features.polygon(&[outer, hole], named("area"));
        let text = features.finish();
        let read = read_points(&text, Some("name")).unwrap();
        assert_eq!(read[0].places, Ok(vec![at(-122.418_912_3, 37.775)]));
        assert_eq!(read[0].id, Ok(Some("a \"point\"".to_owned())));
        assert_eq!(read[1].places, Ok(vec![at(-170.0, 0.0)]));
        assert_eq!(read[2].places, Err(Fault::NotAPoint));
        let shape = text.lines().nth(3).unwrap().trim_end_matches(',');
        let polygons = &read_shapes(shape).unwrap()[0];
        let [outer, hole] = polygons[0].as_slice() else { panic!("two rings") };
        assert!(area(outer) > 0.0 && area(hole) < 0.0, "against the clock and with it");
        assert_eq!(Features::new().finish().parse::<Value>().unwrap()["features"], json!([]));
    }
}
