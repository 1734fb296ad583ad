//! What one submission may hold: so little that the device starts early and never works on one for
//! so long that the system takes it for hung (two seconds, on Windows).

use super::GpuDevice;
use std::ops::Range;

/// Dispatches recorded before they are submitted, so that the device works while the host records.
const DISPATCHES: usize = 32;
/// Operations recorded before they are submitted: a fifth of a second at 10^12 a second.
const WORK: f64 = 2e11;
/// Rows of every tile shape divide this.
const TILE: usize = 128;
/// Parameters of a dispatch start at multiples of this on every adapter.
const SLOT: usize = 256;

/// What is recorded of the next submission: the parameters of its dispatches, one after another,
/// and its work.
///
/// Parameters are written all at once when it is submitted: every write takes effect before its
/// first dispatch.
#[derive(Default)]
pub(super) struct SubmissionPart {
    params: Vec<u8>,
    work: f64,
}

impl SubmissionPart {
    /// The most that [`Self::take`] gives.
    pub(super) const PARAMS_BYTES: u64 = (DISPATCHES * SLOT) as u64;

    /// Whether what is recorded should go before a dispatch of so much work is added.
    pub(super) fn is_full(&self, work: f64) -> bool {
        !self.params.is_empty()
            && (self.params.len() == DISPATCHES * SLOT || self.work + work > WORK)
    }

    /// Adds a dispatch, and returns where its parameters are going to lie.
    pub(super) fn add(&mut self, params: &[u8], work: f64) -> u64 {
        let offset = self.params.len();
        self.params.extend_from_slice(params);
        self.params.resize(offset + SLOT, 0);
        self.work += work;
        offset as u64
    }

    /// The parameters of all dispatches; none is left.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.work = 0.0;
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
    /// The most operations that one dispatch should take.
    pub(crate) fn most_work(&self) -> f64 {
        #[cfg(test)]
        if self
            .0
            .small_dispatches
            .load(std::sync::atomic::Ordering::Relaxed)
        {
            return 1.0;
        }
        WORK
    }

    /// The rows of one dispatch after another, about as many in each, where a row takes `work`
    /// operations.
    pub(crate) fn row_blocks(&self, rows: usize, work: f64) -> impl Iterator<Item = Range<usize>> {
        let step = even(rows, rows_per_dispatch(work, self.most_work())).next_multiple_of(TILE);
        let starts = (0..rows).step_by(step);
        starts.map(move |start| start..rows.min(start + step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_dispatch_are_whole_tiles() {
        assert_eq!(rows_per_dispatch(1.0, WORK), 524_160);
        assert_eq!(rows_per_dispatch(1e13, WORK), 128);
        // 784 columns to 4096 frequencies.
        assert_eq!(rows_per_dispatch(2.0 * 784.0 * 4096.0, WORK), 31_104);
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
        assert!(!part.is_full(10.0 * WORK));
        for i in 0..DISPATCHES {
            assert!(!part.is_full(0.0));
            assert_eq!(part.add(&[i as u8; 24], 1.0), (SLOT * i) as u64);
        }
        assert!(part.is_full(0.0));
        let params = part.take();
        assert_eq!(params.len() as u64, SubmissionPart::PARAMS_BYTES);
        assert_eq!(params[SLOT..][..25], [[1; 24].as_slice(), &[0]].concat());
        part.add(&[0; 8], 0.7 * WORK);
        assert!(!part.is_full(0.2 * WORK));
        assert!(part.is_full(0.4 * WORK));
    }
}
