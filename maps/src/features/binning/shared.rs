//! Bins that rows share, and bins that share a hash.

use crate::{
    ops::binning::{Grids, hash, reference_bins},
    parallel,
};
use ndarray::{Array2, ArrayView2};
use std::collections::HashMap;

/// The kernel estimate: the share of grids in which two rows share a bin, `[n, m]` for hashes
/// `[n, P]` and `[m, P]`. Unbiased for k(x, y), with variance `k (1 - k) / P`. Panics when the
/// numbers of grids differ.
#[doc(hidden)]
pub fn shared_bins(a_np: ArrayView2<'_, u64>, b_mp: ArrayView2<'_, u64>) -> Array2<f64> {
    assert_eq!(a_np.ncols(), b_mp.ncols(), "hashes of other grids");
    let (n, m, grids) = (a_np.nrows(), b_mp.nrows(), a_np.ncols());
    let a = a_np.as_standard_layout();
    let b = b_mp.as_standard_layout();
    let (a, b) = (
        a.as_slice().expect("standard"),
        b.as_slice().expect("standard"),
    );
    let mut out = vec![0.0; n * m];
    parallel::usual().pairs(&mut out, m.max(1), (a, grids), &|out, a| {
        for (out, b) in out.iter_mut().zip(b.chunks_exact(grids)) {
            let shared = a.iter().zip(b).filter(|(a, b)| a == b).count();
            *out = shared as f64 / grids as f64;
        }
    });
    Array2::from_shape_vec((n, m), out).expect("n x m values")
}

/// How often two different bins of one grid that `x` (at unit lengthscale, as a device sees it)
/// occupies have one hash: bins are compared exactly, coordinate by coordinate. Takes `4 d n` bytes
/// and much longer than hashing.
#[doc(hidden)]
pub fn collisions(grids: &Grids, x_nd: ArrayView2<'_, f32>) -> u64 {
    let count = |g: usize| {
        let mut first: HashMap<u64, Vec<u32>> = HashMap::new();
        let mut collisions = 0;
        for x in x_nd.rows() {
            let bins = reference_bins(grids, x, g);
            let key = hash(bins.iter().copied());
            collisions += u64::from(*first.entry(key).or_insert_with(|| bins.clone()) != bins);
        }
        collisions
    };
    let each = parallel::usual().map(grids.inverse_dp.ncols(), &count);
    each.iter().sum()
}
