//! Many accounts as columns, against accounts one by one.

use eke_budget::account::{Prices, SamePrice, Sheet, SheetError, Who};
use eke_budget::{Account, Amount, Budget, BudgetSpec, Charge, Epsilon, Metric, NoHistory};
use proptest::prelude::*;

fn epsilon(text: &str) -> Amount<Epsilon> {
    text.parse().unwrap()
}

fn pure(epsilon: f64) -> Budget {
    BudgetSpec::promising(Epsilon::new(epsilon).unwrap()).resolve(Metric::Discrete).unwrap()
}

#[test]
fn a_sheet_says_whom_it_did_not_charge_and_leaves_them_as_they_were() {
    let mut sheet = Sheet::each(["1", "0.5", "2", "0"].map(epsilon).to_vec()).unwrap();
    assert_eq!(sheet.charge(Who::Everyone, Prices::Same(epsilon("0.6"))), Ok(vec![1, 3]));
    assert_eq!(sheet.spent(), ["0.6", "0", "0.6", "0"].map(epsilon));
    let each = ["0.5", "1", "0"].map(epsilon);
    assert_eq!(sheet.charge(Who::These(&[1, 2, 3]), Prices::Each(&each)), Ok(vec![]));
    assert_eq!(sheet.charge(Who::These(&[0, 2]), Prices::Same(epsilon("0.4"))), Ok(vec![]));
    assert_eq!(sheet.charge(Who::Everyone, Prices::Same(Amount::GRAIN)), Ok(vec![0, 1, 2, 3]));
    assert_eq!(sheet.charge(Who::Everyone, Prices::Same(Amount::MAX)), Ok(vec![0, 1, 2, 3]));
    assert_eq!(sheet.left(0), Some(Amount::ZERO));
    assert_eq!(sheet.left(4), None);
}

#[test]
fn a_sheet_charges_nobody_if_something_is_wrong() {
    let mut sheet = Sheet::same(epsilon("1"), 3).unwrap();
    let price = Prices::Same(epsilon("0.1"));
    for (these, error) in [
        (vec![0, 3], SheetError::NoAccount(3)),
        (vec![1, 1], SheetError::Order),
        (vec![2, 0], SheetError::Order),
        (vec![u32::MAX], SheetError::NoAccount(3)),
    ] {
        assert_eq!(sheet.charge(Who::These(&these), price), Err(error));
    }
    let two = ["0.1", "0.1"].map(epsilon);
    let error = SheetError::Prices { accounts: 3, prices: 2 };
    assert_eq!(sheet.charge(Who::Everyone, Prices::Each(&two)), Err(error));
    assert_eq!(sheet, Sheet::same(epsilon("1"), 3).unwrap());
    assert_eq!(Sheet::<Epsilon>::each(vec![]), Err(SheetError::TooMany));
}

#[test]
fn what_is_left_is_told_at_fractions_of_the_accounts() {
    let sheet = Sheet::each(["3", "1", "5", "4", "2"].map(epsilon).to_vec()).unwrap();
    let at = sheet.left_at(&[0.0, 0.25, 0.5, 1.0, 1.5, f64::NAN]);
    let some = |text| Some(epsilon(text));
    assert_eq!(at, [some("1"), some("2"), some("3"), some("5"), None, None]);
}

#[test]
fn a_column_of_charges_names_everybody_once_and_prices_everybody() {
    let mut sheet = Sheet::same(epsilon("1"), 3).unwrap();
    let price = epsilon("0.1");
    for (mut these, accounts, error) in [
        (vec![0, 3], 2, SheetError::NoAccount(3)),
        (vec![1, 1], 2, SheetError::Order),
        (vec![0, 1], 3, SheetError::Prices { accounts: 2, prices: 3 }),
    ] {
        let mut prices = [SamePrice { price, accounts }];
        assert_eq!(sheet.charge_column(&mut these, &mut prices).unwrap_err(), error);
    }
    assert_eq!(sheet, Sheet::same(epsilon("1"), 3).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_sheet_charges_and_refuses_as_accounts_do(
        budgets in prop::collection::vec(1..50u32, 1..6),
        charges in prop::collection::vec((any::<u8>(), prop::collection::vec(1..30u32, 6)), 1..20),
    ) {
        let tenths = |n: u32| epsilon(&format!("{}.{}", n / 10, n % 10));
        let mut sheet = Sheet::each(budgets.iter().map(|&n| tenths(n)).collect()).unwrap();
        let open = |&n: &u32| Account::open("one", pure(f64::from(n) / 10.0), &mut NoHistory).unwrap();
        let mut accounts: Vec<Account> = budgets.iter().map(open).collect();
        for (bits, prices) in charges {
            let these: Vec<u32> =
                (0u32..).take(accounts.len()).filter(|account| bits >> account & 1 == 1).collect();
            let prices: Vec<_> = prices.iter().take(these.len()).map(|&n| tenths(n)).collect();
            let mut refused = Vec::new();
            for (&account, &epsilon) in these.iter().zip(&prices) {
                let charge = Charge::Pure { epsilon, delta: Amount::ZERO };
                let paying = &mut accounts[account as usize];
                match paying.approve(charge) {
                    Ok(approved) => { let _ = paying.commit(approved, &mut NoHistory).unwrap().redeem(); }
                    Err(_) => refused.push(account),
                }
            }
            prop_assert_eq!(sheet.charge(Who::These(&these), Prices::Each(&prices)), Ok(refused));
            let spent: Vec<_> =
                accounts.iter().map(|one| one.odometer().pure().unwrap().spent()).collect();
            prop_assert_eq!(sheet.spent(), spent);
        }
    }

    /// Who is named afterwards has paid the price that is named with them, and everybody else has
    /// paid nothing: as by charges one by one.
    #[test]
    fn a_column_of_charges_is_paid_by_those_it_names(
        budgets in prop::collection::vec(0..50u32, 1..40),
        charges in prop::collection::vec((0..30u32, 0..9usize), 1..20),
        named in any::<u64>(),
        same in any::<bool>(),
    ) {
        let tenths = |n: u32| epsilon(&format!("{}.{}", n / 10, n % 10));
        let budgets: Vec<_> = budgets.iter().map(|&n| tenths(n)).collect();
        let open = || match same {
            true => Sheet::same(budgets[0], budgets.len()).unwrap(),
            false => Sheet::each(budgets.clone()).unwrap(),
        };
        let (mut sheet, mut singly) = (open(), open());
        let these: Vec<u32> =
            (0u32..).take(budgets.len()).filter(|account| named >> account & 1 == 1).collect();
        let mut prices = Vec::new();
        let mut left = these.len();
        for (price, accounts) in charges {
            let accounts = accounts.min(left);
            left -= accounts;
            prices.push(SamePrice { price: tenths(price), accounts });
        }
        prices.push(SamePrice { price: tenths(7), accounts: left });
        let each: Vec<_> =
            prices.iter().flat_map(|same| std::iter::repeat_n(same.price, same.accounts)).collect();
        let refused = singly.charge(Who::These(&these), Prices::Each(&each)).unwrap();
        let mut paying = these.clone();
        let paid = sheet.charge_column(&mut paying, &mut prices).unwrap();
        let expected: Vec<_> = these.iter().copied().zip(each)
            .filter(|(account, _)| !refused.contains(account)).collect();
        prop_assert_eq!(paid.accounts().len(), expected.len());
        let told: Vec<_> = paid.redeem()
            .flat_map(|(price, these)| these.iter().map(move |&account| (account, price)))
            .collect();
        prop_assert_eq!(told, expected);
        prop_assert_eq!(sheet, singly);
    }
}
