//! Blocks of kernels of the distance by one product: `|x|^2 + |y|^2 - 2 x.y`, which takes one
//! operation a coordinate where a difference takes two. Of neighbours it loses the digits, so their
//! distance is summed from differences after it.

use super::{
    elementary::{ByRounding, Rounding, Twice, as_vectors},
    forms::{
        Below, Exponential, Form, Gaussian, LANES, Lanes, Matern32, Matern52, RationalQuadratic,
        values,
    },
};
use crate::{kernels::BlockForm, ops::kernel_block::Level, ops::product::RightFactor};
use ndarray::ArrayView2;
use pulp::{Simd, WithSimd};

/// Two rows are neighbours below this share of `|x|^2 + |y|^2`. What the product leaves of a larger
/// squared distance is wrong by the rounding of four of its own size at most; a sum of differences
/// over so many coordinates is no better.
const NEIGHBOURS: f32 = 0.25;
/// Fewer columns or landmarks gain nothing.
const LEAST: usize = 64;
/// Pairs of landmarks that are looked at.
const PAIRS: usize = 2048;
/// What a pair of neighbours takes longer than another, in what a product saves of a coordinate.
const COST: usize = 6400;
/// Entries of the block that are worked on at a time: they stay in second-level cache.
const ENTRIES: usize = 48 << 10;
/// Partial sums of a distance, whatever the width of vectors.
const PLACES: usize = 32;

/// Kernels of a squared distance.
#[derive(Debug, Clone, Copy)]
enum Squared {
    Gaussian,
    Exponential,
    Matern32,
    Matern52,
    RationalQuadratic { alpha: f64 },
}

impl Squared {
    fn new(form: BlockForm) -> Option<Self> {
        match form {
            BlockForm::Gaussian => Some(Self::Gaussian),
            BlockForm::Exponential => Some(Self::Exponential),
            BlockForm::Matern32 => Some(Self::Matern32),
            BlockForm::Matern52 => Some(Self::Matern52),
            BlockForm::RationalQuadratic { alpha } => Some(Self::RationalQuadratic { alpha }),
            BlockForm::Laplacian
            | BlockForm::Cauchy
            | BlockForm::Hat
            | BlockForm::ArcCosine { .. } => None,
        }
    }
}

/// Landmarks, and all that a block needs of them.
pub(super) struct Products {
    form: Squared,
    level: Level,
    /// `[m, d]`.
    landmarks: Vec<f32>,
    depth: usize,
    /// The landmarks across, and a column of zeros where one of ones comes after them.
    factor: RightFactor,
    /// Their squared lengths, padded to whole lanes.
    squares: Vec<f32>,
}

impl std::fmt::Debug for Products {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} by products, {:?}", self.form, self.level)
    }
}

impl Products {
    /// Where the kernel is one of a squared distance, and the landmarks are many, long and no
    /// neighbours of each other.
    pub(super) fn new(
        form: BlockForm,
        level: Level,
        landmarks_md: ArrayView2<'_, f32>,
    ) -> Option<Self> {
        let form = Squared::new(form)?;
        let (m, depth) = landmarks_md.dim();
        if m < LEAST || depth < LEAST {
            return None;
        }
        let landmarks: Vec<f32> = landmarks_md.iter().copied().collect();
        let row = |j: usize| &landmarks[j * depth..][..depth];
        let mut squares: Vec<f32> = (0..m).map(|j| square(row(j))).collect();
        if neighbours(m, row, &squares) * COST > PAIRS * depth {
            return None;
        }
        squares.resize(m.next_multiple_of(LANES), 0.0);
        let width = level.columns(m);
        let mut across = vec![0.0; depth * width];
        for (c, across) in across.chunks_exact_mut(width).enumerate() {
            for (j, to) in across.iter_mut().take(m).enumerate() {
                *to = landmarks[j * depth + c];
            }
        }
        Some(Self {
            form,
            level,
            factor: RightFactor::new(&across, depth, width),
            landmarks,
            depth,
            squares,
        })
    }

    /// Whole rows on one thread.
    pub(super) fn write(&self, x: &[f32], k: &mut [f32]) {
        let width = k.len() / (x.len() / self.depth);
        let rows = (ENTRIES / width).next_multiple_of(12).clamp(24, 240);
        let rows = x.chunks(rows * self.depth).zip(k.chunks_mut(rows * width));
        for (x, k) in rows {
            self.factor.times(x, k);
            crate::instructions::arch().dispatch(Kernels { block: self, x, k });
        }
    }

    /// The squared distances of a row to the landmarks from `from` on, from their products with it.
    #[inline(always)]
    fn distances<R: Rounding>(&self, x: &[f32], square: f32, from: usize, mut k: Lanes) -> Lanes {
        let squares = &self.squares[from..from + LANES];
        let mut sums = [0.0; LANES];
        let mut near = 0_u32;
        for l in 0..LANES {
            sums[l] = square + squares[l];
            k[l] = R::mul_add(-2.0, k[l], sums[l]);
            near |= u32::from(is_near(k[l], sums[l]));
        }
        if near != 0 {
            self.mend::<R>(x, &sums, from, &mut k);
        }
        k
    }

    /// Sums the distances of neighbours from differences.
    #[cold]
    #[inline(always)]
    fn mend<R: Rounding>(&self, x: &[f32], sums: &Lanes, from: usize, k: &mut Lanes) {
        let landmarks = self.landmarks[from * self.depth..].chunks_exact(self.depth);
        for ((k, &sum), y) in k.iter_mut().zip(sums).zip(landmarks) {
            if is_near(*k, sum) {
                *k = squared_distance::<R>(x, y);
            }
        }
    }
}

/// Whether the squared distance of two rows, the sum of whose squares is `sum`, wants differences:
/// also where a length overflowed, and there is no number.
#[inline(always)]
fn is_near(distance: f32, sum: f32) -> bool {
    distance.is_nan() || distance < NEIGHBOURS * sum
}

/// How many of some pairs of landmarks are neighbours.
fn neighbours<'a>(m: usize, row: impl Fn(usize) -> &'a [f32], squares: &[f32]) -> usize {
    // Bits that are mixed well: landmarks may have a period of their own.
    let mut mixed = 0_u64;
    let mut next = || {
        mixed = mixed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (bits >> 32) as usize % m
    };
    let pairs = (0..PAIRS).map(|_| (next(), next()));
    let near = pairs.filter(|&(i, j)| {
        let distance = squared_distance::<Twice>(row(i), row(j));
        i != j && is_near(distance, squares[i] + squares[j])
    });
    near.count()
}

/// `|x|^2`, of products that f64 holds whole.
fn square(x: &[f32]) -> f32 {
    let mut sums = [0_f64; PLACES];
    for x in x.chunks(PLACES) {
        for (sum, &x) in sums.iter_mut().zip(x) {
            *sum += f64::from(x) * f64::from(x);
        }
    }
    sums.iter().sum::<f64>() as f32
}

/// `|x - y|^2` from differences.
#[inline(always)]
fn squared_distance<R: Rounding>(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0; PLACES];
    let (x, x_rest) = x.as_chunks::<PLACES>();
    let (y, y_rest) = y.as_chunks::<PLACES>();
    for (x, y) in x.iter().zip(y) {
        for l in 0..PLACES {
            sums[l] = R::mul_add(x[l] - y[l], x[l] - y[l], sums[l]);
        }
    }
    for (sum, (x, y)) in sums.iter_mut().zip(x_rest.iter().zip(y_rest)) {
        *sum = R::mul_add(x - y, x - y, *sum);
    }
    // The upper half onto the lower one, until one is left.
    let mut half = PLACES / 2;
    while half > 0 {
        for l in 0..half {
            sums[l] += sums[l + half];
        }
        half /= 2;
    }
    sums[0]
}

/// The kernels of whole rows, over their products with the landmarks.
struct Kernels<'a> {
    block: &'a Products,
    x: &'a [f32],
    k: &'a mut [f32],
}

impl WithSimd for Kernels<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        as_vectors::<S>(self);
    }
}

impl ByRounding for Kernels<'_> {
    #[inline(always)]
    fn round<R: Rounding>(self) {
        match self.block.form {
            Squared::Gaussian => self.at_level::<R, _>(Gaussian),
            Squared::Exponential => self.at_level::<R, _>(Exponential),
            Squared::Matern32 => self.at_level::<R, _>(Matern32),
            Squared::Matern52 => self.at_level::<R, _>(Matern52),
            Squared::RationalQuadratic { alpha } => {
                self.at_level::<R, _>(RationalQuadratic::new(alpha));
            }
        }
    }
}

impl Kernels<'_> {
    #[inline(always)]
    fn at_level<R: Rounding, F: Form>(self, form: F) {
        match self.block.level {
            Level::Zero => self.rows::<R, _>(form),
            Level::Top => self.rows::<R, _>(Below(form)),
        }
    }

    #[inline(always)]
    fn rows<R: Rounding, F: Form>(self, form: F) {
        let Self { block, x, k } = self;
        let m = block.landmarks.len() / block.depth;
        let width = block.level.columns(m);
        let squares: Vec<f32> = x.chunks_exact(block.depth).map(square).collect();
        // Landmarks outside, rows inside: those of a tile stay near for the neighbours among all
        // rows.
        for from in (0..m).step_by(LANES) {
            let rows = x.chunks_exact(block.depth).zip(&squares);
            for ((x, &square), k) in rows.zip(k.chunks_exact_mut(width)) {
                let (k, ones) = k.split_at_mut(m);
                let kernels = |k: Lanes| {
                    let distances = block.distances::<R>(x, square, from, k);
                    let [k] = values::<R, F, 1>(form, [distances]);
                    k
                };
                match k[from..].first_chunk_mut::<LANES>() {
                    Some(k) => *k = kernels(*k),
                    None => {
                        let k = &mut k[from..];
                        let mut lanes = [0.0; LANES];
                        lanes[..k.len()].copy_from_slice(k);
                        k.copy_from_slice(&kernels(lanes)[..k.len()]);
                    }
                }
                // The column after the landmarks, where there is one.
                ones.fill(1.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::normal;
    use ndarray::{Array2, s};

    const M: usize = 77;

    /// Rows of length 1, nearly: none is a neighbour of another.
    fn rows(n: usize, d: usize, seed: u64) -> Array2<f32> {
        normal(n, d, seed) * (1.0 / d as f32).sqrt()
    }

    fn block(block: &Products, x: &Array2<f32>) -> Array2<f32> {
        let mut k = Array2::from_elem((x.nrows(), block.level.columns(M)), f32::NAN);
        let x = x.as_standard_layout();
        block.write(
            x.as_slice().expect("standard"),
            k.as_slice_mut().expect("standard"),
        );
        k
    }

    fn gaussian(y: &Array2<f32>) -> Option<Products> {
        Products::new(BlockForm::Gaussian, Level::Zero, y.view())
    }

    #[test]
    fn landmarks_that_are_few_short_or_neighbours_take_differences() {
        assert!(gaussian(&rows(M, 64, 1)).is_some());
        assert!(gaussian(&rows(M, 63, 1)).is_none());
        assert!(gaussian(&rows(63, 64, 1)).is_none());
        let laplacian = Products::new(BlockForm::Laplacian, Level::Zero, rows(M, 64, 1).view());
        assert!(laplacian.is_none());
        // Of what they have in common a fifth of their squares is left apart, and then a third.
        let common = |length: f32| rows(M, 784, 1) + &(rows(1, 784, 9) * length);
        assert!(gaussian(&common(2.0)).is_none());
        assert!(gaussian(&common(1.4)).is_some());
        // In clusters those of each are neighbours, whatever their period.
        for period in [2, 3, 6, 16] {
            let mut y = rows(M, 784, 1);
            for j in period..M {
                let of = y.row(j % period).to_owned();
                let row = &y.row(j) * 0.1 + of;
                y.row_mut(j).assign(&row);
            }
            // One in eight is what so many columns bear.
            assert_eq!(gaussian(&y).is_none(), period < 8, "{period}");
        }
    }

    /// From the top every digit of a small distance is seen: those of equal rows, of near ones, of
    /// ones on both sides of the bound, and of opposite ones.
    #[test]
    fn distances_keep_their_digits() {
        for d in [64, 100, 784] {
            let y = rows(M, d, 2);
            let top = Products::new(BlockForm::Gaussian, Level::Top, y.view()).expect("apart");
            let steps = [0.0, 1e-4, 1e-2, 0.3, 0.49, 0.51, 0.6, 1.0, 2.0];
            let x = Array2::from_shape_fn((steps.len(), d), |(i, c)| {
                y[[5, c]] * (1.0 - steps[i] as f32)
            });
            let k = block(&top, &x);
            assert!(k.column(M).iter().all(|&one| one == 1.0));
            for ((i, j), &k) in k.slice(s![.., ..M]).indexed_iter() {
                let wide = |v: f32| f64::from(v);
                let squares = (0..d).map(|c| (wide(x[[i, c]]) - wide(y[[j, c]])).powi(2));
                let exact = (-0.5 * squares.sum::<f64>()).exp_m1();
                let error = (wide(k) - exact).abs();
                assert!(error <= 1e-6 * exact.abs(), "{i} {j} of {d}: {k} {exact}");
            }
        }
    }

    #[test]
    fn a_row_has_the_same_bits_whatever_rows_are_beside_it() {
        let (x, y) = (rows(100, 70, 3), rows(M, 70, 2));
        let op = gaussian(&y).expect("apart");
        let all = block(&op, &x);
        for rows in [0..1, 7..9, 30..55, 0..97] {
            let some = block(&op, &x.slice(s![rows.clone(), ..]).to_owned());
            assert_eq!(some, all.slice(s![rows, ..]));
        }
    }

    #[test]
    fn rows_whose_squares_overflow_have_the_kernel_of_their_distance() {
        let mut y = rows(M, 64, 2);
        y.row_mut(5).fill(3e19);
        let op = gaussian(&y).expect("apart");
        let mut x = rows(2, 64, 3);
        x.row_mut(0).fill(3e19);
        let k = block(&op, &x);
        assert_eq!(k[[0, 5]], 1.0);
        assert_eq!(k[[1, 5]], 0.0);
        assert!((0..M).filter(|&j| j != 5).all(|j| k[[0, j]] == 0.0));
    }
}
