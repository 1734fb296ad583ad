//! What one submission may hold: so little that the device starts early and never works on one for
//! so long that the system takes it for hung (two seconds, on Windows).

use super::{GpuDevice, op::Op};
use std::ops::Range;

/// Dispatches recorded before they are submitted, so that the device works while the host records.
const DISPATCHES: usize = 32;
/// Operations of a block of rows where its length shows in the order of sums, and so may not follow
/// a clock.
const FIXED_WORK: f64 = 2e11;
/// Rows of every tile shape divide this.
const TILE: usize = 128;
/// Parameters of a dispatch start at multiples of this on every adapter.
const SLOT: usize = 256;

/// What is recorded of the next submission: the parameters of its dispatches, one after another,
/// and how full it is.
///
/// Parameters are written all at once when it is submitted: every write takes effect before its
/// first dispatch.
#[derive(Default)]
pub(super) struct SubmissionPart {
    params: Vec<u8>,
    /// Work, in what a submission should have at most.
    share: f64,
}

impl SubmissionPart {
    /// The most that [`Self::take`] gives.
    pub(super) const PARAMS_BYTES: u64 = (DISPATCHES * SLOT) as u64;

    /// Whether what is recorded should go before a dispatch is added that has such a share of what
    /// a submission should have.
    pub(super) fn is_full(&self, share: f64) -> bool {
        !self.params.is_empty()
            && (self.params.len() == DISPATCHES * SLOT || self.share + share > 1.0)
    }

    /// Adds a dispatch, and returns where its parameters are going to lie.
    pub(super) fn add(&mut self, params: &[u8], share: f64) -> u64 {
        let offset = self.params.len();
        self.params.extend_from_slice(params);
        self.params.resize(offset + SLOT, 0);
        self.share += share;
        offset as u64
    }

    /// The parameters of all dispatches; none is left.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.share = 0.0;
        std::mem::take(&mut self.params)
    }
}

/// Rows of one dispatch of any tile shape, when a row takes `work` operations of at most `most`: a
/// whole number of tiles, and within the number of workgroups that every adapter takes.
fn rows_per_dispatch(work: f64, most: f64) -> usize {
    const MOST: usize = 65_535 * 8 / TILE;
    ((most / work.max(1.0)) as usize / TILE).clamp(1, MOST) * TILE
}

/// The size of as many parts as parts of at most `most` need, all of one size: a short one at the
/// end would leave a device idle.
pub(crate) fn even(total: usize, most: usize) -> usize {
    let parts = total.div_ceil(most).max(1);
    total.div_ceil(parts).max(1)
}

impl GpuDevice {
    /// The most operations that one dispatch of this op should take.
    pub(crate) fn most_work(&self, op: &Op) -> f64 {
        if self.is_in_small_parts() {
            return 1.0;
        }
        self.0.speed.most_work(op.name)
    }

    /// Whether a test has everything done a few rows at a time.
    pub(crate) fn is_in_small_parts(&self) -> bool {
        #[cfg(test)]
        let is_small = (self.0.small_dispatches).load(std::sync::atomic::Ordering::Relaxed);
        #[cfg(not(test))]
        let is_small = false;
        is_small
    }

    /// The rows of one dispatch of an op after another, about as many in each, where a row takes
    /// `work` operations.
    pub(crate) fn row_blocks(
        &self,
        op: &Op,
        rows: usize,
        work: f64,
    ) -> impl Iterator<Item = Range<usize>> {
        let step = block_rows(rows, work, self.most_work(op));
        let starts = (0..rows).step_by(step);
        starts.map(move |start| start..rows.min(start + step))
    }
}

/// Rows of a block where a row takes `work` operations, for what decides on the order of sums: the
/// same on every adapter, and however fast it was seen to be.
pub(crate) fn fixed_block_rows(rows: usize, work: f64) -> usize {
    block_rows(rows, work, FIXED_WORK).min(rows)
}

fn block_rows(rows: usize, work: f64, most: f64) -> usize {
    even(rows, rows_per_dispatch(work, most)).next_multiple_of(TILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_dispatch_are_whole_tiles() {
        assert_eq!(rows_per_dispatch(1.0, FIXED_WORK), 524_160);
        assert_eq!(rows_per_dispatch(1e13, FIXED_WORK), 128);
        // 784 columns to 4096 frequencies.
        assert_eq!(rows_per_dispatch(2.0 * 784.0 * 4096.0, FIXED_WORK), 31_104);
    }

    #[test]
    fn parts_are_even_and_within_the_most() {
        assert_eq!(even(1539, 1490), 770);
        assert_eq!(
            [even(0, 5), even(5, 5), even(6, 5), even(11, 5)],
            [1, 5, 3, 4]
        );
    }

    #[test]
    fn is_full_by_count_and_by_work_and_never_before_the_first() {
        let mut part = SubmissionPart::default();
        assert!(!part.is_full(10.0));
        for i in 0..DISPATCHES {
            assert!(!part.is_full(0.0));
            assert_eq!(part.add(&[i as u8; 24], 0.001), (SLOT * i) as u64);
        }
        assert!(part.is_full(0.0));
        let params = part.take();
        assert_eq!(params.len() as u64, SubmissionPart::PARAMS_BYTES);
        assert_eq!(params[SLOT..][..25], [[1; 24].as_slice(), &[0]].concat());
        part.add(&[0; 8], 0.7);
        assert!(!part.is_full(0.2));
        assert!(part.is_full(0.4));
    }

    #[test]
    fn blocks_follow_the_time_of_the_first_dispatches_and_no_bit_does_on_devices() {
        use crate::{
            Matrix,
            check::normal,
            features::{Affine, FeatureMap, Fourier},
            kernels::Gaussian,
            ops::projection::OP,
        };
        for device in crate::under_test::gpus() {
            let gpu = device.gpu().expect("a GPU");
            let map = Fourier::new(Gaussian).features(1024);
            let map = map.build(Affine::identity(256)).expect("builds");
            let mut loaded = map.load(&device).expect("loads");
            let x_nd = Matrix::upload(&device, normal(4096, 256, 1).view()).expect("fits");
            let mut z_nd = Matrix::new(&device, 4096, 1024).expect("fits");
            let mut features = || {
                loaded.featurize(&x_nd, &mut z_nd).expect("runs");
                z_nd.download().expect("reads back")
            };
            let unknown = gpu.most_work(&OP);
            let first = features();
            // Among others' work a software adapter is slow, and a good GPU is not this slow.
            let known = gpu.most_work(&OP);
            assert_ne!(unknown, known, "{device:?}");
            assert!((1e8..=2e13).contains(&known), "{known:e} on {device:?}");
            for _ in 0..3 {
                assert!(features() == first, "other bits on {device:?}");
            }
        }
    }
}
