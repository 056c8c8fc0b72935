//! What is stored, and read back by later versions: devices, paths, bundles, plans, journals.

use eke_budget::account::Purse;
use eke_budget::columns::{ColumnReader, ColumnWriter};
use eke_budget::{Account, Amount, Budget, Entry, Epsilon, L1, PathId, Rho};
use eke_ledger::item::{read_plan, write_plan};
use eke_ledger::journal::Line;
use eke_ledger::{Anchor, Digest};
use eke_local::{Device, MemoryStorage, Storage};
use eke_noise::path::{Column, MsdlapPath};
use eke_noise::{Bundle, CategoryPath, GaussianPath, GeometricPath, LaplacePath, SkellamPath};
use eke_sql::Query;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The first byte, a letter, says what the rest is. What is damaged is refused; everything else is
/// written as it was read.
pub(crate) fn read(bytes: &[u8]) {
    let Some((&what, bytes)) = bytes.split_first() else { return };
    match what {
        b'a' => again::<GaussianPath>(bytes),
        b'b' => again::<GaussianPath<Vec<i64>>>(bytes),
        b'c' => again::<GeometricPath>(bytes),
        b'd' => again::<LaplacePath>(bytes),
        b'e' => again::<SkellamPath>(bytes),
        b'f' => again::<MsdlapPath>(bytes),
        b'g' => again::<CategoryPath>(bytes),
        b'h' => again::<Bundle<Rho>>(bytes),
        b'i' => again::<Bundle<Epsilon>>(bytes),
        b'j' => again::<Query>(bytes),
        b'k' => again::<Line>(bytes),
        b'l' => again::<Budget>(bytes),
        b'm' => read_history(bytes),
        b'n' => read_groups(bytes),
        b'o' => read_name::<Anchor>(bytes),
        b'p' => read_name::<Digest>(bytes),
        b'q' => read_name::<PathId>(bytes),
        b'r' => read_more(bytes),
        #[cfg(feature = "engine")]
        b's' => read_paths(bytes),
        _ => {}
    }
}

/// What is stored of a device hangs together, or is no device. Its digest is made to fit: otherwise
/// no change would get beyond it.
pub(crate) fn read_device(body: &[u8]) {
    let mut hasher = blake3::Hasher::new_derive_key("eke device 1: what is stored");
    let digest = *hasher.update(body).finalize().as_bytes();
    let bytes = [b"eke device\x01", &digest[..], body].concat();
    let mut storage = MemoryStorage::new();
    storage.store(&bytes).expect("memory stores");
    let Ok(device) = Device::open(storage) else { return };
    let before = standing(&device);
    let device = Device::open(device.close()).expect("a device that was opened is opened again");
    assert_eq!(standing(&device), before, "a device is opened as another one");
}

/// How often it was stored, and what it has spent, which is within its budget.
fn standing(device: &Device<MemoryStorage>) -> (u64, Option<Amount<Epsilon>>, Option<Amount<Rho>>) {
    let odometer = device.odometer();
    if let Some(purse) = odometer.pure() {
        assert!(purse.spent() <= purse.budget(), "more is spent than there was");
    }
    if let Some(purse) = odometer.zcdp() {
        assert!(purse.spent() <= purse.budget(), "more is spent than there was");
    }
    (device.generation(), odometer.pure().map(Purse::spent), odometer.zcdp().map(Purse::spent))
}

fn again<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    if let Ok(value) = serde_json::from_slice::<T>(bytes) {
        crate::rewritten(&value);
    }
}

/// A history is an account that has spent no more than its budget, or none.
fn read_history(bytes: &[u8]) {
    let Ok(history) = serde_json::from_slice::<Vec<Entry>>(bytes) else { return };
    let Ok(account) = Account::replay(&history) else { return };
    let standing = account.standing();
    let restored = Account::restore(&standing).expect("an account that stands is restored");
    assert_eq!(restored.standing(), standing, "an account is restored as another one");
}

/// The groups of a round: twenty bytes each, or in columns, of which there is one form.
fn read_groups(bytes: &[u8]) {
    let Some(groups) = read_plan::<Rho>(bytes) else { return };
    if bytes.len().is_multiple_of(20) {
        assert_eq!(groups.len(), bytes.len() / 20, "groups are missing");
    } else {
        assert_eq!(write_plan(&groups), bytes, "a plan is written as another one");
    }
    assert_eq!(read_plan(&write_plan(&groups)), Some(groups), "a plan is read as another one");
}

/// What was added to a bundle is written as it was read, and the bundle is one that is read.
fn read_more(bytes: &[u8]) {
    let column = |sensitivity| {
        let sensitivity = L1::new(sensitivity).expect("a sensitivity");
        Column { sensitivity, share: 1 }
    };
    let columns = vec![column(1.0), column(32.0)];
    let mut bundle =
        Bundle::<Rho>::open(PathId::new([7; 32]), columns, 5).expect("columns with shares");
    let mut from = ColumnReader::new(bytes);
    if bundle.add(&mut from).is_err() {
        return;
    }
    let mut to = ColumnWriter::new();
    bundle.write_since(0, &mut to);
    let read = &bytes[..bytes.len() - from.rest().len()];
    assert_eq!(to.into_bytes(), read, "a bundle is written as another one");
    crate::rewritten(&bundle);
}

/// What is stored of a question's paths is written as it was read: heads, rounds and answers, by
/// the first byte. Their digest is made to fit.
#[cfg(feature = "engine")]
fn read_paths(bytes: &[u8]) {
    let Some((&form, columns)) = bytes.split_first() else { return };
    if let Some(again) = eke_engine::ask::rewritten(form, columns) {
        assert!(again.ends_with(columns), "what is stored of paths is written as something else");
    }
}

/// A name that is read is printed as it was written, or in one other way that stays the same.
fn read_name<T: std::str::FromStr + ToString>(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(name) = text.parse::<T>() else { return };
    let written = name.to_string();
    let Ok(read) = written.parse::<T>() else { panic!("`{written}` is not read") };
    assert_eq!(read.to_string(), written, "a name is read as another one");
}
