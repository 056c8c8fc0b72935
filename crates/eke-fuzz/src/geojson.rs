//! GeoJSON: points and polygons.

use eke_engine::geo::{Features, read_points, read_shapes};
use eke_geo::Place;
use serde_json::Map;

/// Features are read or refused by number, and those that are written are read as the same places.
pub(crate) fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(found) = read_points(text, Some("id")) {
        let places: Vec<_> = found.iter().flat_map(|one| one.places.iter().flatten()).collect();
        let mut features = Features::new();
        for &&place in &places {
            features.point(place, Map::new());
        }
        let again = read_points(&features.finish(), None).expect("what was written is read");
        let again: Vec<_> = again.iter().flat_map(|one| one.places.iter().flatten()).collect();
        assert_eq!(again, places, "places are read as others");
    }
    if let Ok(shapes) = read_shapes(text) {
        let polygons: Vec<_> = shapes.iter().flatten().collect();
        let mut features = Features::new();
        for rings in &polygons {
            features.polygon(rings, Map::new());
        }
        let again = read_shapes(&features.finish()).expect("what was written is read");
        let again: Vec<_> = again.iter().flatten().collect();
        assert_eq!(again.len(), polygons.len(), "polygons are lost or made");
        for (again, polygon) in again.iter().zip(polygons) {
            let is_same = again.len() == polygon.len() && again.iter().zip(polygon).all(same_ring);
            assert!(is_same, "{polygon:?} is read as {again:?}");
        }
    }
}

/// Whether two rings are the same, but for the way round that they are written in.
fn same_ring((one, other): (&Vec<Place>, &Vec<Place>)) -> bool {
    one == other || one.iter().eq(other.iter().rev())
}
