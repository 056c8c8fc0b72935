//! The numbers that are nowhere negative and have a given sum, nearest to others.

/// The nearest such numbers: the same is taken from all, and what would become negative is zero
/// instead. The sum is above zero or there is nothing to be had: all are zero.
///
/// The largest is taken from all before anything else, which changes nothing but that the sum is
/// not lost beside numbers that are far larger.
pub(crate) fn nearest(mut numbers: Vec<f64>, sum: f64) -> Vec<f64> {
    let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for number in &mut numbers {
        *number -= largest;
    }
    let mut falling = numbers.clone();
    falling.sort_unstable_by(|a, b| b.total_cmp(a));
    // What is taken if the first n stay above zero: the last n for which they do.
    let (mut total, mut taken) = (0.0, f64::INFINITY);
    for (kept, number) in (1u32..).zip(falling) {
        total += number;
        let taken_by_all = (total - sum) / f64::from(kept);
        if number <= taken_by_all {
            break;
        }
        taken = taken_by_all;
    }
    for number in &mut numbers {
        *number = (*number - taken).max(0.0);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// None is negative, the sum is right, the order is kept, doing it again changes nothing,
        /// and from what was given no other possible numbers are in the direction of what came out.
        #[test]
        fn consistent_numbers_are_possible_and_nearest(
            numbers in prop::collection::vec(-1e4..1e4f64, 1..40),
            sum in 1.0..1e5f64,
            other in prop::collection::vec(0.0..1.0f64, 40),
        ) {
            let found = nearest(numbers.clone(), sum);
            prop_assert!(found.iter().all(|number| *number >= 0.0));
            prop_assert!((found.iter().sum::<f64>() - sum).abs() < 1e-9 * sum);
            for (one, two) in numbers.iter().zip(&found) {
                for (other, other_found) in numbers.iter().zip(&found) {
                    prop_assert!(one < other || two >= other_found);
                }
            }
            for (one, two) in found.iter().zip(nearest(found.clone(), sum)) {
                prop_assert!((one - two).abs() < 1e-9 * sum);
            }
            let other = &other[..numbers.len()];
            let scale = sum / other.iter().sum::<f64>().max(1e-9);
            let direction: f64 = numbers
                .iter()
                .zip(&found)
                .zip(other)
                .map(|((number, found), other)| (number - found) * (other * scale - found))
                .sum();
            prop_assert!(direction < 1e-6 * sum * 1e4, "{direction}");
        }
    }

    #[test]
    fn numbers_that_are_possible_stay() {
        assert_eq!(nearest(vec![1.0, 0.0, 3.0], 4.0), [1.0, 0.0, 3.0]);
        assert_eq!(nearest(vec![5.0, -1.0, 0.0], 4.0), [4.0, 0.0, 0.0]);
        assert_eq!(nearest(vec![3.0, 3.0, -2.0], 4.0), [2.0, 2.0, 0.0]);
        assert_eq!(nearest(vec![-3.0, -4.0], 0.0), [0.0, 0.0]);
    }

    #[test]
    fn a_sum_is_not_lost_beside_numbers_that_are_far_larger() {
        assert_eq!(nearest(vec![3.0, 1e20, -1e20], 4.0), [0.0, 4.0, 0.0]);
        assert_eq!(nearest(vec![1e200, -3.0, 1e200], 4.0), [2.0, 0.0, 2.0]);
        assert_eq!(nearest(vec![-1e20, -1e200], 1.0), [1.0, 0.0]);
        assert_eq!(nearest(Vec::new(), 4.0), [0.0; 0]);
    }
}
