//! Eigenvalues of small symmetric matrices.

/// The eigenvalues of a symmetric matrix, smallest first, by Jacobi's rotations: each takes one
/// entry beside the diagonal to zero, and rounds after all of them are as small as rounding.
pub(crate) fn eigenvalues(matrix: &[Vec<f64>]) -> Vec<f64> {
    let size = matrix.len();
    let mut matrix = matrix.to_vec();
    let norm: f64 = matrix.iter().flatten().map(|entry| entry * entry).sum::<f64>().sqrt();
    for _ in 0..64 {
        let mut beside = 0.0;
        for row in 0..size {
            for column in row + 1..size {
                beside += matrix[row][column] * matrix[row][column];
                rotate(&mut matrix, row, column);
            }
        }
        if beside.sqrt() <= f64::EPSILON * norm {
            break;
        }
    }
    let mut values: Vec<f64> = (0..size).map(|index| matrix[index][index]).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Turns the plane of two coordinates so that their entry beside the diagonal is zero.
fn rotate(matrix: &mut [Vec<f64>], p: usize, q: usize) {
    let entry = matrix[p][q];
    if entry == 0.0 {
        return;
    }
    // The smaller angle, by its tangent.
    let half = (matrix[q][q] - matrix[p][p]) / (2.0 * entry);
    let tangent = half.signum() / (half.abs() + half.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    matrix[p][p] -= tangent * entry;
    matrix[q][q] += tangent * entry;
    (matrix[p][q], matrix[q][p]) = (0.0, 0.0);
    for other in (0..matrix.len()).filter(|&other| other != p && other != q) {
        let (to_p, to_q) = (matrix[p][other], matrix[q][other]);
        let turned = (cosine * to_p - sine * to_q, sine * to_p + cosine * to_q);
        (matrix[p][other], matrix[other][p]) = (turned.0, turned.0);
        (matrix[q][other], matrix[other][q]) = (turned.1, turned.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_of_known_matrices_are_found() {
        let close = |matrix: &[Vec<f64>], known: &[f64]| {
            for (found, known) in eigenvalues(matrix).iter().zip(known) {
                assert!((found - known).abs() < 1e-13, "{found} {known}");
            }
        };
        close(&[vec![1.0, 2.0], vec![2.0, 1.0]], &[-1.0, 3.0]);
        close(&[vec![2.0, 0.0], vec![0.0, -3.0]], &[-3.0, 2.0]);
        close(&[vec![1.0; 3], vec![1.0; 3], vec![1.0; 3]], &[0.0, 0.0, 3.0]);
        // The second difference: 2 - 2 cos(k pi/(n + 1)).
        let size = 12;
        let difference: Vec<Vec<f64>> = (0..size)
            .map(|row: usize| {
                let entry = |column: usize| match row.abs_diff(column) {
                    0 => 2.0,
                    1 => -1.0,
                    _ => 0.0,
                };
                (0..size).map(entry).collect()
            })
            .collect();
        let known: Vec<f64> = (1..=size)
            .map(|k| 2.0 - 2.0 * (k as f64 * std::f64::consts::PI / (size + 1) as f64).cos())
            .collect();
        close(&difference, &known);
    }
}
