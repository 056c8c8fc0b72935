//! What every kind of path does, whatever its law: one suite, run for all five laws.
//!
//! Where the joint law of points is concerned, see the files of the laws.

use std::fmt::Write;

use eke_budget::metric::Reach;
use eke_budget::purchase::Coarsen;
use eke_budget::{Adjacency, L1, L2, Metres, Metric, PathId, Price, Raise, Receipt};
use eke_noise::evidence::Norms;
use eke_noise::path::{Integers, MismatchReason, MsdlapPath};
use eke_noise::{Entropy, Exact, GaussianPath, GeometricPath, LaplacePath, NoisePath, SkellamPath};
use eke_testkit::{Nothing, Seeded};

use crate::path::walk::{Kept, Walk, account, ask, at, id, number, pay, riders};

const TRUTH: i64 = 1_234_567;

/// Which steps a path takes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Steps {
    /// The next one.
    Next,
    /// The next one, or one beyond it: what was lost in between stays a gap.
    Gaps,
    /// One, to the finest point there will be.
    Once,
}

/// A kind of path.
struct Law<P: NoisePath> {
    name: &'static str,
    steps: Steps,
    sensitivity: f64,
    open: fn(PathId, <P::Currency as Price>::Sensitivity) -> P,
    /// A truth and what one unit changes it by.
    truth: fn(i64, f64) -> Exact<P::Value>,
}

fn pair(truth: i64, sensitivity: f64) -> Exact<Vec<i64>> {
    let (sum, length) = (L1::new(sensitivity).unwrap(), L2::new(sensitivity).unwrap());
    Exact::new(vec![truth, truth.wrapping_neg()], Norms::new(sum, length, 2).unwrap())
}

fn geometric<T: Integers>(truth: fn(i64, f64) -> Exact<T>) -> Law<GeometricPath<T>> {
    let (name, steps, open) = ("geometric", Steps::Next, GeometricPath::open);
    Law { name, steps, sensitivity: 64.0, open, truth }
}

fn laplace<T: Integers>(truth: fn(i64, f64) -> Exact<T>) -> Law<LaplacePath<T>> {
    let (name, steps, open) = ("Laplace", Steps::Next, LaplacePath::open);
    Law { name, steps, sensitivity: 64.0, open, truth }
}

fn gaussian<T: Integers>(truth: fn(i64, f64) -> Exact<T>) -> Law<GaussianPath<T>> {
    let (name, steps, open) = ("Gaussian", Steps::Gaps, GaussianPath::open);
    Law { name, steps, sensitivity: 64.0, open, truth }
}

fn msdlap() -> Law<MsdlapPath> {
    let open = |id, sensitivity| MsdlapPath::open(id, sensitivity).unwrap();
    Law { name: "MSDLap", steps: Steps::Once, sensitivity: 3.0, open, truth: number }
}

fn skellam() -> Law<SkellamPath> {
    let open = |id, sensitivity| SkellamPath::open(id, sensitivity).unwrap();
    Law { name: "Skellam", steps: Steps::Once, sensitivity: 64.0, open, truth: number }
}

/// Runs a check for every law, and for vectors where a law is for them.
macro_rules! every_law {
    ($check:ident $(, $with:expr)?) => {
        $check(&geometric(number) $(, $with)?);
        $check(&geometric(pair) $(, $with)?);
        $check(&laplace(number) $(, $with)?);
        $check(&laplace(pair) $(, $with)?);
        $check(&gaussian(number) $(, $with)?);
        $check(&gaussian(pair) $(, $with)?);
        $check(&msdlap() $(, $with)?);
        $check(&skellam() $(, $with)?);
    };
}

impl<P: Kept> Law<P> {
    fn open(&self, number: u8) -> P {
        let sensitivity = <P::Currency as Price>::Sensitivity::try_from(self.sensitivity).unwrap();
        (self.open)(id(number), sensitivity)
    }

    fn truth(&self) -> Exact<P::Value> {
        (self.truth)(TRUTH, self.sensitivity)
    }

    fn walk(&self) -> Walk<P> {
        Walk::new(self.open(1), self.truth(), self.sensitivity)
    }
}

impl<P: Kept> Walk<P> {
    /// The next point, after which the path is stored and read back.
    fn refine_and_store(&mut self, to: &str, entropy: &mut impl Entropy) -> P::Value {
        let value = self.refine(to, entropy);
        self.store_and_read();
        value
    }

    fn coarsen_and_store(&mut self, to: &str, entropy: &mut impl Entropy) -> P::Value {
        let value = self.coarsen(to, entropy);
        self.store_and_read();
        value
    }

    /// Why a receipt is not taken, which comes back. Nothing is drawn, and the path is as it was.
    fn refuses(
        &mut self,
        truth: &Exact<P::Value>,
        receipt: Receipt<Raise<P::Currency>>,
    ) -> (MismatchReason, Receipt<Raise<P::Currency>>) {
        let before = self.path.clone();
        let mismatch = self.path.refine(truth, receipt, &mut Nothing).unwrap_err();
        assert_eq!(self.path, before);
        (mismatch.reason, *mismatch.receipt)
    }

    /// The same for a receipt for a coarser point.
    fn refuses_coarser(&mut self, receipt: Receipt<Coarsen<P::Currency>>) -> MismatchReason {
        let before = self.path.clone();
        let mismatch = self.path.coarsen(receipt, &mut Nothing).unwrap_err();
        assert_eq!(self.path, before);
        mismatch.reason
    }
}

/// All orders of four prices.
fn orders() -> Vec<[&'static str; 4]> {
    let prices = ["0.125", "0.25", "0.5", "1"];
    let mut orders = Vec::new();
    for code in 0..4usize.pow(4) {
        let order = [code % 4, code / 4 % 4, code / 16 % 4, code / 64];
        if (0..4).all(|price| order.contains(&price)) {
            orders.push(order.map(|price| prices[price]));
        }
    }
    orders
}

/// Stored and read back after every point: each is drawn once, asked for again it is the same,
/// nothing is drawn for that, and all of them cost the finest.
#[test]
fn points_in_every_order_are_drawn_once_and_cost_the_finest() {
    fn check<P: Kept>(law: &Law<P>) {
        for order in orders() {
            let (mut walk, mut entropy) = (law.walk(), Seeded::new(901));
            let mut drawn = Vec::new();
            for price in order {
                let (to, finest) = (at(price), walk.path.finest());
                assert_eq!(walk.path.point(to), None);
                if to < finest {
                    assert_eq!(walk.path.can_refine(to), Err(MismatchReason::OtherStep));
                    drawn.push((price, walk.coarsen_and_store(price, &mut entropy)));
                } else if law.steps == Steps::Once && !drawn.is_empty() {
                    assert_eq!(walk.path.can_refine(to), Err(MismatchReason::AtItsFinest));
                } else {
                    assert_eq!(walk.path.can_refine(to), Ok(()));
                    drawn.push((price, walk.refine_and_store(price, &mut entropy)));
                    assert_eq!(walk.path.finest(), to);
                }
            }
            let finest = walk.path.finest();
            for (price, value) in &drawn {
                let point = walk.path.point(at(price)).unwrap().get();
                assert_eq!(&point, value, "{} {order:?}", law.name);
                assert_eq!(&walk.coarsen_and_store(price, &mut Nothing), value);
                assert_eq!(walk.path.nearest(at(price)), Some(at(price)));
                assert_eq!(walk.path.worth(at(price)), at(price));
            }
            assert_eq!(walk.path.nearest(at("9")), Some(finest));
            assert_eq!(walk.path.nearest(at("0.01")), None);
            assert_eq!(walk.path.can_refine(finest), Err(MismatchReason::OtherStep));
            let mut alone = law.walk();
            drop(alone.pay(&finest.to_string()));
            assert_eq!(walk.spent(), alone.spent(), "{} {order:?}", law.name);
        }
    }
    every_law!(check);
}

#[test]
fn a_path_takes_only_its_own_next_receipt() {
    fn check<P: Kept>(law: &Law<P>) {
        use MismatchReason::{AtItsFinest, OtherPath, OtherSensitivity, OtherStep};
        let (mut walk, size, e) = (law.walk(), law.sensitivity, &mut Seeded::new(902));
        let (truth, other) = (law.truth(), 2.0 * size);

        // Of nothing there is nothing coarser.
        let mut fresh = riders();
        drop(pay::<P::Currency>(&mut fresh, id(1), "1", size));
        let early = ask(&mut fresh, id(1), "0.7");
        assert_eq!(walk.refuses_coarser(early), OtherStep);

        // A truth of another sensitivity, and a receipt that was paid for another.
        let first = walk.pay("0.5");
        let (reason, first) = walk.refuses(&(law.truth)(TRUTH, other), first);
        assert_eq!(reason, OtherSensitivity);
        let wide = pay(&mut riders(), id(1), "0.5", other);
        assert_eq!(walk.refuses(&truth, wide).0, OtherSensitivity);
        // A receipt for another path.
        let elsewhere = pay(&mut riders(), id(2), "0.5", size);
        assert_eq!(walk.refuses(&truth, elsewhere).0, OtherPath);
        // What came back is good where it belongs.
        walk.path.refine(&truth, first, e).unwrap();

        // The first step of a path that has taken it.
        let again = pay(&mut riders(), id(1), "1", size);
        let (reason, again) = walk.refuses(&truth, again);
        assert_eq!(reason, if law.steps == Steps::Once { AtItsFinest } else { OtherStep });
        let mut unopened = law.walk();
        unopened.path.refine(&truth, again, e).unwrap();

        // Another account that replays the same steps.
        let mut circle = account("circle", Metric::Hamming(Adjacency::AddRemove));
        drop(pay::<P::Currency>(&mut circle, id(1), "0.5", size));
        let theirs = pay(&mut circle, id(1), "1", size);
        assert_eq!(walk.refuses(&truth, theirs).0, MismatchReason::OtherAccount);

        // A point that the path has not come to, and one of another path.
        let beyond = ask(&mut fresh, id(1), "0.7");
        assert_eq!(walk.refuses_coarser(beyond), OtherStep);
        let coarser = ask(&mut fresh, id(1), "0.3");
        let mut elsewhere = Walk { path: law.open(3), ..law.walk() };
        assert_eq!(elsewhere.refuses_coarser(coarser), OtherPath);

        // The next step.
        let next = walk.pay("1");
        if law.steps == Steps::Once {
            let (reason, _) = walk.refuses(&truth, next);
            assert_eq!(reason, AtItsFinest);
            let sentence = "the path was opened at its finest point: open another for a finer one";
            assert_eq!(reason.to_string(), sentence);
        } else {
            walk.path.refine(&truth, next, e).unwrap();
        }
    }
    every_law!(check);
}

/// A step is paid for from where the path stands. To an older copy, which would draw the whole
/// point anew, it would be worth more; increments of Gaussian noise are independent, and there what
/// is missing stays a gap.
#[test]
fn an_older_copy_of_a_path_takes_no_later_step() {
    fn check<P: Kept>(law: &Law<P>) {
        let (mut walk, e) = (law.walk(), &mut Seeded::new(903));
        walk.refine_and_store("0.5", e);
        let next = walk.pay("0.75");
        walk.path = law.open(1);
        if law.steps == Steps::Gaps {
            walk.path.refine(&law.truth(), next, e).unwrap();
            assert_eq!(walk.path.worth(at("0.75")), at("0.25"));
            return;
        }
        assert_eq!(walk.refuses(&law.truth(), next).0, MismatchReason::Gap, "{}", law.name);
    }
    every_law!(check);
}

/// Where inputs may be a fraction of a unit apart, a whole step of noise that is not linear in
/// distance still costs its whole price.
#[test]
fn laws_for_whole_units_take_nothing_paid_by_the_metre() {
    fn check<P: Kept>(law: &Law<P>) {
        let metres = Metric::Euclidean(Reach::Within(Metres::new(100.0).unwrap()));
        for (metric, is_small) in [(metres, true), (Metric::Discrete, false)] {
            let mut walk = law.walk();
            let receipt = pay(&mut account("riders", metric), id(1), "0.5", law.sensitivity);
            if is_small && law.steps == Steps::Once {
                assert_eq!(walk.refuses(&law.truth(), receipt).0, MismatchReason::OtherMetric);
            } else {
                let taken = walk.path.refine(&law.truth(), receipt, &mut Seeded::new(904));
                assert!(taken.is_ok(), "{} {metric:?}", law.name);
            }
        }
    }
    every_law!(check);
}

/// At the ends of the range the truth is clamped before noise is added, so noise is never cut off.
#[test]
fn truths_at_the_ends_of_the_range_are_clamped_before_the_noise() {
    fn check<P: Kept>(law: &Law<P>) {
        let e = &mut Seeded::new(905);
        for (truth, clamped) in [(i64::MAX, 1i64 << 62), (i64::MIN, -(1 << 62))] {
            let (mut above, mut below) = (0, 0);
            for _ in 0..200 {
                let mut walk = law.walk();
                walk.truth = (law.truth)(truth, law.sensitivity);
                for to in ["0.5", "1"] {
                    if law.steps == Steps::Once && to == "1" {
                        continue;
                    }
                    let value = walk.refine_and_store(to, e).coordinate(0);
                    above += u32::from(value > clamped);
                    below += u32::from(value < clamped);
                    assert!(value.abs_diff(clamped) < 5000, "{}", law.name);
                }
            }
            assert!(above > 50 && below > 50, "{}: {above} {below}", law.name);
        }
    }
    every_law!(check);
}

/// With noise so wide that no point is the truth by chance.
#[test]
fn a_stored_path_goes_on_where_it_was_and_does_not_hold_the_truth() {
    fn check<P: Kept>(law: &Law<P>) {
        let (mut walk, e) = (law.walk(), &mut Seeded::new(908));
        let fine = walk.refine_and_store("0.001", e);
        let coarse = walk.coarsen_and_store("0.0001", e);
        let json = serde_json::to_string(&walk.path).unwrap();
        assert!(!json.contains(&TRUTH.to_string()), "{json}");
        let read: P = serde_json::from_str(&json).unwrap();
        assert_eq!((read.id(), read.finest()), (id(1), at("0.001")));
        let value = |price: &str| read.point(at(price)).map(|point| point.get());
        assert_eq!((value("0.001"), value("0.0001")), (Some(fine), Some(coarse)));
        assert_eq!(value("0.0005"), None);
        walk.path = read;
        walk.coarsen_and_store("0.0005", e);
        if law.steps != Steps::Once {
            walk.refine_and_store("0.002", e);
            assert_eq!(walk.path.finest(), at("0.002"));
        }
    }
    every_law!(check);
}

/// What nobody has paid for, what nobody wrote, and prices of nothing are not read.
#[test]
fn a_damaged_path_is_not_read() {
    fn check<P: Kept>(law: &Law<P>) {
        let mut walk = law.walk();
        walk.refine_and_store("1", &mut Seeded::new(906));
        walk.coarsen_and_store("0.5", &mut Seeded::new(907));
        let json = serde_json::to_value(&walk.path).unwrap();
        let reads = |json: &serde_json::Value| serde_json::from_value::<P>(json.clone()).is_ok();
        assert!(reads(&json));
        let mut damaged = json.clone();
        damaged["truth"] = serde_json::json!(5);
        assert!(!reads(&damaged), "{}", law.name);
        for payer in ["/payer", "/opened/payer"] {
            let mut damaged = json.clone();
            if let Some(payer) = damaged.pointer_mut(payer) {
                *payer = serde_json::Value::Null;
                assert!(!reads(&damaged), "{damaged}");
            }
        }
        // A point at no price.
        for points in ["/points", "/increments/0/versions", "/opened/coarser"] {
            let mut damaged = json.clone();
            let Some(points) = damaged.pointer_mut(points) else { continue };
            let point = points["0.5"].take();
            points.as_object_mut().unwrap().remove("0.5");
            points["0"] = point;
            assert!(!reads(&damaged), "{damaged}");
        }
    }
    every_law!(check);
}

/// What was drawn and stored before all paths were of one type, byte for byte. A step with `+` pays
/// for a finer point, one with `-` for a coarser one, and one with `!` loses what was paid for.
#[test]
fn what_paths_draw_and_store_is_as_it_was() {
    fn transcript<P: Kept>(law: &Law<P>, text: &mut String) {
        let steps = match law.steps {
            Steps::Next => "+0.125 +1 -0.25 -0.0625 -0.5 -1 +1.5 -1.25 -0.75",
            Steps::Gaps => "+0.125 +1 -0.25 -0.0625 -0.5 !1.5 +2 -1.25 -1.75 -0.6 -2",
            Steps::Once => "+1 -0.25 -0.0625 -0.5 -1 -0.75",
        };
        let (mut walk, mut entropy) = (law.walk(), Seeded::new(901));
        writeln!(text, "{}", law.name).unwrap();
        for step in steps.split(' ') {
            let (kind, price) = step.split_at(1);
            let value = match kind {
                "+" => walk.refine_and_store(price, &mut entropy),
                "-" => walk.coarsen_and_store(price, &mut entropy),
                _ => {
                    drop(walk.pay(price));
                    continue;
                }
            };
            writeln!(text, "{step} {value:?}").unwrap();
        }
        writeln!(text, "{}", serde_json::to_string(&walk.path).unwrap()).unwrap();
    }
    let mut text = String::new();
    every_law!(transcript, &mut text);
    assert_eq!(text, include_str!("path_laws.txt"), "{text}");
}
