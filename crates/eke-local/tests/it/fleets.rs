//! Fleets against their devices.

use std::collections::BTreeMap;

use eke_budget::account::{Sheet, SheetError, Who};
use eke_budget::{Amount, Epsilon, Rho};
use eke_local::device::{Currency, RequestError};
use eke_local::fleet::FleetError;
use eke_local::{Device, DeviceError, Fleet, Mechanism, MemoryStorage, Reply, Request};
use eke_noise::local::{ChainPrice, ReportLaw, Template};
use proptest::prelude::*;

use crate::devices::{ask, both, components, mechanism, of, requests, spent};
use crate::{Dice, epsilon};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The same requests to the same devices, as columns and one by one: the same faults in the
    /// same words, the same devices answer and halt, and each has spent as much. Those asked alone
    /// draw the same reports from the same words.
    #[test]
    fn a_fleet_answers_as_its_devices_do_one_by_one(
        script in requests(), who in prop::collection::vec(0..16u8, 25), seed in any::<u64>(),
        values in prop::collection::vec((0..8u32, 0..4u32), DEVICES),
    ) {
        compare::<Epsilon>(&script, &who, seed, &values)?;
        compare::<Rho>(&script, &who, seed, &values)?;
    }
}

const DEVICES: usize = 4;

fn compare<C: ChainPrice>(
    script: &[(bool, Request)],
    who: &[u8],
    seed: u64,
    values: &[(u32, u32)],
) -> Result<(), TestCaseError> {
    let budget = both();
    let is_pure = C::NAME == "epsilon";
    let grains = if is_pure {
        budget.pure().unwrap().budget.grains()
    } else {
        budget.zcdp().unwrap().budget.grains()
    };
    let mut fleet = Fleet::<C>::new(Sheet::same(Amount::from_grains(grains), DEVICES).unwrap());
    let columns: [Vec<u32>; 2] =
        [values.iter().map(|v| v.0).collect(), values.iter().map(|v| v.1).collect()];
    for (component, column) in components().into_iter().zip(columns) {
        fleet.hold(component, column).unwrap();
    }
    let mut devices: Vec<Device<MemoryStorage>> = Vec::new();
    for (colour, size) in values {
        let storage = MemoryStorage::new();
        let mut device = Device::create("one", budget.clone(), components(), storage).unwrap();
        device.record("colour", *colour).unwrap();
        device.record("size", *size).unwrap();
        devices.push(device);
    }
    let (mut one, mut two) = (Dice(seed), Dice(seed));
    // The fleet has one purse.
    let own = |request: &&(bool, Request)| (request.1.currency() == Currency::Pure) == is_pure;
    let mut drawn_alone: BTreeMap<(String, u64, u32), bool> = BTreeMap::new();
    for (at, ((begins, request), bits)) in (1u64..).zip(script.iter().filter(own).zip(who)) {
        if *begins {
            let next = devices[0].step(&request.component).unwrap() + 1;
            fleet.begin(&request.component, next, None).unwrap();
            for device in &mut devices {
                device.begin(&request.component, next).unwrap();
            }
        }
        let these: Vec<u32> = (0..4).filter(|device| bits >> device & 1 == 1).collect();
        let replies = fleet.answer(request, Who::These(&these), &mut one);
        let mut shown = Vec::new();
        for &device in &these {
            let reply = devices[device as usize].answer(request, &mut two);
            match (&replies, reply) {
                (Ok(replies), Ok(Reply::Report(report))) => {
                    prop_assert!(replies.answered.contains(&device));
                    shown.extend_from_slice(report.words());
                }
                (Ok(replies), Ok(Reply::Halted)) => prop_assert!(replies.halted.contains(&device)),
                (Ok(replies), Err(DeviceError::Request(RequestError::Past { .. }))) => {
                    prop_assert!(replies.gone.contains(&device));
                }
                // Those that have not answered the question do not know that it was another one.
                (Err(FleetError::Request(RequestError::OtherQuestion { .. })), Err(_)) => {}
                // Nor do they look at its report or price once its step is over.
                (
                    Err(FleetError::Request(
                        RequestError::Price { .. } | RequestError::Mechanism(_),
                    )),
                    Err(DeviceError::Request(RequestError::Past { .. })),
                ) => {}
                (Err(FleetError::Request(said)), Err(DeviceError::Request(error))) => {
                    prop_assert_eq!(said, &error);
                }
                (replies, reply) => prop_assert!(false, "{replies:?} {reply:?}"),
            }
            let paid = spent(&devices[device as usize]);
            let paid = if is_pure { paid.0.grains() } else { paid.1.grains() };
            prop_assert_eq!(fleet.sheet().spent()[device as usize].grains(), paid);
        }
        if let Ok(replies) = replies {
            let answers = replies.answered.len() + replies.halted.len() + replies.gone.len();
            prop_assert_eq!(answers, these.len());
            prop_assert_eq!(replies.reports.len(), shown.len());
            // How many are drawn at once decides what is made of the words, so only those drawn
            // alone compare.
            let alone = these.len() == 1;
            for device in &replies.answered {
                let key = (request.question.clone(), request.step, *device);
                drawn_alone.entry(key).or_insert(alone);
            }
            let key = (request.question.clone(), request.step, these.first().copied().unwrap_or(0));
            if alone && drawn_alone.get(&key) == Some(&true) {
                prop_assert_eq!(replies.reports, shown);
            }
            (one, two) = (Dice(seed ^ at), Dice(seed ^ at));
        }
    }
    Ok(())
}

/// At an epsilon of 60 a report is the value, but for one in 10²⁵: each device answers for itself,
/// whichever others are asked with it and in whatever order they were drawn.
#[test]
fn every_device_of_a_fleet_reports_its_own_value() {
    let laws = vec![ReportLaw::Subset(Template::new(1, epsilon("60")))];
    let request = of("a", "colour", 0, Mechanism { categories: 8, laws }, 0, Currency::Pure);
    let mut fleet = Fleet::<Epsilon>::new(Sheet::same(epsilon("160"), 6).unwrap());
    let values = vec![3, 1, 4, 1, 5, 7];
    fleet.hold(components().remove(0), values.clone()).unwrap();
    let mut entropy = Dice(3);
    for these in [vec![4], vec![1, 4, 5], vec![0, 1, 2, 3, 4, 5]] {
        let replies = fleet.answer(&request, Who::These(&these), &mut entropy).unwrap();
        assert_eq!((&replies.answered, replies.words), (&these, 1));
        let own: Vec<u64> = these.iter().map(|&device| 1 << values[device as usize]).collect();
        assert_eq!(replies.reports, own);
    }
    let again = fleet.answer(&request, Who::Everyone, &mut entropy).unwrap();
    assert!(again.halted.is_empty());
    assert_eq!(fleet.sheet().left_at(&[0.0, 1.0]), [Some(epsilon("100")), Some(epsilon("100"))]);
}

#[test]
fn a_fleet_takes_no_values_that_are_none() {
    let mut fleet = Fleet::<Epsilon>::new(Sheet::same(epsilon("1"), 2).unwrap());
    let colour = || components().remove(0);
    assert!(matches!(fleet.hold(colour(), vec![0]), Err(FleetError::Component(_))));
    assert!(matches!(fleet.hold(colour(), vec![0, 8]), Err(FleetError::Value(_))));
    fleet.hold(colour(), vec![0, 7]).unwrap();
    assert!(matches!(fleet.hold(colour(), vec![0, 7]), Err(FleetError::Component(_))));
    assert!(matches!(fleet.begin("colour", 1, Some(vec![8, 0])), Err(FleetError::Value(_))));
    assert!(matches!(fleet.begin("colour", 0, None), Err(FleetError::StepBack { now: 0 })));
    assert!(matches!(fleet.begin("shape", 1, None), Err(FleetError::Component(_))));
    let mut entropy = Dice(4);
    let outside = fleet.answer(&ask("a", 0), Who::These(&[2]), &mut entropy).unwrap_err();
    assert_eq!(outside, FleetError::Sheet(SheetError::NoAccount(2)));
    // Nobody can pay for it, so it is no question yet.
    let dear = of("a", "colour", 0, costly(), 0, Currency::Pure);
    let replies = fleet.answer(&dear, Who::Everyone, &mut entropy).unwrap();
    assert_eq!(replies.halted, [0, 1]);
    assert!(
        fleet
            .answer(
                &of("a", "colour", 0, mechanism(8), 0, Currency::Pure),
                Who::Everyone,
                &mut entropy
            )
            .is_ok()
    );
    assert_eq!(format!("{fleet:?}"), "Fleet { devices: 2, .. }");
}

fn costly() -> Mechanism {
    Mechanism { categories: 8, laws: vec![ReportLaw::Subset(Template::new(1, epsilon("3")))] }
}
