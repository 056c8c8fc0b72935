//! Walks of a few people and of many: what they pay, and what they report.

use eke_budget::{L2, Metres, Rho};
use eke_noise::release::RowBound;
use proptest::prelude::*;

use super::*;
use crate::crowd::count::count;
use crate::crowd::density::density;
use crate::crowd::neighbours::neighbours;
use crate::crowd::{PlanError, Rule, Split, Way};
use crate::width::Miss;
use crate::{Crowd, Lattice, Shape};
use eke_testkit::Dice;

fn amount(text: &str) -> Amount<Rho> {
    text.parse().unwrap()
}

fn metres(value: f64) -> Metres {
    Metres::new(value).unwrap()
}

fn plan(way: Way, split: Split, rule: Rule) -> Plan {
    Plan { way, split, rule, beta: Miss::new(0.05).unwrap() }
}

/// Truths that a metre moves by 2,048 steps.
fn exact(truths: &[i64], width: usize) -> Exact<Rows<'_>> {
    Exact::new(Rows(truths.into()), RowBound::new(L2::new(2048.0).unwrap(), width))
}

const SPLITS: [Split; 4] = [
    Split::Even(4),
    Split::Even(9),
    Split::Doubling(6),
    Split::Geometric { rounds: 13, ratio: 1.2 },
];

/// Which of them walked in each round, told by a rule that lets a coin decide.
fn walk_at_random(
    accounts: &mut Sheet<Rho>,
    allowance: &Allowance,
    plan: &Plan,
    seed: u64,
) -> (Vec<Vec<u32>>, Spending, Reports) {
    let people = accounts.len();
    let truths = vec![7; people];
    let walk = Walk { truths: exact(&truths, 1), allowance, plan };
    let (mut walked, mut coin) = (Vec::new(), Dice(seed ^ 77));
    let (reports, _, spending) = walk
        .run(
            accounts,
            &mut RowNoise::default(),
            Seen::default(),
            &mut Dice(seed),
            |_, walking, _| {
                walked.push(walking.clone());
                walking.retain(|_| coin.uniform() < 0.8);
            },
        )
        .unwrap();
    (walked, spending, reports)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whenever people stop, and whatever accounts and allowances are: what each person has paid is
    /// what the rounds cost in which it walked, within its allowance and its account, and that is
    /// what its average is worth.
    #[test]
    fn everybody_pays_for_the_rounds_they_walked_and_no_more(
        budgets in prop::collection::vec(0u128..4_000_000, 1..40),
        allowances in prop::collection::vec(0u128..2_000_000, 40),
        same in any::<bool>(),
        split in 0usize..SPLITS.len(),
        once in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let grains = |millionths: u128| Amount::from_grains(millionths * 10u128.pow(24));
        let people = budgets.len();
        let budgets: Vec<Amount<Rho>> = budgets.into_iter().map(grains).collect();
        let each: Vec<Amount<Rho>> = allowances.into_iter().take(people).map(grains).collect();
        let allowance =
            if same { Allowance::Same(each[0].max(grains(1))) } else { Allowance::Each(each) };
        let rule = if once { Rule::Once } else { Rule::Ours };
        let plan = plan(Way::Distance, SPLITS[split], rule);
        let mut accounts = Sheet::each(budgets.clone()).unwrap();
        let (walked, spending, reports) = walk_at_random(&mut accounts, &allowance, &plan, seed);
        for (person, &budget) in (0u32..).zip(&budgets) {
            let allowed = allowance.of(person as usize);
            let prices = match plan.prices(allowed) {
                Err(PlanError::Small(_)) => Vec::new(),
                prices => prices.unwrap(),
            };
            let rounds = walked.iter().filter(|walking| walking.contains(&person)).count();
            let due = prices[..rounds].iter().map(|price| price.grains()).sum::<u128>();
            let spent = spending.spent[person as usize];
            prop_assert_eq!(spent.grains(), due);
            prop_assert_eq!(spent, accounts.spent()[person as usize]);
            prop_assert_eq!(spent, reports.stand(person).spent);
            prop_assert!(spent <= allowed && spent <= budget);
        }
        let sums: u32 = spending.rounds.iter().map(|round| round.walked).sum();
        prop_assert_eq!(sums as usize, walked.iter().map(Vec::len).sum::<usize>());
    }
}

#[test]
fn people_who_cannot_pay_stay_out() {
    // Rounds of a quarter: the second person can pay for two of them, the third for none.
    let mut accounts = Sheet::each(vec![amount("1"), amount("0.6"), amount("0.2")]).unwrap();
    let allowance = Allowance::Same(amount("1"));
    let plan = plan(Way::Distance, Split::Even(4), Rule::Ours);
    let walk = Walk { truths: exact(&[0, 0, 0], 1), allowance: &allowance, plan: &plan };
    let mut walked = Vec::new();
    let keep = |_: &Reports, walking: &mut Vec<u32>, _: Look| walked.push(walking.clone());
    let (_, walking, spending) = walk
        .run(&mut accounts, &mut RowNoise::default(), Seen::default(), &mut Dice(1), keep)
        .unwrap();
    assert_eq!(walked, [vec![0, 1], vec![0, 1], vec![0], vec![0]]);
    assert_eq!(walking, [0]);
    assert_eq!(spending.spent, [amount("1"), amount("0.5"), Amount::ZERO]);
    let refused: Vec<u32> = spending.rounds.iter().map(|round| round.refused).collect();
    assert_eq!(refused, [1, 0, 1, 0]);
    assert!((spending.saved() - (0.0 + 0.5 + 1.0) / 3.0).abs() < 1e-12);
}

/// Averages of 40,000 people after one and after four rounds, prepared laws and draws of one: their
/// mean square in units of what was paid for is 1, and less than one part in 25 off with a
/// probability above 1 - 1e-7 (a chi-square of 40,000 has a relative deviation of 0.0071). A price
/// that is 5 % off is not.
#[test]
fn reports_have_the_law_that_was_paid_for() {
    const PEOPLE: u32 = 40_000;
    for (split, stop) in
        [(Split::Even(4), false), (Split::Even(4), true), (Split::Doubling(3), false)]
    {
        let truths: Vec<i64> = (0..2 * i64::from(PEOPLE)).map(|truth| truth * 1000).collect();
        let mut accounts = Sheet::same(amount("1"), PEOPLE as usize).unwrap();
        let allowance = Allowance::Same(amount("0.8"));
        let plan = plan(Way::Point, split, Rule::Ours);
        let walk = Walk { truths: exact(&truths, 2), allowance: &allowance, plan: &plan };
        let halve = |_: &Reports, walking: &mut Vec<u32>, _: Look| {
            if stop {
                walking.retain(|person| person % 2 == 0);
            }
        };
        let (reports, ..) = walk
            .run(&mut accounts, &mut RowNoise::default(), Seen::default(), &mut Dice(3), halve)
            .unwrap();
        let mut sum = 0.0;
        for person in 0..PEOPLE {
            for (mean, &truth) in reports.mean(person).iter().zip(&truths[2 * person as usize..]) {
                let paid = accounts.spent()[person as usize].to_f64();
                let variance = 2048.0 * 2048.0 / (2.0 * paid);
                sum += (mean - truth as f64).powi(2) / variance;
            }
        }
        let ratio = sum / (2.0 * f64::from(PEOPLE));
        assert!((ratio - 1.0).abs() < 0.04, "{split:?} {ratio}");
        assert!((ratio * 1.05 - 1.0).abs() > 0.01, "the control");
    }
}

fn crowd(people: usize, seed: u64) -> Crowd {
    let lattice = Lattice::boxed(2, metres(20_000.0), Metres::ONE).unwrap();
    let mut seeded = Dice(seed);
    let mut point = || [seeded.uniform(), seeded.uniform()].map(|part| 8000.0 * (part - 0.5));
    let points = (0..people).flat_map(|_| lattice.put(&point())).collect();
    Crowd::new(lattice, points, Sheet::same(amount("1"), people).unwrap()).unwrap()
}

/// An answer about points is a point on everybody's path: asking again is free, going on costs the
/// difference.
#[test]
fn a_second_question_goes_on_from_what_was_seen() {
    let mut people = crowd(500, 5);
    let lattice = *people.lattice();
    let square = Shape::rectangle(&lattice, [0.0, 0.0], [metres(2000.0); 2], 0.0).unwrap();
    let asked = plan(Way::Point, Split::Even(8), Rule::Paper);
    let small = Allowance::Same(amount("1e-5"));
    let first = count(&mut people, &square, &small, &asked, &mut Dice(6)).unwrap();
    assert!(first.spending.saved() > 0.3);
    let stored = serde_json::to_string(people.seen()).unwrap();
    // Another program, which reads what was stored.
    let mut again = crowd(500, 5);
    again.restore(serde_json::from_str(&stored).unwrap()).unwrap();
    assert_eq!(again.seen(), people.seen());
    let same = count(&mut again, &square, &small, &asked, &mut Dice(7)).unwrap();
    // Paths that had stopped stop again there at the latest; paths that had not have walked to the
    // end.
    assert_eq!(same.spending.spent, vec![Amount::ZERO; 500]);
    assert_eq!(again.seen(), people.seen());
    let once = plan(Way::Point, Split::Even(1), Rule::Once);
    let wider = Allowance::Same(amount("2e-5"));
    let centre = lattice.put(&[0.0, 0.0]);
    let far = density(&mut again, &centre, metres(500.0), &wider, &once, &mut Dice(8)).unwrap();
    for (seen, spent) in people.seen().prices().iter().zip(&far.spending.spent) {
        assert_eq!(seen.plus(*spent), Some(amount("2e-5")));
    }
    let near = neighbours(&mut again, &centre, 5, &wider, &once, &mut Dice(9)).unwrap();
    assert_eq!(near.spending.spent, vec![Amount::ZERO; 500]);
    let other = Seen::stored(vec![Amount::ONE], vec![0.5, 0.5]).unwrap();
    assert!(matches!(again.restore(other), Err(CrowdError::Seen { .. })));
}

#[test]
fn what_cannot_be_asked_is_refused_before_anybody_pays() {
    let mut people = crowd(50, 5);
    let centre = people.lattice().put(&[0.0, 0.0]);
    let everything = plan(Way::Distance, Split::Even(4), Rule::Ours);
    let mut ask = |k, to: &[i64], allowance: &Allowance| {
        let asked = neighbours(&mut people, to, k, allowance, &everything, &mut Dice(1));
        assert_eq!(people.accounts().spent(), [Amount::ZERO; 50]);
        asked.unwrap_err()
    };
    let fine = Allowance::Same(amount("1"));
    assert!(matches!(ask(0, &centre, &fine), CrowdError::Neighbours { .. }));
    assert!(matches!(ask(51, &centre, &fine), CrowdError::Neighbours { .. }));
    assert!(matches!(ask(5, &[0], &fine), CrowdError::Dimensions { .. }));
    assert!(matches!(ask(5, &[i64::MAX, 0], &fine), CrowdError::Beyond));
    let each = Allowance::Each(vec![amount("1"); 49]);
    assert!(matches!(ask(5, &centre, &each), CrowdError::Allowances { .. }));
    let large = Allowance::Same(amount("200000000"));
    assert!(matches!(ask(5, &centre, &large), CrowdError::Narrow(_)));
    let tiny = Allowance::Same(amount("1e-25"));
    assert!(matches!(ask(5, &centre, &tiny), CrowdError::Wide(_)));
    assert_eq!(format!("{people:?}"), "Crowd { people: 50, .. }");
}

/// Ladders of different allowances meet up to a few grains: what is due there is nothing, and not
/// noise that cannot be drawn.
#[test]
fn questions_at_other_prices_go_on_from_what_was_seen() {
    for start in ["1e-5", "1.5e-5"] {
        let mut people = crowd(500, 5);
        let lattice = *people.lattice();
        let square = Shape::rectangle(&lattice, [0.0, 0.0], [metres(2000.0); 2], 0.0).unwrap();
        let ours = Plan { way: Way::Point, ..Plan::default() };
        let once = Plan { rule: Rule::Once, ..ours };
        let mut furthest = Amount::ZERO;
        let steps = [(start, ours), ("2e-5", ours), ("3e-5", ours), ("4e-5", ours)];
        for (price, plan) in steps.into_iter().chain([("1e-5", once), ("1e-6", once)]) {
            let price = amount(price);
            furthest = furthest.max(price);
            count(&mut people, &square, &Allowance::Same(price), &plan, &mut Dice(6)).unwrap();
            // What was paid is what was seen, and no more than the furthest point.
            assert_eq!(people.accounts().spent(), people.seen().prices());
            assert!(people.seen().prices().iter().all(|seen| *seen <= furthest));
        }
        // People who walked to the end of one question are within a small step of it.
        let least = Amount::from_grains(amount("1e-5").grains() / 1024 * 1023);
        assert!(people.seen().prices().iter().all(|seen| *seen >= least));
    }
}

/// A last round that cannot be drawn is found before the first one is charged, and what was seen
/// stays.
#[test]
fn prices_are_checked_before_anybody_pays() {
    let mut people = crowd(50, 5);
    let lattice = *people.lattice();
    let square = Shape::rectangle(&lattice, [0.0, 0.0], [metres(2000.0); 2], 0.0).unwrap();
    let asked = plan(Way::Point, Split::Doubling(20), Rule::Ours);
    let small = Allowance::Same(amount("1e-5"));
    count(&mut people, &square, &small, &asked, &mut Dice(6)).unwrap();
    let (seen, spent) = (people.seen().clone(), people.accounts().spent().to_vec());
    assert_eq!(seen.prices().len(), 50);
    let large = Allowance::Same(amount("1e6"));
    let refused = count(&mut people, &square, &large, &asked, &mut Dice(7));
    assert!(matches!(refused, Err(CrowdError::Narrow(_))), "{refused:?}");
    assert_eq!((people.seen(), people.accounts().spent()), (&seen, &spent[..]));
}

/// A person who has moved keeps the account, and pays for the new place from its beginning.
#[test]
fn people_who_have_moved_keep_their_accounts_and_nothing_else() {
    let mut people = crowd(50, 5);
    let lattice = *people.lattice();
    let square = Shape::rectangle(&lattice, [0.0, 0.0], [metres(2000.0); 2], 0.0).unwrap();
    let asked = plan(Way::Point, Split::Even(4), Rule::Once);
    let price = Allowance::Same(amount("1e-5"));
    for times in 1..=3u32 {
        people.move_to(vec![0; 100]).unwrap();
        assert!(people.seen().prices().is_empty());
        count(&mut people, &square, &price, &asked, &mut Dice(6)).unwrap();
        let paid = amount("1e-5").times(times).unwrap();
        assert_eq!(people.accounts().spent(), [paid; 50]);
    }
    assert!(matches!(people.move_to(vec![0; 99]), Err(CrowdError::Points { .. })));
    assert!(matches!(people.move_to(vec![i64::MAX; 100]), Err(CrowdError::Beyond)));
}
