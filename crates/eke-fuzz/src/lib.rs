//! What eke reads from others, as functions of bytes that panic if a promise is broken.
//!
//! Every target reads any bytes. They are refused, or they are read; and what was read, written and
//! read again is the same. `scripts/fuzz` looks for bytes that break this, by coverage; the tests
//! of this crate try each target's corpus and a fixed number of mutants of it.
//!
//! ```
//! let target = eke_fuzz::target("sql").expect("there is one");
//! target.read(b"SELECT COUNT(*) FROM trips");
//! target.read(b"SELECT \xff");
//! ```

#[cfg(feature = "engine")]
mod csv;
#[cfg(feature = "engine")]
mod geojson;
#[cfg(feature = "engine")]
mod policy;
mod sql;
mod stored;
mod wire;

/// Something that reads bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// What it is called: the name of its corpus and of its fuzz target.
    pub name: &'static str,
    read: fn(&[u8]),
}

impl Target {
    /// Reads bytes.
    ///
    /// # Panics
    /// A promise is broken.
    pub fn read(&self, bytes: &[u8]) {
        (self.read)(bytes);
    }
}

/// Every target there is.
pub const TARGETS: &[Target] = &[
    Target { name: "sql", read: sql::read },
    Target { name: "wire", read: wire::read },
    Target { name: "request", read: wire::read_request },
    Target { name: "device", read: stored::read_device },
    Target { name: "stored", read: stored::read },
    #[cfg(feature = "engine")]
    Target { name: "policy", read: policy::read },
    #[cfg(feature = "engine")]
    Target { name: "registry", read: policy::read_registry },
    #[cfg(feature = "engine")]
    Target { name: "geojson", read: geojson::read },
    #[cfg(feature = "engine")]
    Target { name: "csv", read: csv::read },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// That what was read can be written, and that reading it again gives the same. The text is handed
/// back.
fn rewritten<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> String {
    let written = serde_json::to_string(value).expect("what was read is written");
    let read: T = serde_json::from_str(&written).expect("what was written is read");
    let again = serde_json::to_string(&read).expect("what was read is written");
    assert_eq!(again, written, "what was written is read as something else");
    written
}
