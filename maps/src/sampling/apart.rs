//! Frames that keep apart: independent orthogonal frames leave gaps between each other, and turning
//! them closes these.
//!
//! Orthogonal frames with their opposites sum every polynomial of degree 3 over the sphere
//! exactly, and leave the terms of degree 4 to chance. How much those err is the sum of (v'w)^4
//! over all rows v, w of different frames, which cannot fall below that of points that sum them
//! exactly, too (Welch 1974; Delsarte, Goethals and Seidel 1977). So each frame is turned until its
//! sum with the frames before it is small. How far depends on angles between frames alone, so that
//! the whole still points everywhere alike, and every row is as good a draw as before.

/// With more columns than this there are few frames, and little to gain.
const MOST_COLUMNS: usize = 64;
/// Rows before a frame that it keeps apart from.
const BEFORE: usize = 2048;
/// How often each pair of rows is turned; more gains little.
const SWEEPS: usize = 2;
/// Partial sums, for vector registers; their order is part of the result.
const LANES: usize = 8;

/// The rows that are needed for the first `rows` of `d` columns: whole frames, for what the first
/// rows of one become depends on all of them.
pub(super) fn rows(d: usize, rows: usize) -> usize {
    if d <= MOST_COLUMNS {
        rows.next_multiple_of(d)
    } else {
        rows
    }
}

/// Turns each frame of `d` rows in `rows`, `[frames * d, d]`, away from those before it.
pub(super) fn keep_apart(d: usize, rows: &mut [f64]) {
    if !(2..=MOST_COLUMNS).contains(&d) {
        return;
    }
    // The first stays.
    for first in (d..rows.len() / d).step_by(d) {
        let (before, rest) = rows.split_at_mut(first * d);
        let before = &before[first.saturating_sub(BEFORE) * d..];
        turn(d, &mut rest[..d * d], before);
    }
}

/// Turns a frame by pairs of its rows, as Jacobi's method does a matrix.
fn turn(d: usize, frame: &mut [f64], before: &[f64]) {
    // Row i: the products of row i of the frame with all rows before, filled up with zeros.
    let width = (before.len() / d).next_multiple_of(LANES);
    let mut products = vec![0.0; d * width];
    for (row, products) in frame.chunks(d).zip(products.chunks_mut(width)) {
        for (other, product) in before.chunks(d).zip(products) {
            *product = row.iter().zip(other).map(|(a, b)| a * b).sum();
        }
    }
    for _ in 0..SWEEPS {
        for p in 0..d {
            for q in p + 1..d {
                let Some(angle) = best_angle(pair(&mut products, width, p, q)) else {
                    continue;
                };
                rotate(pair(&mut products, width, p, q), angle);
                rotate(pair(frame, d, p, q), angle);
            }
        }
    }
}

/// Rows `p` and `q` of a matrix of rows of `width`, p < q.
fn pair(matrix: &mut [f64], width: usize, p: usize, q: usize) -> (&mut [f64], &mut [f64]) {
    let (head, tail) = matrix.split_at_mut(q * width);
    (&mut head[p * width..][..width], &mut tail[..width])
}

/// The cosine and the sine of the angle by which the plane of two rows x and y is turned so that
/// the sum of x^4 + y^4 is least; `None` where all angles are alike.
///
/// With u = x + iy, x^4 + y^4 = (3 |u|^4 + Re u^4) / 4, and turning by theta takes u^4 to
/// u^4 exp(-4 i theta): the least has 4 theta opposite to the sum of u^4. Its quarter by half-angle
/// formulas takes roots alone, which every machine rounds alike.
fn best_angle((x, y): (&mut [f64], &mut [f64])) -> Option<(f64, f64)> {
    let (mut real, mut imaginary) = ([0.0; LANES], [0.0; LANES]);
    let (x, _) = x.as_chunks::<LANES>();
    let (y, _) = y.as_chunks::<LANES>();
    for (x, y) in x.iter().zip(y) {
        for l in 0..LANES {
            let (a, b) = (x[l] * x[l] - y[l] * y[l], 2.0 * x[l] * y[l]);
            real[l] += a * a - b * b;
            imaginary[l] += 2.0 * a * b;
        }
    }
    let (real, imaginary): (f64, f64) = (real.iter().sum(), imaginary.iter().sum());
    let size = (real * real + imaginary * imaginary).sqrt();
    if size == 0.0 {
        return None;
    }
    let (cos_4, sin_4) = (-real / size, -imaginary / size);
    let cos_2 = (0.5 * (1.0 + cos_4)).max(0.0).sqrt();
    let sin_2 = (0.5 * (1.0 - cos_4)).max(0.0).sqrt().copysign(sin_4);
    let cos = (0.5 * (1.0 + cos_2)).sqrt();
    Some((cos, sin_2 / (2.0 * cos)))
}

/// x' = cos x + sin y, y' = cos y - sin x.
fn rotate((x, y): (&mut [f64], &mut [f64]), (cos, sin): (f64, f64)) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (cos * *x + sin * *y, cos * *y - sin * *x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{sampling::orthogonal::directions, seed::Seed};

    /// The mean of (v'w)^4 over rows of different frames.
    fn nearness(d: usize, rows: &[f64]) -> f64 {
        let rows: Vec<&[f64]> = rows.chunks(d).collect();
        let (mut sum, mut count) = (0.0, 0);
        for (i, v) in rows.iter().enumerate() {
            for w in &rows[..i / d * d] {
                let product: f64 = v.iter().zip(*w).map(|(v, w)| v * w).sum();
                sum += product.powi(4);
                count += 1;
            }
        }
        sum / f64::from(count)
    }

    /// Of independent directions the mean is 3 / (d (d + 2)). It is 1 / d^2 at least, since the
    /// squares of v'w over a frame sum to 1; and the mean over all pairs of n rows, which the rows
    /// of one frame enter with 1 each, is 3 / (d (d + 2)) at least.
    #[test]
    fn frames_come_apart() {
        for (d, frames, share) in [(2, 2, 1e-9), (3, 30, 0.05), (8, 12, 0.16), (16, 20, 0.26)] {
            let mut rows = directions(d, frames * d, Seed(3));
            let n = (frames * d) as f64;
            let independent = 3.0 / (d * (d + 2)) as f64;
            let least = (n * independent - 1.0) / (n - d as f64);
            let least = least.max(1.0 / (d * d) as f64);
            let left = |rows: &[f64]| (nearness(d, rows) - least) / (independent - least);
            let before = left(&rows);
            keep_apart(d, &mut rows);
            let after = left(&rows);
            println!("{d} columns: {before:.3} of what can be gained, {after:.3} after");
            assert!(before > 0.4 && after > -1e-9, "{d}: {before} {after}");
            assert!(after < share, "{d}: {after}");
        }
    }

    /// Among all angles, by trying.
    #[test]
    fn the_angle_is_the_best_of_all() {
        let rows = directions(5, 10, Seed(9));
        let (mut x, mut y) = (vec![0.0; 8], vec![0.0; 8]);
        x[..5].copy_from_slice(&rows[..5]);
        y[..5].copy_from_slice(&rows[25..30]);
        let fourth = |x: &[f64], y: &[f64]| -> f64 { x.iter().chain(y).map(|v| v.powi(4)).sum() };
        let turned = |angle: (f64, f64)| {
            let (mut x, mut y) = (x.clone(), y.clone());
            rotate((&mut x, &mut y), angle);
            fourth(&x, &y)
        };
        let found = best_angle((&mut x.clone(), &mut y.clone())).expect("not all alike");
        assert!((found.0.hypot(found.1) - 1.0).abs() < 1e-15);
        let all = (0..10_000).map(|i| f64::from(i) * 1e-4 * std::f64::consts::PI);
        let best = all
            .map(|t| turned((t.cos(), t.sin())))
            .fold(f64::INFINITY, f64::min);
        assert!(
            (turned(found) - best).abs() < 1e-6,
            "{} {best}",
            turned(found)
        );
        assert_eq!(best_angle((&mut [0.0; 8], &mut [0.0; 8])), None);
    }
}
