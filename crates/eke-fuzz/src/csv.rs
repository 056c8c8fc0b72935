//! Files of rows: CSV, plain and compressed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use eke_engine::Source;
use eke_engine::geo::{PlaceColumns, PlaceFile, PlacesError};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

thread_local! {
    /// Where the files lie that are read, for as long as the thread runs.
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

/// Any bytes are a file with columns, or a refusal; so are they compressed, and it is the same one.
/// Its rows can be read to the end, whatever is in them.
pub(crate) fn read(bytes: &[u8]) {
    FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| TempDir::new().expect("a folder"));
        read_in(folder.path(), bytes);
    });
}

fn read_in(folder: &Path, bytes: &[u8]) {
    fs::write(folder.join("rows.csv"), bytes).expect("a file is written");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).expect("memory is written");
    let packed = packed.finish().expect("memory is written");
    File::create(folder.join("rows.csv.gz"))
        .and_then(|mut file| file.write_all(&packed))
        .expect("a file is written");

    let (plain, gzip) = (columns(folder, "rows.csv"), columns(folder, "rows.csv.gz"));
    assert_eq!(plain, gzip, "a compressed file has other columns");
    let Some((names, guessed)) = plain else { return };
    assert!(!names.is_empty(), "a file without columns");
    assert!(guessed.iter().flatten().all(|name| names.contains(name)), "a type of no column");

    // Its first two columns, as degrees: so all rows are read.
    if let [longitude, latitude, ..] = &names[..] {
        let columns = PlaceColumns {
            longitude: Some(longitude.clone()),
            latitude: Some(latitude.clone()),
            ..PlaceColumns::default()
        };
        let read = |name: &str| -> Result<(), PlacesError> {
            PlaceFile::open(&folder.join(name), &columns)?.check_degrees()
        };
        let (plain, gzip) = (read("rows.csv"), read("rows.csv.gz"));
        assert_eq!(plain.is_ok(), gzip.is_ok(), "the rows of a compressed file are others");
    }
}

/// The names of the columns, and of those that a type was guessed for.
fn columns(folder: &Path, name: &str) -> Option<(Vec<String>, Option<Vec<String>>)> {
    let source = Source::find(folder, name).expect("the file is there");
    let columns = source.schema(&BTreeMap::new()).ok()?;
    let names = columns.iter().map(|(name, _)| name.clone()).collect();
    let guessed = source.guess_types().ok();
    let guessed = guessed.map(|types| types.into_iter().map(|(name, _)| name).collect());
    Some((names, guessed))
}
