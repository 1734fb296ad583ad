//! Kernel matrix of dense features that are computed again: products of all pairs of rows, with one
//! group of rows in memory at a time.

use super::{Block, FeatureProducts};
use crate::{Error, Result, error::Remedy, simd::HeldRows};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};

/// Rows of a group that are multiplied with those before them and with each other at a time.
const TOGETHER: usize = 96;

/// Lower triangle of `Z Z'`, `[n, n]`; the entries above are undefined. A group has as many rows as
/// `bytes` hold in f32, at least one, and is multiplied with itself and with all later rows, in one
/// pass over these: `n^2 D` operations in all, and the features of a row are computed once for each
/// group up to its own. `hear` receives the number of rows in completed groups.
///
/// Sums are in f64, or in f32 over a thousand columns at a time if the resulting error of an entry,
/// estimated from the mean square of the first rows ([`rounding`]), is below `error`.
///
/// Errors with [`Error::Unsupported`] if the features are not available in one piece.
pub(crate) fn dense_kernel(
    features: &mut dyn FeatureProducts,
    bytes: u64,
    error: f64,
    hear: &dyn Fn(usize),
) -> Result<Array2<f64>> {
    let (rows, columns) = (features.rows(), features.columns());
    let mut kernel_nn = Array2::zeros((rows, rows));
    let most = usize::try_from(bytes / (4 * columns.max(1) as u64)).unwrap_or(rows);
    let group = most.clamp(1, rows.max(1));
    let mut held = None;
    for from in (0..rows).step_by(group) {
        let to = rows.min(from + group);
        if let Some(held) = &mut held {
            GroupRows::clear(held);
        }
        let seen = features.blocks(from, &mut |mut row, z_md| {
            let z_md = z_md.as_standard_layout();
            let held = held.get_or_insert_with(|| GroupRows::like(z_md.view(), group, error));
            let own = z_md.nrows().min(to.saturating_sub(row));
            let (own_md, later_md) = z_md.view().split_at(Axis(0), own);
            for some_kd in own_md.axis_chunks_iter(Axis(0), TOGETHER) {
                held.extend(some_kd);
                let (down, across) = (row..row + some_kd.nrows(), from..from + held.rows(columns));
                held.add_products(some_kd, kernel_nn.slice_mut(s![down, across]))?;
                row += some_kd.nrows();
            }
            if later_md.nrows() > 0 {
                let down = row..row + later_md.nrows();
                held.add_products(later_md, kernel_nn.slice_mut(s![down, from..to]))?;
            }
            Ok(())
        })?;
        if !seen {
            let problem = "the products of rows need the features of one map in one piece";
            return Err(Error::unsupported(problem).help(Remedy::ConjugateGradients));
        }
        hear(to);
    }
    Ok(kernel_nn)
}

/// Standard deviation (upper bound) of the error of an entry of `Z Z'` for sums in f32, if its
/// diagonal is about `square`. A sum of 256 terms that grows from 0 to s is rounded by 0.4 u of
/// itself at each of them, u = 2^-24, which totals 3.7 u s; their sums add a third of that; and
/// there are `columns / 256` such s with independent errors.
fn rounding(square: f64, columns: usize) -> f64 {
    let stretches = (columns as f64 / 256.0).max(1.0);
    5.0 * (-24_f64).exp2() * square / stretches.sqrt()
}

/// The rows of a group.
enum GroupRows {
    /// For sums in f32 over some columns.
    Panels(HeldRows),
    /// For sums in f64.
    Rows(Vec<f32>),
}

impl GroupRows {
    /// Allocates `group` rows like the first ones, with f32 sums if these err by less than `error`.
    fn like(first_md: ArrayView2<'_, f32>, group: usize, error: f64) -> Self {
        let (rows, columns) = first_md.dim();
        let squares: f64 = first_md.iter().map(|&z| f64::from(z).powi(2)).sum();
        if rounding(squares / rows as f64, columns) <= error {
            Self::Panels(HeldRows::with_room(group, columns))
        } else {
            Self::Rows(Vec::with_capacity(group * columns))
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Panels(held) => held.clear(),
            Self::Rows(held) => held.clear(),
        }
    }

    fn rows(&self, columns: usize) -> usize {
        match self {
            Self::Panels(held) => held.rows(),
            Self::Rows(held) => held.len() / columns,
        }
    }

    fn extend(&mut self, some_kd: ArrayView2<'_, f32>) {
        let values = some_kd.to_slice().expect("standard layout");
        match self {
            Self::Panels(held) => held.extend(values),
            Self::Rows(held) => held.extend_from_slice(values),
        }
    }

    /// Adds the products of rows with all rows in memory.
    fn add_products(
        &self,
        some_kd: ArrayView2<'_, f32>,
        mut out_kh: ArrayViewMut2<'_, f64>,
    ) -> Result<()> {
        match self {
            Self::Panels(held) => {
                held.add_products(some_kd.to_slice().expect("standard layout"), out_kh);
            }
            Self::Rows(held) => {
                let shape = (out_kh.ncols(), some_kd.ncols());
                let held_hd =
                    ArrayView2::from_shape(shape, held).map_err(|e| Error::shape(e.to_string()))?;
                let held = Block::new(held_hd, 0, 1.0);
                let parts = some_kd.axis_chunks_iter(Axis(0), TOGETHER);
                for (some_kd, out) in parts.zip(out_kh.axis_chunks_iter_mut(Axis(0), TOGETHER)) {
                    held.add_product(some_kd.mapv(f64::from).view(), out);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device, Run,
        check::normal,
        data::MemorySource,
        features::{Affine, DenseFeatures, FeatureMap, Fourier, featurize},
        kernels::Gaussian,
        solve::{StreamedRows, features::TakeBlock},
    };
    use std::cell::RefCell;

    const ROWS: usize = 301;
    const COLUMNS: usize = 2080;

    /// Counts the rows that are passed on.
    struct Counted<'a> {
        rows: StreamedRows<'a>,
        count: usize,
    }

    impl FeatureProducts for Counted<'_> {
        fn rows(&self) -> usize {
            self.rows.rows()
        }
        fn columns(&self) -> usize {
            self.rows.columns()
        }
        fn add_product(&mut self, _: ArrayView2<'_, f64>, _: &mut Array2<f64>) -> Result<()> {
            unreachable!("only products of rows")
        }
        fn transposed(&mut self, _: ArrayView2<'_, f64>, _: &mut Array2<f64>) -> Result<()> {
            unreachable!("only products of rows")
        }
        fn moments(&mut self, _: &mut Array2<f64>) -> Result<()> {
            unreachable!("only products of rows")
        }
        fn blocks(&mut self, from: usize, take: &mut TakeBlock<'_>) -> Result<bool> {
            let count = &mut self.count;
            self.rows.blocks(from, &mut |row0, z_md| {
                *count += z_md.nrows();
                take(row0, z_md)
            })
        }
    }

    fn map() -> DenseFeatures {
        let map = Fourier::new(Gaussian).features(COLUMNS);
        map.build(Affine::identity(3)).expect("builds")
    }

    /// One group of all rows, groups that do not align with chunks, and groups of one row; in f64
    /// and in blocks of f32. Features of rows before a group are not computed for it.
    #[test]
    fn products_of_groups_are_those_of_all_rows() {
        let map = map();
        let mut source = MemorySource::new(normal(ROWS, 3, 1), None).expect("rows");
        let cpu = Device::cpu();
        let mut all = Vec::new();
        let keep = |z: ArrayView2<'_, f32>| {
            all.extend(z.iter().map(|&z| f64::from(z)));
            Ok(())
        };
        featurize(&map, &mut source, &cpu, keep).expect("featurizes");
        let z_nd = Array2::from_shape_vec((ROWS, COLUMNS), all).expect("rows");
        let expected = z_nd.dot(&z_nd.t());
        let row = 4 * COLUMNS as u64;
        let limit = rounding(1.0, COLUMNS);
        for (bytes, group) in [(row << 10, ROWS), (row * 70, 70), (row * 130, 130), (1, 1)] {
            for (error, bound) in [(0.99 * limit, 1e-13), (1.01 * limit, 6.0 * limit)] {
                let place = [(&map as &dyn FeatureMap, 0, 1.0)];
                let run = Run::on(&cpu).memory(2_000_000);
                let rows = StreamedRows::new(&place, &mut source, ROWS, run).expect("loads");
                let mut rows = Counted { rows, count: 0 };
                let heard = RefCell::new(Vec::new());
                let hear = |rows| heard.borrow_mut().push(rows);
                let kernel = dense_kernel(&mut rows, bytes, error, &hear).expect("a kernel");
                let (mut squares, mut largest) = (0.0, 0.0_f64);
                for ((i, j), k) in kernel.indexed_iter().filter(|((i, j), _)| j <= i) {
                    let off = (k - expected[[i, j]]).abs();
                    assert!(off < bound, "{bytes} bytes, {error:e}, {i} {j}: {off:e}");
                    (squares, largest) = (squares + off * off, largest.max(off));
                }
                let pairs = (ROWS * (ROWS + 1) / 2) as f64;
                let deviation = (squares / pairs).sqrt();
                // Sums in f32 are used exactly if the error bound allows.
                assert!(deviation <= limit, "{deviation:e} of {limit:e}");
                assert_eq!(largest > 1e-12, error > limit, "{largest:e}");
                let firsts = (0..ROWS).step_by(group);
                let featurized: usize = firsts.clone().map(|from| ROWS - from).sum();
                assert_eq!(rows.count, featurized);
                let ends: Vec<_> = firsts.map(|from| ROWS.min(from + group)).collect();
                assert_eq!(heard.into_inner(), ends);
            }
        }
        let place = [(&map as &dyn FeatureMap, 0, 0.5)];
        let mut rows = StreamedRows::new(&place, &mut source, ROWS, &cpu).expect("loads");
        let refused = dense_kernel(&mut rows, 1 << 20, 0.0, &|_| ()).expect_err("a part");
        assert!(matches!(refused, Error::Unsupported(_)), "{refused}");
    }

    /// The errors of equal rows, whose sums grow monotonically, are within the stated bound and
    /// above a tenth of it.
    #[test]
    fn sums_over_some_columns_err_as_stated() {
        for columns in [512, 2048, 20_000] {
            let z = normal(40, columns, 5);
            // Close to each other, like rows whose kernel is close to 1.
            let near = Array2::from_shape_fn((40, columns), |(i, j)| z[[0, j]] + 0.1 * z[[i, j]]);
            let mut held = GroupRows::like(near.view(), 40, f64::INFINITY);
            held.extend(near.view());
            let mut kernel = Array2::zeros((40, 40));
            held.add_products(near.view(), kernel.view_mut())
                .expect("rows");
            let wide = near.mapv(f64::from);
            let exact = wide.dot(&wide.t());
            let square = exact.diag().mean().expect("rows");
            let stated = rounding(square, columns);
            let apart = (&kernel - &exact)
                .mapv(|e| e * e)
                .mean()
                .expect("rows")
                .sqrt();
            assert!(
                apart < stated && apart > stated / 10.0,
                "{columns}: {apart:e} of {stated:e}"
            );
        }
    }
}
