//! The kernel matrix of dense features that are computed again: products of all pairs of rows, a
//! group of which is held at a time.

use super::{Block, FeatureProducts};
use crate::{Error, Result, error::Remedy};
use ndarray::{Array2, ArrayView2, Axis, s};

/// Rows that are f64 at a time.
const TOGETHER: usize = 96;

/// `Z Z'`, `[n, n]`, its lower triangle, summed in f64; what lies above is of no use. Groups of as
/// many rows as `bytes` hold in f32, at least one, are multiplied with themselves and with all
/// rows that come after them, in one pass each: `n^2 D` operations in all. `hear` learns how many
/// rows have been such a group.
///
/// Errors with [`Error::Unsupported`] where features are nowhere in one piece.
pub(crate) fn dense_kernel(
    features: &mut dyn FeatureProducts,
    bytes: u64,
    hear: &dyn Fn(usize),
) -> Result<Array2<f64>> {
    let (rows, columns) = (features.rows(), features.columns());
    let mut kernel_nn = Array2::zeros((rows, rows));
    let most = usize::try_from(bytes / (4 * columns.max(1) as u64)).unwrap_or(rows);
    let group = most.clamp(1, rows.max(1));
    let mut held = Vec::with_capacity(group * columns);
    for from in (0..rows).step_by(group) {
        let to = rows.min(from + group);
        held.clear();
        let seen = features.blocks(&mut |row0, z_md| {
            let before = from.saturating_sub(row0).min(z_md.nrows());
            let mut row = row0 + before;
            for some_kd in (z_md.slice(s![before.., ..])).axis_chunks_iter(Axis(0), TOGETHER) {
                let own = some_kd.nrows().min(to.saturating_sub(row));
                held.extend(some_kd.slice(s![..own, ..]).iter().copied());
                let shape = (held.len() / columns.max(1), columns);
                let held_hd = ArrayView2::from_shape(shape, &held)
                    .map_err(|e| Error::shape(e.to_string()))?;
                let wide_kd = some_kd.mapv(f64::from);
                let (down, across) = (row..row + some_kd.nrows(), from..from + shape.0);
                let out = kernel_nn.slice_mut(s![down, across]);
                Block::new(held_hd, 0, 1.0).add_product(wide_kd.view(), out);
                row += some_kd.nrows();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device, Run,
        check::normal,
        data::MemorySource,
        features::{Affine, FeatureMap, Fourier, featurize},
        kernels::Gaussian,
        solve::StreamedRows,
    };
    use std::cell::RefCell;

    /// Of all rows at once, of groups whose edges are not those of chunks, and of one row each.
    #[test]
    fn products_of_groups_are_those_of_all_rows() {
        const ROWS: usize = 301;
        let map = Fourier::new(Gaussian).features(24);
        let map = map.build(Affine::identity(3)).expect("builds");
        let mut source = MemorySource::new(normal(ROWS, 3, 1), None).expect("rows");
        let cpu = Device::cpu();
        let mut all = Vec::new();
        let keep = |z: ArrayView2<'_, f32>| {
            all.extend(z.iter().map(|&z| f64::from(z)));
            Ok(())
        };
        featurize(&map, &mut source, &cpu, keep).expect("featurizes");
        let z_nd = Array2::from_shape_vec((ROWS, 24), all).expect("rows");
        let expected = z_nd.dot(&z_nd.t());
        for (bytes, groups) in [(1 << 20, 1), (4 * 24 * 70, 5), (4 * 24 * 130, 3), (1, ROWS)] {
            let place = [(&map as &dyn FeatureMap, 0, 1.0)];
            let run = Run::on(&cpu).memory(20_000);
            let mut rows = StreamedRows::new(&place, &mut source, ROWS, run).expect("loads");
            let heard = RefCell::new(Vec::new());
            let hear = |rows| heard.borrow_mut().push(rows);
            let kernel = dense_kernel(&mut rows, bytes, &hear).expect("a kernel");
            for ((i, j), k) in kernel.indexed_iter().filter(|((i, j), _)| j <= i) {
                let off = (k - expected[[i, j]]).abs();
                assert!(off < 1e-12, "{bytes} bytes, {i} {j}: {off:e}");
            }
            let heard = heard.into_inner();
            assert_eq!((heard.len(), heard.last()), (groups, Some(&ROWS)));
        }
        let place = [(&map as &dyn FeatureMap, 0, 0.5)];
        let mut rows = StreamedRows::new(&place, &mut source, ROWS, &cpu).expect("loads");
        let refused = dense_kernel(&mut rows, 1 << 20, &|_| ()).expect_err("a part");
        assert!(matches!(refused, Error::Unsupported(_)), "{refused}");
    }
}
