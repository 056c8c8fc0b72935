//! Files of places: CSV and Parquet with a longitude and a latitude in each row, and points in
//! GeoJSON.
//!
//! Every row counts, whatever it holds: a cell that is no number, and a pair of numbers that is no
//! place, is a row without a place, and the caller says what that counts as. So errors, progress
//! bars and prices can depend on the number of rows and on nothing else. Columns are found by their
//! names alone.
//!
//! There is one exception. Before accounts are opened, whose budgets are final, an error warns the
//! steward if most of the numbers cannot be degrees. No row decides this alone, and once there are
//! accounts nobody sees this error.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use eke_geo::Place;
use eke_sql::{Type, Value};

use super::geojson::{self, Fault};
use super::{PlaceColumn, PlacesError, WrongAsking};
use crate::data::ids::Ids;
use crate::data::source::{self, Fingerprint, Source};
use crate::purchase::identity::{Identity, Purpose};
use crate::rows::column::Column;
use crate::rows::quiet::quietly;
use crate::rows::scan::{self, Piece, Wanted};

/// How many rows are read at a time.
const BATCH: usize = 8192;

/// Which columns hold what, where their names are not the usual ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceColumns {
    /// Degrees to the east; `longitude`, `lon` or `lng` unless said.
    pub longitude: Option<String>,
    /// Degrees to the north; `latitude` or `lat` unless said.
    pub latitude: Option<String>,
    /// Whose place it is, if that is asked for.
    pub id: Option<String>,
    /// When it was, if that is asked for.
    pub time: Option<String>,
}

/// A file of places, of which nothing but the columns has been looked at.
#[derive(Clone, Debug)]
pub struct PlaceFile {
    name: String,
    source: Source,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Rows and columns.
    Table(Columns),
    /// Features, and the property that says whose they are.
    GeoJson { id: Option<String> },
}

/// Longitude, latitude and then the time, with the types that they are read as, and the id, which
/// is read exactly.
#[derive(Clone, Debug)]
struct Columns {
    names: Vec<(String, Type)>,
    id: Option<(String, Ids)>,
    time: Option<usize>,
}

/// A row: a place, if it is one, and whose and when, if that is asked for and there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlaceRow {
    pub(crate) place: Option<Place>,
    /// Whether there are two numbers, which cannot be degrees.
    pub(crate) is_off: bool,
    pub(crate) id: Option<String>,
    pub(crate) time: Option<Value>,
}

impl PlaceFile {
    /// Finds the columns of a file, of all files in a folder, or of those that are like a pattern.
    ///
    /// # Errors
    /// There is no such file, or it has no such columns.
    pub fn open(file: &Path, columns: &PlaceColumns) -> Result<Self, PlacesError> {
        let name = file.display().to_string();
        if is_geojson(file) {
            let source = Source::one(file)?;
            if columns.time.is_some() {
                return Err(WrongAsking::GeoJsonTimes.into());
            }
            return Ok(Self { name, source, kind: Kind::GeoJson { id: columns.id.clone() } });
        }
        let source = Source::find(Path::new(""), &name)?;
        let schema = source.schema(&BTreeMap::new())?;
        let find = |what: PlaceColumn, given: Option<&str>, usual: &[&str]| {
            let names = given.map_or_else(|| usual.to_vec(), |given| vec![given]);
            let is = |column: &str, name: &str| match given {
                Some(_) => column == name,
                None => column.trim().eq_ignore_ascii_case(name),
            };
            let found =
                names.iter().find_map(|name| schema.iter().find(|(column, _)| is(column, name)));
            found.cloned().ok_or_else(|| {
                let tried: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                PlacesError::NoColumn { file: name.clone(), what, tried: tried.join(" or ") }
            })
        };
        let mut wanted = vec![
            find(
                PlaceColumn::Longitude,
                columns.longitude.as_deref(),
                &["longitude", "lon", "lng"],
            )?,
            find(PlaceColumn::Latitude, columns.latitude.as_deref(), &["latitude", "lat"])?,
        ];
        let optional =
            |what, given: Option<&str>| given.map(|given| find(what, Some(given), &[])).transpose();
        let id = optional(PlaceColumn::Id, columns.id.as_deref())?;
        wanted.extend(optional(PlaceColumn::Time, columns.time.as_deref())?);
        let time = columns.time.as_ref().map(|_| wanted.len() - 1);
        let typed = |(at, (column, of)): (usize, (String, Option<Type>))| {
            let readable = match of {
                Some(Type::Float | Type::Text) => true,
                // Whole numbers are no degrees: a place in whole degrees is a hundred kilometres
                // wide.
                Some(_) => at >= 2,
                None => false,
            };
            let wanted = if at < 2 {
                "degrees: write degrees with their decimals, as floating-point numbers or texts"
            } else {
                "texts, numbers or times"
            };
            match of.filter(|_| readable) {
                Some(of) => Ok((column, of)),
                None => Err(PlacesError::ColumnType { file: name.clone(), column, wanted }),
            }
        };
        let exact = |id| -> Result<(String, Ids), PlacesError> {
            let (column, _) = typed((2, id))?;
            let ids = source.ids(&column, &BTreeMap::new())?;
            Ok((column, ids))
        };
        let id = id.map(exact).transpose()?;
        let names = wanted.into_iter().enumerate().map(typed).collect::<Result<_, _>>()?;
        Ok(Self { name, source, kind: Kind::Table(Columns { names, id, time }) })
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the file is now, by its content.
    pub(crate) fn fingerprint(&self) -> Result<Fingerprint, PlacesError> {
        Ok(self.source.fingerprint()?)
    }

    /// The same, without reading its content if it was not touched since.
    pub(crate) fn fingerprint_since(
        &self,
        earlier: &Fingerprint,
    ) -> Result<Fingerprint, PlacesError> {
        Ok(self.source.fingerprint_since(earlier)?)
    }

    /// Which columns are read: longitude, latitude, id and time. Of one content, other columns are
    /// other places.
    pub(crate) fn columns(&self) -> [Option<&str>; 4] {
        match &self.kind {
            Kind::Table(columns) => {
                let name = |at: usize| columns.names.get(at).map(|(name, _)| name.as_str());
                let id = columns.id.as_ref().map(|(name, _)| name.as_str());
                [name(0), name(1), id, columns.time.and_then(name)]
            }
            Kind::GeoJson { id } => [None, None, id.as_deref(), None],
        }
    }

    /// What tells these places from others: the content, and the columns that are read of it.
    pub(crate) fn identity(&self, fingerprint: &Fingerprint) -> Result<String, PlacesError> {
        let read = (&fingerprint.digest, self.columns());
        let identity = Identity::new(Purpose::PlaceFile).json(&read).hash();
        Ok(identity.map_err(super::release::damaged)?.to_string())
    }

    /// For the steward, before accounts are opened: whether most of the numbers can be degrees.
    ///
    /// # Errors
    /// They cannot, or the file cannot be read to its end.
    pub fn check_degrees(&self) -> Result<(), PlacesError> {
        self.check_rows(&self.rows(&|_| ())?)
    }

    /// The same, of rows that were read.
    pub(crate) fn check_rows(&self, rows: &[PlaceRow]) -> Result<(), PlacesError> {
        let off = rows.iter().filter(|row| row.is_off).count();
        let places = rows.iter().filter(|row| row.place.is_some()).count();
        if off > places { Err(PlacesError::NotDegrees(self.name.clone())) } else { Ok(()) }
    }

    /// How many rows there are, which is public.
    pub(crate) fn count(&self) -> Result<usize, PlacesError> {
        if let Some(rows) = self.source.rows() {
            return Ok(usize::try_from(rows).unwrap_or(usize::MAX));
        }
        Ok(self.rows(&|_| ())?.len())
    }

    /// Reads all rows in their order. The function gets the number read so far, now and then.
    ///
    /// # Errors
    /// The file cannot be read to its end.
    pub(crate) fn rows(&self, seen: &dyn Fn(u64)) -> Result<Vec<PlaceRow>, PlacesError> {
        let columns = match &self.kind {
            Kind::Table(columns) => columns,
            Kind::GeoJson { id } => return self.features(id.as_deref(), seen),
        };
        let mut rows = Vec::new();
        for piece in scan::pieces(&self.source, 1)? {
            // A damaged file may break a reader's assumptions: that is an error like others.
            let read = quietly(|| columns.read(piece, &mut rows, seen));
            if !matches!(read, Ok(Some(()))) {
                return Err(PlacesError::Damaged(self.name.clone()));
            }
        }
        Ok(rows)
    }

    /// A row for every place of every feature, and one for a feature without a place.
    fn features(&self, id: Option<&str>, seen: &dyn Fn(u64)) -> Result<Vec<PlaceRow>, PlacesError> {
        let mut rows = Vec::new();
        for file in self.source.files() {
            let mut bytes = Vec::new();
            let read = source::open(file)?.read_to_end(&mut bytes);
            read.map_err(|_| PlacesError::Damaged(self.name.clone()))?;
            // One text that is not UTF-8 takes nothing else with it.
            let (text, is_damaged) = match String::from_utf8(bytes) {
                Ok(text) => (text, false),
                Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
            };
            let is_whole = |id: &String| !is_damaged || !id.contains(char::REPLACEMENT_CHARACTER);
            let unread = |error| PlacesError::GeoJson { file: self.name.clone(), error };
            for feature in geojson::read_points(&text, id).map_err(unread)? {
                let id = feature.id.ok().flatten().filter(is_whole);
                let is_off = feature.places == Err(Fault::OffTheEarth);
                let places = feature.places.unwrap_or_default();
                let row = |place| PlaceRow { place, is_off, id: id.clone(), time: None };
                if places.is_empty() {
                    rows.push(row(None));
                }
                rows.extend(places.into_iter().map(|place| row(Some(place))));
            }
        }
        seen(rows.len() as u64);
        Ok(rows)
    }
}

impl Columns {
    fn read(&self, piece: Piece, rows: &mut Vec<PlaceRow>, seen: &dyn Fn(u64)) -> Option<()> {
        let wanted = Wanted { columns: self.names.clone(), unit: self.id.clone() };
        for batch in scan::open_plain(piece, &wanted, BATCH).ok()? {
            let (columns, count) = batch.ok()?;
            let ids = columns.last().filter(|_| self.id.is_some());
            let degrees = |at: usize| match columns[at].clone().cast(Type::Float) {
                Column::Float(degrees) => Some(degrees),
                _ => None,
            };
            let (longitudes, latitudes) = (degrees(0)?, degrees(1)?);
            let value = |at: Option<usize>, row: usize| at.map(|at| columns[at].value(row));
            for (row, (longitude, latitude)) in longitudes.iter().zip(&latitudes).enumerate() {
                let numbers = longitude.zip(latitude);
                let place =
                    numbers.and_then(|(longitude, latitude)| Place::new(longitude, latitude).ok());
                let is_off = numbers.is_some() && place.is_none();
                let id = ids.map(|ids| ids.value(row)).and_then(text);
                rows.push(PlaceRow { place, is_off, id, time: value(self.time, row) });
            }
            debug_assert_eq!(longitudes.len(), count, "columns of one batch");
            seen(rows.len() as u64);
        }
        Some(())
    }
}

fn is_geojson(file: &Path) -> bool {
    let name =
        file.file_name().map_or_else(String::new, |name| name.to_string_lossy().to_lowercase());
    [".geojson", ".json", ".geojson.gz"].iter().any(|end| name.ends_with(end))
}

/// Whose it is, as text; none if nobody is named.
fn text(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Text(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Int(number) | Value::Timestamp(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Date(days) => Some(days.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> tempfile::TempPath {
        let file = tempfile::Builder::new().suffix(name).tempfile().unwrap().into_temp_path();
        std::fs::write(&file, text).unwrap();
        file
    }

    #[test]
    fn every_row_counts_whatever_it_holds() {
        let places = file(
            "rows.csv",
            "who, Lon ,LAT\nada,-122.41,37.808\nbob,abc,37.8\n,-122.4\neve,37.8,-122.4\n7,1,2,3\n",
        );
        let columns = PlaceColumns { id: Some("who".into()), ..PlaceColumns::default() };
        let places = PlaceFile::open(&places, &columns).unwrap();
        let rows = places.rows(&|_| ()).unwrap();
        let found: Vec<(Option<&str>, bool)> =
            rows.iter().map(|row| (row.id.as_deref(), row.place.is_some())).collect();
        let expected = [
            (Some("ada"), true),
            (Some("bob"), false),
            (None, false),
            (Some("eve"), false),
            (Some("7"), true),
        ];
        assert_eq!(found, expected);
        assert_eq!(rows[0].place, Some(Place::new(-122.41, 37.808).unwrap()));
    }

    /// Integers in 1e-5 degrees, metres of a national grid, latitude before longitude by mistake in
    /// most rows: refused. One such row among others is a row like others.
    #[test]
    fn numbers_that_cannot_be_degrees_are_found_by_most_rows_and_not_by_one() {
        let check = |name: &str, text: &str| {
            let places = file(name, text);
            let places = PlaceFile::open(&places, &PlaceColumns::default()).unwrap();
            places.check_degrees().map_err(|error| error.to_string())
        };
        let wrong = "lon,lat\n490000,5237000\n490100,5237100\n4.9,52.37\n";
        let error = check("whole.csv", wrong).unwrap_err();
        assert!(error.contains("cannot be degrees") && !error.contains("49"), "{error}");
        for right in [
            "lon,lat\n4.9,52.37\n490100,5237100\n",
            "lon,lat\n4,52\n5,53\n490100,5237100\n",
            "lon,lat\n,\nabc,\n,\n",
            "lon,lat\n",
        ] {
            check("right.csv", right).unwrap();
        }
        let point = |at: &str| {
            let geometry = format!(r#"{{"type":"Point","coordinates":{at}}}"#);
            format!(
                r#"{{"type":"FeatureCollection","features":[{{"type":"Feature","properties":{{}},"geometry":{geometry}}}]}}"#
            )
        };
        assert!(check("metres.geojson", &point("[121000,487000]")).is_err());
        check("degrees.geojson", &point("[4.9,52.37]")).unwrap();
        check("nowhere.geojson", &point("[]")).unwrap();
    }

    #[test]
    fn points_of_geojson_are_rows_like_others() {
        let places = file(
            "points.geojson",
            r#"{"type":"FeatureCollection","features":[
                {"type":"Feature","properties":{"who":"ada"},"geometry":{"type":"Point","coordinates":[-122.41,37.808]}},
                {"type":"Feature","properties":{"who":7},"geometry":{"type":"Point","coordinates":[37.8,-122.4]}},
                {"type":"Feature","properties":null,"geometry":null},
                {"type":"Feature","properties":{},"geometry":{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}}]}"#,
        );
        let columns = PlaceColumns { id: Some("who".into()), ..PlaceColumns::default() };
        let file = PlaceFile::open(&places, &columns).unwrap();
        let rows = file.rows(&|_| ()).unwrap();
        let found: Vec<(Option<&str>, bool)> =
            rows.iter().map(|row| (row.id.as_deref(), row.place.is_some())).collect();
        let expected =
            [(Some("ada"), true), (Some("7"), false), (None, false), (None, true), (None, true)];
        assert_eq!((found, file.count().unwrap()), (expected.to_vec(), 5));
        assert!(file.fingerprint().is_ok());
    }

    /// Ids that are not UTF-8 are nobody's: those of two people would be one.
    #[test]
    fn a_text_that_is_no_text_takes_nothing_else_with_it() {
        let path = file("bytes.geojson", "");
        let feature = |who: &[u8]| {
            let (start, end) = (
                br#"{"type":"Feature","properties":{"who":""#.as_slice(),
                br#""},"geometry":{"type":"Point","coordinates":[4.1,52.1]}}"#.as_slice(),
            );
            [start, who, end].concat()
        };
        let features = [feature(b"ada"), feature(b"b\xffb"), feature(b"b\xfeb")].join(&b',');
        let start = br#"{"type":"FeatureCollection","features":["#.as_slice();
        std::fs::write(&path, [start, features.as_slice(), b"]}".as_slice()].concat()).unwrap();
        let columns = PlaceColumns { id: Some("who".into()), ..PlaceColumns::default() };
        let rows = PlaceFile::open(&path, &columns).unwrap().rows(&|_| ()).unwrap();
        let ids: Vec<Option<&str>> = rows.iter().map(|row| row.id.as_deref()).collect();
        assert_eq!(ids, [Some("ada"), None, None]);
        assert!(rows.iter().all(|row| row.place.is_some()));
    }

    #[test]
    fn other_columns_are_other_places() {
        let places = file("both.csv", "id,who,at,lon,lat,x,y\na,b,1,2,3,4,5\n");
        let identity = |columns: [Option<&str>; 4]| {
            let [longitude, latitude, id, time] = columns.map(|name| name.map(str::to_owned));
            let columns = PlaceColumns { longitude, latitude, id, time };
            let places = PlaceFile::open(&places, &columns).unwrap();
            places.identity(&places.fingerprint().unwrap()).unwrap()
        };
        let usual = identity([None, None, Some("id"), None]);
        assert_eq!(usual, identity([Some("lon"), Some("lat"), Some("id"), None]));
        for other in [
            [Some("x"), None, Some("id"), None],
            [None, Some("y"), Some("id"), None],
            [None, None, Some("who"), None],
            [None, None, None, None],
            [None, None, Some("id"), Some("at")],
            [Some("lat"), Some("lon"), Some("id"), None],
        ] {
            assert_ne!(usual, identity(other), "{other:?}");
        }
    }

    #[test]
    fn columns_that_are_not_there_are_named() {
        let places = file("columns.csv", "x,y\n1,2\n");
        let error = PlaceFile::open(&places, &PlaceColumns::default()).unwrap_err().to_string();
        let end = "has no column `longitude` or `lon` or `lng`: say which one it is";
        assert!(error.ends_with(end), "{error}");
        let columns = PlaceColumns {
            longitude: Some("x".into()),
            latitude: Some("y".into()),
            ..PlaceColumns::default()
        };
        assert_eq!(PlaceFile::open(&places, &columns).unwrap().rows(&|_| ()).unwrap().len(), 1);
        let columns = PlaceColumns { id: Some("who".into()), ..columns };
        let error = PlaceFile::open(&places, &columns).unwrap_err().to_string();
        assert!(error.ends_with("has no column `who`: say which one it is"), "{error}");
    }
}
