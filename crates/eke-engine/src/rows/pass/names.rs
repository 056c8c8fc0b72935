//! Names: the bytes that units and groups are known by, short ones as they are and long ones by
//! number.

use std::hash::BuildHasher;
use std::mem::size_of;

use hashbrown::{DefaultHashBuilder, HashTable};

/// What tables are looked up by. Its seed is random, and nothing that comes out depends on it.
pub(crate) type TableHash = DefaultHashBuilder;

/// The bytes of a short name, which end with their number; or a number that [`Names`] knows.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(8))]
pub(crate) struct Name([u8; 16]);

/// How many bytes a short name has at most.
const SHORT: usize = 15;
/// What a long name ends with.
const LONG: u8 = 0xff;

impl Name {
    fn short(bytes: &[u8]) -> Option<Self> {
        let mut name = [0; 16];
        name[..SHORT].get_mut(..bytes.len())?.copy_from_slice(bytes);
        name[SHORT] = u8::try_from(bytes.len()).ok()?;
        Some(Self(name))
    }

    fn long(number: u32) -> Self {
        let mut name = [0; 16];
        name[..4].copy_from_slice(&number.to_le_bytes());
        name[SHORT] = LONG;
        Self(name)
    }

    /// The number of a long name.
    fn number(&self) -> Option<usize> {
        let number = u32::from_le_bytes([self.0[0], self.0[1], self.0[2], self.0[3]]);
        (self.0[SHORT] == LONG).then_some(number as usize)
    }
}

/// The long names that are used, each once.
pub(crate) struct Names {
    hash: TableHash,
    numbers: HashTable<u32>,
    long: Vec<Long>,
    free: Vec<u32>,
    bytes: Vec<u8>,
    /// How many bytes are no name's any more.
    unused: usize,
}

#[derive(Clone, Copy)]
struct Long {
    start: usize,
    length: usize,
    uses: u32,
}

impl Names {
    pub(crate) fn new(hash: TableHash) -> Self {
        Self {
            hash,
            numbers: HashTable::new(),
            long: Vec::new(),
            free: Vec::new(),
            bytes: Vec::new(),
            unused: 0,
        }
    }

    /// The bytes of a name.
    pub(crate) fn bytes<'a>(&'a self, name: &'a Name) -> &'a [u8] {
        match name.number() {
            Some(number) => self.long_bytes(number),
            None => &name.0[..usize::from(name.0[SHORT])],
        }
    }

    fn long_bytes(&self, number: usize) -> &[u8] {
        let Long { start, length, .. } = self.long[number];
        &self.bytes[start..start + length]
    }

    /// The name that has these bytes, for one more use; none if there are more than can be
    /// numbered.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Option<Name> {
        if let Some(name) = Name::short(bytes) {
            return Some(name);
        }
        let hash = self.hash.hash_one(bytes);
        let found = self.numbers.find(hash, |&number| self.long_bytes(number as usize) == bytes);
        if let Some(&number) = found {
            self.long[number as usize].uses += 1;
            return Some(Name::long(number));
        }
        let long = Long { start: self.bytes.len(), length: bytes.len(), uses: 1 };
        self.bytes.extend_from_slice(bytes);
        let number = if let Some(number) = self.free.pop() {
            self.long[number as usize] = long;
            number
        } else {
            self.long.push(long);
            u32::try_from(self.long.len() - 1).ok()?
        };
        let (hash_of, long, text) = (&self.hash, &self.long, &self.bytes);
        self.numbers.insert_unique(hash, number, |&number| {
            let Long { start, length, .. } = long[number as usize];
            hash_of.hash_one(&text[start..start + length])
        });
        Some(Name::long(number))
    }

    /// One use of a name less; with the last one it goes.
    pub(crate) fn release(&mut self, name: Name) {
        let Some(number) = name.number() else { return };
        self.long[number].uses -= 1;
        if self.long[number].uses > 0 {
            return;
        }
        let hash = self.hash.hash_one(self.long_bytes(number));
        let entry = self.numbers.find_entry(hash, |&other| other as usize == number);
        if let Ok(entry) = entry {
            let (number, _) = entry.remove();
            self.free.push(number);
        }
        self.unused += self.long[number].length;
        if self.unused > 4096 + self.bytes.len() / 2 {
            self.compact();
        }
    }

    /// Lets go of bytes that are no name's.
    fn compact(&mut self) {
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.unused);
        for long in self.long.iter_mut().filter(|long| long.uses > 0) {
            let start = bytes.len();
            bytes.extend_from_slice(&self.bytes[long.start..long.start + long.length]);
            long.start = start;
        }
        self.bytes = bytes;
        self.unused = 0;
    }

    /// How many bytes of memory this holds.
    pub(crate) fn held(&self) -> usize {
        self.numbers.allocation_size()
            + self.long.capacity() * size_of::<Long>()
            + self.free.capacity() * 4
            + self.bytes.capacity()
    }
}

/// Names that are there for good, each with a number.
pub(crate) struct NameTable {
    hash: TableHash,
    numbers: HashTable<(Name, u32)>,
    list: Vec<Name>,
    names: Names,
}

impl NameTable {
    pub(crate) fn new(hash: TableHash) -> Self {
        let names = Names::new(hash.clone());
        Self { hash, numbers: HashTable::new(), list: Vec::new(), names }
    }

    /// The hash that names are looked up by.
    pub(crate) fn hash(&self, bytes: &[u8]) -> u64 {
        self.hash.hash_one(bytes)
    }

    /// The number of a name with this hash, which is the next one if it is new; none if there are
    /// more than can be numbered.
    #[inline]
    pub(crate) fn number(&mut self, hash: u64, bytes: &[u8]) -> Option<usize> {
        let found = match Name::short(bytes) {
            Some(name) => self.numbers.find(hash, |(other, _)| *other == name),
            None => self.numbers.find(hash, |(other, _)| self.names.bytes(other) == bytes),
        };
        match found {
            Some(&(_, number)) => Some(number as usize),
            None => self.add(hash, bytes),
        }
    }

    /// The number of a name; none if it is not there.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<usize> {
        let is_it = |(other, _): &(Name, u32)| self.names.bytes(other) == bytes;
        self.numbers.find(self.hash(bytes), is_it).map(|&(_, number)| number as usize)
    }

    #[cold]
    fn add(&mut self, hash: u64, bytes: &[u8]) -> Option<usize> {
        let number = u32::try_from(self.list.len()).ok()?;
        let name = self.names.take(bytes)?;
        let (names, hash_of) = (&self.names, &self.hash);
        let hash_of = |(name, _): &(Name, u32)| hash_of.hash_one(names.bytes(name));
        self.numbers.insert_unique(hash, (name, number), hash_of);
        self.list.push(name);
        Some(number as usize)
    }

    pub(crate) fn bytes(&self, number: usize) -> &[u8] {
        self.names.bytes(&self.list[number])
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// How many bytes of memory this holds.
    pub(crate) fn held(&self) -> usize {
        let list = self.list.capacity() * size_of::<Name>();
        self.numbers.allocation_size() + list + self.names.held()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_their_bytes_and_go_with_their_last_use() {
        let mut names = Names::new(TableHash::default());
        let texts: Vec<Vec<u8>> = (0..40).map(|length| vec![7; length]).collect();
        let taken: Vec<Name> = texts.iter().map(|text| names.take(text).unwrap()).collect();
        for (text, name) in texts.iter().zip(&taken) {
            assert_eq!(names.bytes(name), text);
            assert!(names.take(text).unwrap() == *name);
        }
        // A short name that looks like the number of a long one is another.
        assert!(names.take(&[0; 4]).unwrap() != taken[16]);
        for _ in 0..2 {
            taken.iter().for_each(|name| names.release(*name));
        }
        assert_eq!((names.numbers.len(), names.free.len()), (0, 24));
        // Numbers and bytes are used again.
        for round in 0..10_000u32 {
            let text = [&round.to_le_bytes()[..], &[1; 60]].concat();
            let name = names.take(&text).unwrap();
            assert_eq!(names.bytes(&name), text);
            names.release(name);
        }
        assert!(names.long.len() == 24 && names.bytes.len() < 16_384, "{}", names.bytes.len());
    }
}
