//! Requests as nobody in his right mind would send them: an error, never a panic, never a charge.

use eke_budget::{Amount, Charge, Delta, Epsilon, Rho};
use eke_local::device::{LONGEST_REQUEST, RequestError};
use eke_local::{Device, DeviceError, Mechanism, MemoryStorage, Reply, Request};
use eke_noise::local::{BitTemplate, HashTemplate, ReportLaw, Share, Template, Weight};
use proptest::prelude::*;

use crate::Dice;
use crate::devices::{ask, both, device, spent};

/// Asks, and checks that a fault has changed nothing and anything else costs at most its price.
fn try_out(device: &mut Device<MemoryStorage>, request: &Request) -> Result<(), TestCaseError> {
    let before = (spent(device), device.generation());
    match device.answer(request, &mut Dice(1)) {
        Ok(Reply::Report(report)) => {
            let (paid, rho) = spent(device);
            let (most, most_rho) = match request.price {
                Charge::Pure { epsilon, .. } => (epsilon, Amount::ZERO),
                Charge::Zcdp { rho, .. } => (Amount::ZERO, rho),
            };
            prop_assert!(paid <= before.0.0.plus(most).unwrap());
            prop_assert!(rho <= before.0.1.plus(most_rho).unwrap());
            prop_assert!(!report.words().is_empty());
        }
        Ok(Reply::Halted) | Err(DeviceError::Request(_)) => {
            prop_assert_eq!((spent(device), device.generation()), before);
        }
        Err(error) => prop_assert!(false, "{error}"),
    }
    Ok(())
}

/// Numbers that hurt, and others.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0),
        Just(1),
        2..9u32,
        Just(64),
        Just(1 << 20),
        Just((1 << 20) + 1),
        Just(u32::MAX),
        any::<u32>()
    ]
}

fn grains() -> impl Strategy<Value = u128> {
    let one = Amount::<Epsilon>::ONE.grains();
    prop_oneof![
        Just(0),
        Just(1),
        Just(one / 2),
        Just(one),
        Just(500 * one),
        Just(500 * one + 1),
        Just(u128::MAX),
        0..3 * one,
        any::<u128>()
    ]
}

fn weight() -> impl Strategy<Value = Weight> {
    prop_oneof![
        (grains(), number())
            .prop_map(|(grains, size)| Weight::Of { epsilon: Amount::from_grains(grains), size }),
        number().prop_map(Weight::Whole),
    ]
}

fn law() -> impl Strategy<Value = ReportLaw> {
    prop_oneof![
        (number(), weight())
            .prop_map(|(size, weight)| ReportLaw::Subset(Template { size, weight })),
        (number(), weight(), number()).prop_map(|(bits, weight, among)| ReportLaw::Hash(
            HashTemplate { bits, share: Share { weight, among } }
        )),
        grains().prop_map(|grains| ReportLaw::Bits(BitTemplate::new(Amount::from_grains(grains)))),
    ]
}

fn charge() -> impl Strategy<Value = Charge> {
    let delta = prop_oneof![Just(Amount::<Delta>::ZERO), Just(Amount::GRAIN), Just(Amount::MAX)];
    (grains(), any::<bool>(), delta).prop_map(|(grains, is_pure, delta)| {
        if is_pure {
            Charge::Pure { epsilon: Amount::from_grains(grains), delta }
        } else {
            Charge::Zcdp { rho: Amount::<Rho>::from_grains(grains), delta }
        }
    })
}

fn request() -> impl Strategy<Value = Request> {
    let name = prop_oneof![
        Just("a".to_owned()),
        Just("colour".to_owned()),
        Just(String::new()),
        ".{0,200}",
    ];
    let component = prop_oneof![3 => Just("colour".to_owned()), 1 => ".{0,40}"];
    let step = prop_oneof![3 => Just(0), 1 => any::<u64>()];
    let laws = prop_oneof![
        3 => prop::collection::vec(law(), 0..4),
        1 => (law(), 1..300usize).prop_map(|(law, many)| vec![law; many]),
    ];
    let categories = prop_oneof![2 => Just(8), 1 => number()];
    let report = prop_oneof![Just(0), 0..4usize, any::<usize>()];
    (name, component, step, categories, laws, report, charge(), any::<bool>()).prop_map(
        |(question, component, step, categories, laws, report, claimed, is_honest)| {
            let mechanism = Mechanism { categories, laws };
            let own = eke_local::device::Currency::of(claimed);
            let honest = mechanism.chain().ok().and_then(|chain| own.price(&chain, report).ok());
            let price = honest.filter(|_| is_honest).unwrap_or(claimed);
            Request { question, component, step, mechanism, report, price }
        },
    )
}

#[test]
fn requests_are_read_as_they_were_sent() {
    let request = ask("a question", 1);
    let bytes = request.to_bytes();
    assert_eq!(bytes[0], 1);
    assert_eq!(Request::from_bytes(&bytes), Ok(request));
    let mut newer = bytes.clone();
    newer[0] = 2;
    assert_eq!(Request::from_bytes(&newer), Err(RequestError::Unreadable));
    assert_eq!(Request::from_bytes(&[]), Err(RequestError::Unreadable));
    let long = vec![b' '; LONGEST_REQUEST + 1];
    assert_eq!(Request::from_bytes(&long), Err(RequestError::TooLong));
    for length in 0..bytes.len() {
        assert_eq!(Request::from_bytes(&bytes[..length]), Err(RequestError::Unreadable));
    }
    // Unknown fields are not passed over: their sender means something by them.
    let mut more = bytes.clone();
    more.truncate(bytes.len() - 1);
    more.extend(b",\"more\":1}");
    assert_eq!(Request::from_bytes(&more), Err(RequestError::Unreadable));
    // Deep nesting does not overflow a stack.
    let mut deep = vec![1];
    deep.extend(vec![b'['; LONGEST_REQUEST - 1]);
    assert_eq!(Request::from_bytes(&deep), Err(RequestError::Unreadable));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_request_makes_a_device_panic_or_pay_for_a_fault(asked in prop::collection::vec(request(), 1..4)) {
        let mut device = device(both());
        for request in asked {
            try_out(&mut device, &request)?;
            let bytes = request.to_bytes();
            if bytes.len() <= LONGEST_REQUEST {
                prop_assert_eq!(Request::from_bytes(&bytes), Ok(request));
            }
        }
    }

    #[test]
    fn random_bytes_are_no_request(mut bytes in prop::collection::vec(any::<u8>(), 0..300), is_new in any::<bool>()) {
        if let Some(first) = bytes.first_mut().filter(|_| is_new) {
            *first = 1;
        }
        prop_assert_eq!(Request::from_bytes(&bytes), Err(RequestError::Unreadable));
    }

    /// What is still a request after some of its bytes were changed is one that a device can judge.
    #[test]
    fn requests_with_changed_bytes_are_judged_like_any_other(
        report in 0..3usize, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = ask("a", report).to_bytes();
        for (place, byte) in changes {
            // Digits make other numbers; most else is no JSON any more.
            let place = place.index(bytes.len());
            bytes[place] = if bytes[place].is_ascii_digit() { b'0' + byte % 10 } else { byte };
        }
        if let Ok(request) = Request::from_bytes(&bytes) {
            try_out(&mut device(both()), &request)?;
        }
    }
}
