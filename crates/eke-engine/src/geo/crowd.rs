//! Questions to many people about where they are: how many are in an area, how dense they are
//! somewhere, who is nearest.
//!
//! The order of one question: everybody's allowance is reserved on disk; people are asked in
//! memory, out of exactly what was reserved; what they have spent, what was released of their
//! places and the answer are stored together; and only then is the answer shown. Nothing that is
//! shown, an error or a price depends on anybody's place but through what was released.

use eke_budget::account::Sheet;
use eke_budget::{Amount, Metres, Rho};
use eke_geo::crowd::{CrowdError, Seen, Way};
use eke_geo::shape::Rings;
use eke_geo::{
    Allowance, Crowd, Lattice, Place, Plan, Shape, Spending, count, density, neighbours,
};
use eke_ledger::register::{Reserved, Settled};
use eke_ledger::{Digest, Stamp};
use serde::{Deserialize, Serialize};

use super::people::{People, PeopleStanding};
use super::release::{damaged, entropy};
use super::{PlaceFile, PlacesError, WrongAsking};

/// People who have less than one part in this many of an allowance left are not asked: their answer
/// would hardly be heard through the noise.
const LEAST_PART: u128 = 100;

/// A longer area is named by its digest in the text of a question, in bytes.
const LONGEST_AREA: usize = 1_000;

/// An area that people are counted in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// Polygons with holes, whose edges are straight on the plane of the region.
    Polygons(Vec<Rings<Place>>),
    /// All within a radius of a place.
    Circle(Place, Metres),
    /// West, south, east and north, in degrees: the corners of a polygon.
    Box([f64; 4]),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrowdQuestion {
    /// How many are in an area.
    Count(Area),
    /// How many there are around a place, each weighted by a bell curve of their distance.
    Density {
        /// Where.
        at: Place,
        /// The deviation of the bell curve.
        bandwidth: Metres,
    },
    /// Who is nearest to a place.
    Neighbours {
        /// Which place.
        to: Place,
        /// How many of them.
        k: usize,
    },
}

/// A question with what it may cost, and how people are asked.
#[derive(Clone, Debug, PartialEq)]
pub struct CrowdAsking {
    /// What is asked.
    pub question: CrowdQuestion,
    /// What it may cost everybody, rho per square metre.
    pub allowance: Amount<Rho>,
    /// How people are asked.
    pub plan: Plan,
    /// What the places are called; as the file is unless said. Places that have changed have
    /// another name.
    pub snapshot: Option<String>,
    /// What people who are new may spend, for good.
    pub budget: Option<Amount<Rho>>,
}

/// A number, and what it is within.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrowdEstimate {
    /// The number.
    pub value: f64,
    /// How far noise moves it, as a standard deviation.
    pub deviation: f64,
    /// What it is between with 95 %: for a count, where people close to the boundary are as often
    /// inside as outside; none where noise also shifts the number by an amount that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// What the truth is between wherever people are, except with the plan's probability of a miss;
    /// none where nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
}

/// What part of their allowance people kept, or of what they had left if that was less; nothing of
/// nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Savings {
    /// The mean.
    pub mean: f64,
    /// What a quarter of them kept no more than.
    pub quarter: f64,
    /// What half of them kept no more than.
    pub half: f64,
    /// What three quarters of them kept no more than.
    pub three_quarters: f64,
    /// How many people kept up to a tenth, up to two tenths, and so on.
    pub tenths: [u32; 10],
}

/// Somebody who is near.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// Their id.
    pub id: String,
    /// How far away they seem to be, in metres. Those who seem nearest tend to be further away than
    /// they seem.
    pub distance: f64,
    /// What their distance is between, in metres: for all who are named at once, but with the
    /// plan's probability of a miss; none in answers from before this was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<[f64; 2]>,
}

/// A round, and how many people were asked in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrowdRound {
    /// How many were asked.
    pub asked: u32,
    /// How many were asked no more after it.
    pub stopped: u32,
}

/// What people answered, all together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrowdAnswer {
    /// What was asked.
    pub question: CrowdQuestion,
    /// The number, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<CrowdEstimate>,
    /// Who is nearest, if that was asked, the nearest first; fewer than were asked for if fewer
    /// were heard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Near>,
    /// How many others may be as near as the furthest of these, if that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rivals: Option<u32>,
    /// How many people were asked.
    pub people: u32,
    /// How many had less left than the allowance.
    pub short: u32,
    /// What it could have cost everybody, rho per square metre.
    pub allowance: f64,
    /// What it cost people on average.
    pub cost: f64,
    /// What they kept of the allowance.
    pub saved: Savings,
    /// Round by round.
    pub rounds: Vec<CrowdRound>,
}

/// An answer, and how accounts stand after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrowdAnswered {
    /// What people answered.
    #[serde(flatten)]
    pub answer: CrowdAnswer,
    /// Whether it was answered before, and cost nothing now.
    pub free: bool,
    /// What everybody has left.
    pub left: PeopleStanding,
}

impl People {
    /// Asks everybody who is enrolled. People whom the file names are enrolled first, if they are
    /// not yet. The function gets the number of rows read so far.
    ///
    /// # Errors
    /// Nobody has anything left, or something does not work; the error says what. Nothing in it
    /// depends on anybody's place.
    pub fn ask(
        &mut self,
        file: &PlaceFile,
        asking: &CrowdAsking,
        seen: &dyn Fn(u64),
    ) -> Result<CrowdAnswered, PlacesError> {
        let lattice = *self.lattice();
        let target = Target::of(&lattice, &asking.question)?;
        let fingerprint = file.fingerprint()?;
        let dataset = asking.snapshot.as_deref().unwrap_or(file.name());
        let question = text(asking)?;
        // Whatever is refused is refused before anybody gets an account, which is for good.
        self.check_same(dataset, &file.identity(&fingerprint)?)?;
        let everyone = self.everyone(file, asking.budget, seen, |people| {
            if file.fingerprint_since(&fingerprint)?.digest != fingerprint.digest {
                return Err(PlacesError::Damaged(file.name().to_owned()));
            }
            match asking.question {
                CrowdQuestion::Neighbours { k, .. } if !(1..=people).contains(&k) => {
                    Err(WrongAsking::Neighbours { k, people }.into())
                }
                _ => Ok(()),
            }
        })?;
        let opened = self.reserve(
            &question,
            (dataset, &file.identity(&fingerprint)?),
            (everyone.people, asking.allowance),
        )?;
        let reservation = match opened {
            Reserved::Answered(body) => {
                let answer = serde_json::from_slice(&body).map_err(damaged)?;
                return Ok(CrowdAnswered { answer, free: true, left: self.standing()? });
            }
            Reserved::Granted(reservation) => reservation,
        };
        let granted: Vec<Amount<Rho>> =
            reservation.granted().iter().map(|&(_, amount)| amount).collect();
        let mut settled =
            Settled { spent: vec![Amount::ZERO; granted.len()], ..Settled::default() };
        let places = (dataset, everyone.points);
        let answer = self.draw(asking, &target, places, &granted, &mut settled);
        // Whatever came of it, nothing stays reserved.
        self.register.settle(&reservation, &settled, &Stamp::now("steward"))?;
        Ok(CrowdAnswered { answer: answer?, free: false, left: self.standing()? })
    }

    /// Asks people out of what is granted. What they have spent, and what was seen of them, is
    /// written down also where it fails; the answer only where it does not.
    fn draw(
        &mut self,
        asking: &CrowdAsking,
        target: &Target,
        (dataset, points): (&str, Vec<i64>),
        granted: &[Amount<Rho>],
        settled: &mut Settled,
    ) -> Result<CrowdAnswer, PlacesError> {
        let lattice = *self.lattice();
        let by_point = asking.plan.way == Way::Point;
        let known =
            if by_point { self.read_seen(dataset, granted, &lattice)? } else { Seen::default() };
        let accounts = Sheet::each(granted.to_vec()).map_err(CrowdError::from).map_err(asked)?;
        let mut crowd = Crowd::new(lattice, points, accounts).map_err(asked)?;
        crowd.restore(known.clone()).map_err(asked)?;
        if let Some(told) = self.rounds.clone() {
            crowd.observe(move |round, rounds, people| told(round, rounds, people));
        }
        let allowance = allowance(asking.allowance, granted, &known).ok_or(PlacesError::Spent)?;
        let told = target.ask(&mut crowd, &allowance, &asking.plan);
        // Accounts are charged before anything is drawn: what they say is what may have been seen.
        settled.spent = crowd.accounts().spent().to_vec();
        if by_point {
            settled.seen = written(&known, crowd.seen(), lattice.dimensions());
        }
        let Told { estimate, nearest, rivals, spending } = told?;
        let nearest = self.named(&nearest)?;
        let answer = CrowdAnswer {
            question: asking.question.clone(),
            estimate,
            nearest,
            rivals,
            people: u32::try_from(granted.len()).unwrap_or(u32::MAX),
            short: count_short(granted, asking.allowance),
            allowance: asking.allowance.to_f64(),
            cost: mean(&settled.spent),
            saved: savings(granted, &settled.spent),
            rounds: spending
                .rounds
                .iter()
                .map(|round| CrowdRound { asked: round.walked, stopped: round.stopped })
                .collect(),
        };
        settled.answer = Some(serde_json::to_vec(&answer).map_err(damaged)?);
        Ok(answer)
    }

    /// What has been released of the places of a name, in metres to the east and to the north of
    /// the region's centre: of at most `most` people, spread over all of them.
    ///
    /// # Errors
    /// The register cannot be read.
    pub fn released(&mut self, dataset: &str, most: usize) -> Result<Vec<[f64; 2]>, PlacesError> {
        let step = self.lattice().grid().step();
        let stored = self.register.seen(dataset)?;
        let every = stored.len().div_ceil(most.max(1)).max(1);
        let metres = |(_, bytes): &(u32, Vec<u8>)| match read_point(bytes, 2)?.1[..] {
            [east, north] => Some([east * step, north * step]),
            _ => None,
        };
        Ok(stored.iter().step_by(every).filter_map(metres).collect())
    }

    /// The ids of people, by number.
    fn named(&mut self, nearest: &[(u32, f64, [f64; 2])]) -> Result<Vec<Near>, PlacesError> {
        if nearest.is_empty() {
            return Ok(Vec::new());
        }
        let people = self.register.people()?;
        let near = |&(person, distance, within): &(u32, f64, [f64; 2])| {
            let id = people.get(person as usize).map_or_else(String::new, |one| one.id.clone());
            Near { id, distance, within: Some(within) }
        };
        Ok(nearest.iter().map(near).collect())
    }

    /// What has been released of everybody's points before.
    fn read_seen(
        &mut self,
        dataset: &str,
        granted: &[Amount<Rho>],
        lattice: &Lattice,
    ) -> Result<Seen, PlacesError> {
        let (people, width) = (granted.len(), lattice.dimensions());
        let stored = self.register.seen(dataset)?;
        if stored.is_empty() {
            return Ok(Seen::default());
        }
        let (mut prices, mut points) = (vec![Amount::ZERO; people], vec![0.0; people * width]);
        for (person, bytes) in stored {
            let at = person as usize;
            let read = read_point(&bytes, width);
            let (Some((price, point)), true) = (read, at < people) else {
                return Err(damaged("what was released of a place is not of this register"));
            };
            prices[at] = price;
            points[at * width..(at + 1) * width].copy_from_slice(&point);
        }
        Seen::stored(prices, points).map_err(damaged)
    }
}

/// What is asked, on the lattice.
enum Target {
    Count(Box<Shape>),
    Density(Vec<i64>, Metres),
    Neighbours(Vec<i64>, usize),
}

struct Told {
    estimate: Option<CrowdEstimate>,
    nearest: Vec<(u32, f64, [f64; 2])>,
    rivals: Option<u32>,
    spending: Spending,
}

impl Told {
    fn estimated(estimate: CrowdEstimate, spending: Spending) -> Self {
        Self { estimate: Some(estimate), nearest: Vec::new(), rivals: None, spending }
    }
}

impl Target {
    fn of(lattice: &Lattice, question: &CrowdQuestion) -> Result<Self, PlacesError> {
        let put = |place: Place| lattice.put_place(place).unwrap_or_default();
        Ok(match question {
            CrowdQuestion::Count(area) => Self::Count(Box::new(area.shape(lattice)?)),
            &CrowdQuestion::Density { at, bandwidth } => Self::Density(put(at), bandwidth),
            &CrowdQuestion::Neighbours { to, k } => Self::Neighbours(put(to), k),
        })
    }

    fn ask(
        &self,
        crowd: &mut Crowd,
        allowance: &Allowance,
        plan: &Plan,
    ) -> Result<Told, PlacesError> {
        let entropy = &mut entropy()?;
        match self {
            Self::Count(shape) => {
                let counted = count(crowd, shape, allowance, plan, entropy).map_err(asked)?;
                let estimate = CrowdEstimate {
                    value: counted.estimate,
                    deviation: counted.deviation,
                    interval: Some(counted.interval),
                    bounds: Some([f64::from(counted.low), f64::from(counted.high)]),
                };
                Ok(Told::estimated(estimate, counted.spending))
            }
            Self::Density(at, bandwidth) => {
                let found =
                    density(crowd, at, *bandwidth, allowance, plan, entropy).map_err(asked)?;
                // From a mean of weights to people on a square kilometre.
                let people = f64::from(u32::try_from(crowd.people()).unwrap_or(u32::MAX));
                let area = std::f64::consts::TAU * bandwidth.get() * bandwidth.get() / 1e6;
                let estimate = CrowdEstimate {
                    value: found.estimate * people / area,
                    deviation: found.deviation * people / area,
                    interval: found.interval.map(|ends| ends.map(|end| end * people / area)),
                    bounds: None,
                };
                Ok(Told::estimated(estimate, found.spending))
            }
            Self::Neighbours(to, k) => {
                let found = neighbours(crowd, to, *k, allowance, plan, entropy).map_err(asked)?;
                // People who were not heard are not known to be near, and JSON holds no
                // infinite distances.
                let nearest = found.people.into_iter().zip(found.distances).zip(found.within);
                let nearest = nearest
                    .map(|((person, distance), within)| (person, distance, within))
                    .filter(|(_, distance, _)| distance.is_finite())
                    .collect();
                let (rivals, spending) = (Some(found.rivals), found.spending);
                Ok(Told { estimate: None, nearest, rivals, spending })
            }
        }
    }
}

impl Area {
    /// The area on a lattice.
    ///
    /// # Errors
    /// It is no area, or too far away.
    pub fn shape(&self, lattice: &Lattice) -> Result<Shape, PlacesError> {
        match self {
            Self::Polygons(polygons) => Shape::of_places(lattice, polygons),
            Self::Circle(centre, radius) => Shape::around(lattice, *centre, *radius),
            &Self::Box([west, south, east, north]) => {
                let corners = [(west, south), (east, south), (east, north), (west, north)];
                let corner = |(longitude, latitude)| Place::new(longitude, latitude).map_err(asked);
                let ring = corners.into_iter().map(corner).collect::<Result<Vec<_>, _>>()?;
                Shape::of_places(lattice, &[vec![ring]])
            }
        }
        .map_err(asked)
    }
}

/// How far each person's path may be followed: as far as the allowance goes, or what they have left
/// and what has been seen before; none if nobody's can be.
fn allowance(allowed: Amount<Rho>, granted: &[Amount<Rho>], known: &Seen) -> Option<Allowance> {
    let known = known.prices().iter().copied().chain(std::iter::repeat(Amount::ZERO));
    let each: Vec<Amount<Rho>> = granted
        .iter()
        .zip(known)
        .map(|(granted, known)| {
            let far = granted.plus(known).unwrap_or(Amount::MAX).min(allowed);
            if far.grains() < allowed.grains() / LEAST_PART { Amount::ZERO } else { far }
        })
        .collect();
    if each.iter().all(|amount| amount.is_zero()) {
        return None;
    }
    let same = each.iter().all(|amount| *amount == allowed);
    Some(if same { Allowance::Same(allowed) } else { Allowance::Each(each) })
}

/// What is stored of points that have been followed further: a price in 16 bytes, largest first,
/// and coordinates in 8 each.
fn written(before: &Seen, after: &Seen, width: usize) -> Vec<(u32, Vec<u8>)> {
    let further = |&(person, price): &(usize, &Amount<Rho>)| {
        before.prices().get(person).copied().unwrap_or(Amount::ZERO) < *price
    };
    let row = |(person, price): (usize, &Amount<Rho>)| {
        let mut bytes = price.grains().to_be_bytes().to_vec();
        for steps in &after.points()[person * width..(person + 1) * width] {
            bytes.extend(steps.to_le_bytes());
        }
        (u32::try_from(person).unwrap_or(u32::MAX), bytes)
    };
    after.prices().iter().enumerate().filter(further).map(row).collect()
}

fn read_point(bytes: &[u8], width: usize) -> Option<(Amount<Rho>, Vec<f64>)> {
    let (price, rest) = bytes.split_first_chunk::<16>()?;
    let (chunks, []) = rest.as_chunks::<8>() else { return None };
    let point: Vec<f64> = chunks.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect();
    (point.len() == width).then(|| (Amount::from_grains(u128::from_be_bytes(*price)), point))
}

/// All that the answer depends on but the places: asked again, it is the same question. It is read
/// by people and has a longest length, so long areas are named by their digests.
fn text(asking: &CrowdAsking) -> Result<String, PlacesError> {
    let mut question = serde_json::to_string(&asking.question).map_err(damaged)?;
    if let CrowdQuestion::Count(Area::Polygons(polygons)) = &asking.question
        && question.len() > LONGEST_AREA
    {
        let corners: usize = polygons.iter().flatten().map(Vec::len).sum();
        let digest = Digest::of(question.as_bytes());
        question =
            format!(r#"{{"count":{{"polygons":{{"corners":{corners},"digest":"{digest}"}}}}}}"#);
    }
    let Plan { way, split, rule, beta } = asking.plan;
    Ok(format!("{question} for {} by {way:?}, {split:?}, {rule:?}, {beta:?}", asking.allowance))
}

fn savings(granted: &[Amount<Rho>], spent: &[Amount<Rho>]) -> Savings {
    let kept = |(granted, spent): (&Amount<Rho>, &Amount<Rho>)| match granted.is_zero() {
        true => 0.0,
        false => (1.0 - spent.to_f64() / granted.to_f64()).clamp(0.0, 1.0),
    };
    let mut kept: Vec<f64> = granted.iter().zip(spent).map(kept).collect();
    kept.sort_unstable_by(f64::total_cmp);
    let mut tenths = [0; 10];
    for kept in &kept {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 10")]
        let tenth = ((kept * 10.0) as usize).min(9);
        tenths[tenth] += 1;
    }
    let at =
        |quarters: usize| kept.get((kept.len().max(1) - 1) * quarters / 4).copied().unwrap_or(0.0);
    let mean = kept.iter().sum::<f64>() / kept.len().max(1) as f64;
    Savings { mean, quarter: at(1), half: at(2), three_quarters: at(3), tenths }
}

fn mean(spent: &[Amount<Rho>]) -> f64 {
    let people = spent.len().max(1) as f64;
    spent.iter().map(|spent| spent.to_f64()).sum::<f64>() / people
}

fn count_short(granted: &[Amount<Rho>], allowed: Amount<Rho>) -> u32 {
    u32::try_from(granted.iter().filter(|granted| **granted < allowed).count()).unwrap_or(u32::MAX)
}

fn asked(error: impl Into<WrongAsking>) -> PlacesError {
    error.into().into()
}
