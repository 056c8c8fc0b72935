//! What expressions come to on columns is what they mean value by value.

use eke_engine::testing::compute;
use eke_sql::{Type, Value, canonical, evaluate};
use eke_testkit::expressions::{COLUMNS, any_expr, look, row};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// For random expressions of every kind, also in canonical form, over odd rows.
    #[test]
    fn columns_agree_with_the_meaning_of_expressions(
        (_, expr) in any_expr(4),
        rows in prop::collection::vec(row(), 1..6),
    ) {
        let columns: Vec<(String, Type)> =
            COLUMNS.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        let found = [canonical(expr.clone()), expr].map(|expr| (compute(&expr, &columns, &rows), expr));
        // Plans hold canonical expressions; others may have NULLs that nothing gives a type.
        prop_assert!(found[0].0.is_ok(), "{}", &found[0].1);
        for (found, expr) in found {
            let Ok((found, _)) = found else { continue };
            for (row, found) in rows.iter().zip(&found) {
                let expected: Value = evaluate(&expr, &|leaf| look(row, leaf));
                prop_assert_eq!(found, &expected, "{} for {:?}", &expr, row);
            }
        }
    }
}
