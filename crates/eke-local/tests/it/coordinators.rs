//! A coordinator and its devices, with a network in between that loses and delays what it likes.

use eke_budget::{Amount, Budget};
use eke_local::collector::{Left, ReplyError};
use eke_local::device::{Currency, RequestError};
use eke_local::worth::ReportError;
use eke_local::{Coordinator, Device, MemoryStorage, Question, Reply, Request};
use proptest::prelude::*;

use crate::devices::{ask, both, components, mechanism, pure};
use crate::{Dice, epsilon};

fn question(name: &str, component: &str, currency: Currency) -> Question {
    let mechanism = mechanism(if component == "colour" { 8 } else { 4 });
    Question { name: name.into(), component: component.into(), mechanism, currency }
}

fn devices(budget: &Budget, many: usize) -> Vec<Device<MemoryStorage>> {
    let device = |number| {
        Device::create(&format!("{number}"), budget.clone(), components(), MemoryStorage::new())
    };
    (0..many).map(|number| device(number).unwrap()).collect()
}

fn left(device: &Device<MemoryStorage>) -> Left {
    let odometer = device.odometer();
    Left {
        pure: odometer.pure().map(|purse| purse.left()),
        zcdp: odometer.zcdp().map(|purse| purse.left()),
    }
}

#[test]
fn users_are_registered_when_they_are_first_asked() {
    let mut coordinator = Coordinator::new(pure(2.0));
    let all = Left { pure: Some(epsilon("2")), zcdp: None };
    assert_eq!(coordinator.left(&7), all);
    let a = question("a", "colour", Currency::Pure);
    let request = coordinator.ask(&a, 0, 1, [7, 8]).unwrap();
    assert_eq!(request, ask("a", 1));
    assert_eq!(coordinator.left(&7).pure, Some(epsilon("1.5")));
    assert_eq!(coordinator.left(&9), all);
    assert_eq!(coordinator.users().collect::<Vec<_>>(), [&7, &8]);
    // Again, and coarser, for nothing; finer for the difference.
    let _ = coordinator.ask(&a, 0, 2, [7]).unwrap();
    assert_eq!(coordinator.left(&7).pure, Some(epsilon("1.5")));
    let fine = coordinator.ask(&a, 0, 0, [7]).unwrap();
    assert_eq!(coordinator.left(&7).pure, Some(epsilon("1")));
    // What was halted was not paid for, and neither was anything dearer.
    coordinator.take(&7, &fine, &Reply::Halted).unwrap();
    assert_eq!(coordinator.left(&7).pure, Some(epsilon("1.5")));
    coordinator.take(&7, &request, &Reply::Halted).unwrap();
    assert_eq!(coordinator.left(&7).pure, Some(epsilon("1.8")));
}

#[test]
fn questions_stay_what_they_are_and_replies_are_to_something() {
    let mut coordinator = Coordinator::new(pure(1.2));
    let a = question("a", "colour", Currency::Pure);
    let request = coordinator.ask(&a, 0, 1, [1]).unwrap();
    let other = question("a", "size", Currency::Pure);
    let error = RequestError::OtherQuestion { question: "a".into(), step: 0 };
    assert_eq!(coordinator.ask(&other, 0, 1, [1]).unwrap_err(), error);
    assert!(coordinator.ask(&other, 1, 1, [1]).is_ok());
    let zcdp = question("b", "colour", Currency::Zcdp);
    assert!(matches!(coordinator.ask(&zcdp, 0, 1, [1]), Err(RequestError::NoPurse(_))));
    assert!(coordinator.ask(&a, 0, 3, [1]).is_err());

    let (mut device, mut entropy) = (devices(&pure(1.2), 1).remove(0), Dice(1));
    let reply = device.answer(&request, &mut entropy).unwrap();
    assert_eq!(coordinator.take(&2, &request, &reply), Err(ReplyError::NotAsked));
    let dearer = coordinator.request(&a, 0, 0).unwrap();
    assert_eq!(coordinator.take(&1, &dearer, &reply), Err(ReplyError::NotAsked));
    assert_eq!(coordinator.take(&1, &request, &reply), Ok(()));
    assert_eq!(coordinator.take(&1, &request, &reply), Ok(()));
    assert_eq!(coordinator.take(&1, &request, &Reply::Halted), Err(ReplyError::Contradiction));
    let dearer = coordinator.ask(&a, 0, 0, [1]).unwrap();
    assert_eq!(coordinator.take(&1, &dearer, &Reply::Halted), Ok(()));
    assert_eq!(coordinator.take(&1, &dearer, &reply), Err(ReplyError::Contradiction));
}

/// A reply as a lying device would send it.
fn reply_of(words: &[u64]) -> Reply {
    serde_json::from_value(serde_json::json!({ "report": words })).unwrap()
}

#[test]
fn a_reply_is_one_report_of_the_law_that_was_asked_for_and_stays_it() {
    let mut coordinator = Coordinator::new(pure(1.2));
    let a = question("a", "colour", Currency::Pure);
    let request = coordinator.ask(&a, 0, 1, [1]).unwrap();
    let mut other = request.clone();
    other.component = "size".into();

    let (mut device, mut entropy) = (devices(&pure(1.2), 1).remove(0), Dice(1));
    let reply = device.answer(&request, &mut entropy).unwrap();
    let Reply::Report(report) = &reply else { panic!("it can pay") };
    let words = report.words().to_vec();
    assert_eq!(reply_of(&words), reply);
    assert_eq!(coordinator.take(&1, &other, &reply), Err(ReplyError::NotAsked));
    for (bad, error) in [
        (vec![], ReportError::Room(1)),
        (words.repeat(8), ReportError::Room(1)),
        (vec![u64::MAX], ReportError::Outside(8)),
    ] {
        let refused = coordinator.take(&1, &request, &reply_of(&bad));
        assert_eq!(refused, Err(ReplyError::NoReport(error)));
    }
    // Nothing was taken to be shown by any of it.
    assert_eq!(coordinator.take(&1, &request, &reply), Ok(()));
    // The same again, but not another one of the law, of which rotating makes one.
    let rotated = u64::from(u8::try_from(words[0]).unwrap().rotate_left(1));
    assert_ne!(words[0], rotated);
    let refused = coordinator.take(&1, &request, &reply_of(&[rotated]));
    assert_eq!(refused, Err(ReplyError::OtherReport));
    assert_eq!(coordinator.take(&1, &request, &reply), Ok(()));
}

/// A request that is on its way, and whether it and its reply arrive.
struct Sent {
    user: usize,
    request: Request,
    reply: Option<Reply>,
}

#[derive(Clone, Debug)]
enum Move {
    /// Ask some users, those of the bits, for a report of a question.
    Ask { question: u8, report: usize, users: u8, currency: bool },
    /// Deliver one of the requests that are on their way.
    Deliver(prop::sample::Index),
    /// Deliver one of the replies.
    Reply(prop::sample::Index),
    /// Lose one of them.
    Lose(prop::sample::Index),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        2 => (0..4u8, 0..3usize, any::<u8>(), any::<bool>()).prop_map(
            |(question, report, users, currency)| Move::Ask { question, report, users, currency }
        ),
        4 => any::<prop::sample::Index>().prop_map(Move::Deliver),
        3 => any::<prop::sample::Index>().prop_map(Move::Reply),
        1 => any::<prop::sample::Index>().prop_map(Move::Lose),
    ];
    prop::collection::vec(one, 1..60)
}

const USERS: usize = 3;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_coordinator_never_says_that_more_is_left_than_is(moves in moves(), seed in any::<u64>()) {
        let budget = both();
        let mut coordinator = Coordinator::new(budget.clone());
        let (mut devices, mut entropy) = (devices(&budget, USERS), Dice(seed));
        let (mut under_way, mut lost) = (Vec::<Sent>::new(), 0);
        let mut deliver = |sent: &mut Sent, devices: &mut Vec<Device<MemoryStorage>>| {
            let reply = devices[sent.user].answer(&sent.request, &mut entropy).unwrap();
            sent.reply = Some(reply);
        };
        for step in moves {
            match step {
                Move::Ask { question: number, report, users, currency } => {
                    let currency = if currency { Currency::Pure } else { Currency::Zcdp };
                    let component = if number % 2 == 0 { "colour" } else { "size" };
                    let question = question(&format!("{number}{currency:?}"), component, currency);
                    let users = (0..USERS).filter(|user| users >> user & 1 == 1);
                    let request = coordinator.ask(&question, 0, report, users.clone()).unwrap();
                    let sent = |user| Sent { user, request: request.clone(), reply: None };
                    under_way.extend(users.map(sent));
                }
                Move::Deliver(index) if !under_way.is_empty() => {
                    let index = index.index(under_way.len());
                    deliver(&mut under_way[index], &mut devices);
                }
                Move::Reply(index) if !under_way.is_empty() => {
                    let sent = &under_way[index.index(under_way.len())];
                    if let Some(reply) = &sent.reply {
                        coordinator.take(&sent.user, &sent.request, reply).unwrap();
                    }
                }
                Move::Lose(index) if !under_way.is_empty() => {
                    under_way.swap_remove(index.index(under_way.len()));
                    lost += 1;
                }
                _ => {}
            }
            for (user, device) in devices.iter().enumerate() {
                let (said, is) = (coordinator.left(&user), left(device));
                prop_assert!(said.pure <= is.pure && said.zcdp <= is.zcdp, "{:?} {:?}", said, is);
            }
        }
        // Everything arrives in the end, but for what was lost.
        for sent in &mut under_way {
            deliver(sent, &mut devices);
            let reply = sent.reply.as_ref().unwrap();
            coordinator.take(&sent.user, &sent.request, reply).unwrap();
        }
        for (user, device) in devices.iter().enumerate() {
            let (said, is) = (coordinator.left(&user), left(device));
            prop_assert!(said.pure <= is.pure && said.zcdp <= is.zcdp);
            prop_assert!(lost > 0 || said == is, "{:?} {:?}", said, is);
        }
    }

    /// Asked only what they can surely pay, in whatever order and with whatever losses, devices
    /// never halt.
    #[test]
    fn what_can_surely_be_paid_for_is_never_halted(
        asked in prop::collection::vec((0..9u8, 0..3usize, any::<bool>(), any::<bool>()), 1..40),
        seed in any::<u64>(),
    ) {
        let budget = both();
        let mut coordinator = Coordinator::new(budget.clone());
        let (mut device, mut entropy) = (devices(&budget, 1).remove(0), Dice(seed));
        let mut refused = 0;
        for (number, report, arrives, pays_pure) in asked {
            let currency = if pays_pure { Currency::Pure } else { Currency::Zcdp };
            let question = question(&format!("{number}{currency:?}"), "colour", currency);
            let request = coordinator.request(&question, 0, report).unwrap();
            if !coordinator.can_pay(&0, &request) {
                refused += 1;
                continue;
            }
            let request = coordinator.ask(&question, 0, report, [0]).unwrap();
            if arrives {
                let reply = device.answer(&request, &mut entropy).unwrap();
                prop_assert!(reply != Reply::Halted);
                coordinator.take(&0, &request, &reply).unwrap();
            }
        }
        prop_assert!(refused == 0 || coordinator.left(&0).pure < Some(Amount::ONE)
            || coordinator.left(&0).zcdp < budget.zcdp().map(|limits| limits.budget));
    }
}
