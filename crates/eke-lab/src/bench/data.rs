//! What is worked on: the same for everybody, decided by a seed, in files that every language
//! reads.
//!
//! Integers and doubles lie as eight bytes each, the lowest first. `trips.csv` has a row a trip,
//! and `truth.csv` the trips by city. Nobody has more cities or more rows in one than the work
//! allows, so that bounding takes nothing away and everybody counts the same.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use eke_budget::{Amount, Rho};
use eke_testkit::Seeded;
use tempfile::TempDir;

use super::events::Events;
use super::work::{CATEGORIES, CITIES, MAX_GROUPS, Sizes, Task, charge};

/// The data, and the folder it lies in; the folder goes with it.
pub struct Data {
    folder: TempDir,
    /// Numbers that get noise.
    pub integers: Vec<i64>,
    /// Places, in metres.
    pub places: Vec<[i64; 2]>,
    /// Budgets to convert.
    pub rhos: Vec<f64>,
    /// Prices to add up.
    pub charges: Vec<Amount<Rho>>,
    /// Candidates' scores.
    pub scores: Vec<i64>,
    /// Users' categories.
    pub categories: Vec<u32>,
    /// Trips by city.
    pub trips: Vec<i64>,
    /// Rows that are bounded, by the name of the work.
    events: BTreeMap<&'static str, Events>,
}

impl Data {
    /// Makes it, in a new folder of the system's for scratch.
    ///
    /// # Errors
    /// The folder or a file could not be written.
    pub fn new(sizes: &Sizes) -> Result<Self, Box<dyn Error>> {
        let mut data = Self {
            folder: tempfile::tempdir()?,
            integers: Vec::new(),
            places: Vec::new(),
            rhos: Vec::new(),
            charges: Vec::new(),
            scores: Vec::new(),
            categories: Vec::new(),
            trips: vec![0; CITIES as usize],
            events: BTreeMap::new(),
        };
        data.fill(sizes)?;
        Ok(data)
    }

    /// Finds the rows that a piece of work bounds in a folder, or makes them there.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn find_events(&mut self, task: &Task, folder: &Path) -> Result<(), Box<dyn Error>> {
        if let Some(sizes) = task.events {
            self.events.insert(task.work.name(), Events::find(sizes, folder)?);
        }
        Ok(())
    }

    /// The rows that a piece of work bounds; none of other work.
    #[must_use]
    pub fn events(&self, task: &Task) -> Option<&Events> {
        self.events.get(task.work.name())
    }

    /// Where the files are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A city's name.
    #[must_use]
    pub fn city(number: u32) -> String {
        format!("city {number}")
    }

    fn fill(&mut self, sizes: &Sizes) -> Result<(), Box<dyn Error>> {
        let mut seeded = Seeded::new(20_000);
        let mut below = |most: u32| seeded.word() % u64::from(most);
        let integer = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        for _ in 0..sizes.integers {
            self.integers.push(integer(below(1_000_000)));
            self.places.push([integer(below(100_000)), integer(below(100_000))]);
        }
        // From 1e-4 to 1, evenly in their logarithms.
        self.rhos = (0..sizes.rhos).map(|_| 10f64.powf(-4.0 * portion(below(10_000)))).collect();
        // Together 0.1, some of them nine times others.
        let share = 0.1 / f64::from(sizes.charges);
        let charges: Vec<f64> =
            (0..sizes.charges).map(|_| share * (0.2 + 1.6 * portion(below(10_000)))).collect();
        self.charges = charges.iter().map(|&rho| charge(rho)).collect::<Result<_, _>>()?;
        self.scores = (0..sizes.candidates).map(|_| integer(below(10_000))).collect();
        for _ in 0..sizes.users {
            // Small numbers are held more often.
            let category = below(CATEGORIES).min(below(CATEGORIES));
            self.categories.push(u32::try_from(category)?);
        }
        let mut trips = BufWriter::new(File::create(self.folder().join("trips.csv"))?);
        writeln!(trips, "who,city")?;
        for _ in 0..sizes.rows {
            let who = below(sizes.people());
            let city = u32::try_from((who * 7 + below(MAX_GROUPS)) % u64::from(CITIES))?;
            self.trips[city as usize] += 1;
            writeln!(trips, "{who},{}", Self::city(city))?;
        }
        trips.flush()?;
        let mut truth = BufWriter::new(File::create(self.folder().join("truth.csv"))?);
        writeln!(truth, "city,trips")?;
        for (city, trips) in (0..).zip(&self.trips) {
            writeln!(truth, "{},{trips}", Self::city(city))?;
        }
        truth.flush()?;
        self.write("integers", self.integers.iter().map(|number| number.to_le_bytes()))?;
        self.write("east", self.places.iter().map(|place| place[0].to_le_bytes()))?;
        self.write("north", self.places.iter().map(|place| place[1].to_le_bytes()))?;
        self.write("rhos", self.rhos.iter().map(|rho| rho.to_le_bytes()))?;
        self.write("charges", charges.iter().map(|rho| rho.to_le_bytes()))?;
        self.write("scores", self.scores.iter().map(|score| score.to_le_bytes()))?;
        self.write("categories", self.categories.iter().map(|&of| i64::from(of).to_le_bytes()))?;
        Ok(())
    }

    fn write(&self, name: &str, words: impl Iterator<Item = [u8; 8]>) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(self.folder().join(name))?);
        for word in words {
            file.write_all(&word)?;
        }
        file.flush()
    }
}

/// Of ten thousand.
fn portion(number: u64) -> f64 {
    number as f64 / 10_000.0
}
