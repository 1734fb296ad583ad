//! Kernel values that were computed elsewhere: which rows of the input are the landmarks, and
//! their own kernel.

use super::{MapArgs, MapOption};
use crate::{flags, report::Usage};
use anyhow::Result;
use bochner::{
    data::{ChunkSource, OpenOptions, open},
    features::{Bandwidth, MapBuilder, MapKind, Precomputed, Standardize},
};
use ndarray::Array2;
use std::path::Path;

/// Which rows are landmarks, column after column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LandmarkRows {
    /// As many as there are columns, from the first.
    All,
    Listed(Vec<u64>),
}

impl LandmarkRows {
    /// Of so many columns.
    fn rows(&self, columns: usize) -> Vec<u64> {
        match self {
            Self::All => (0..columns as u64).collect(),
            Self::Listed(rows) => rows.clone(),
        }
    }
}

/// Rows that a range may name: more landmarks than have a kernel that fits anywhere.
const MOST: u64 = 1 << 24;

/// `all`, a comma list of rows and ranges of them, or a .npy file of rows.
pub(super) fn landmark_rows(text: &str) -> std::result::Result<LandmarkRows, String> {
    let problem = || {
        format!(
            "{text:?} are no rows: write all, rows counted from 0 and ranges of them (0-99,200), \
             or name a FILE.npy"
        )
    };
    if text.trim() == "all" {
        return Ok(LandmarkRows::All);
    }
    if text.ends_with(".npy") {
        let rows = matrix(Path::new(text)).map_err(|error| flags::explain(&error))?;
        let row = |&v: &f64| (v >= 0.0 && v.fract() == 0.0 && v < 9e15).then_some(v as u64);
        let rows: Option<Vec<u64>> = rows.iter().map(row).collect();
        return rows.map(LandmarkRows::Listed).ok_or_else(problem);
    }
    let mut rows = Vec::new();
    for part in text.split(',') {
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| problem());
        let (first, last) = match part.split_once('-') {
            None => (number(part)?, number(part)?),
            Some((first, last)) => (number(first)?, number(last)?),
        };
        if first > last || last - first + rows.len() as u64 >= MOST {
            return Err(problem());
        }
        rows.extend(first..=last);
    }
    Ok(LandmarkRows::Listed(rows))
}

/// The landmarks' kernel of a file.
pub(super) fn landmark_kernel(text: &str) -> std::result::Result<Precomputed, String> {
    let read = matrix(Path::new(text)).and_then(Precomputed::new);
    read.map_err(|error| flags::explain(&error))
}

/// A small file, whole.
fn matrix(path: &Path) -> bochner::Result<Array2<f64>> {
    let mut source = open(path, &OpenOptions::default())?;
    let mut rows = Vec::new();
    while let Some(chunk) = source.next_chunk(1 << 12)? {
        rows.extend(chunk.x.into_f64());
    }
    let shape = (rows.len() / source.columns(), source.columns());
    Array2::from_shape_vec(shape, rows).map_err(|error| bochner::Error::shape(error.to_string()))
}

impl MapArgs {
    /// Whether rows are kernel values already.
    pub(crate) fn is_precomputed(&self) -> bool {
        match self.map() {
            MapOption::Named(map) => map.has(MapKind::Precomputed),
            MapOption::Auto => false,
        }
    }

    /// Sets what hangs on the map: the bandwidth where none is asked for, which is `rule` of most,
    /// and for kernel values the landmarks' own, of rows that `open` opens.
    ///
    /// Errors where options do not go together.
    pub(crate) fn settle(
        &mut self,
        rule: Option<Bandwidth>,
        open: impl FnOnce() -> Result<Box<dyn ChunkSource>>,
    ) -> Result<()> {
        self.kernel.rule = self.spec().usual_bandwidth().or(rule);
        let given = self.tuning.landmark_kernel.is_some() || self.tuning.landmark_rows.is_some();
        if !self.is_precomputed() {
            return if given {
                let problem = "--landmark-kernel and --landmark-rows are for --map precomputed";
                Err(Usage(problem.into()).into())
            } else {
                Ok(())
            };
        }
        let standardizes = !matches!(self.kernel.standardize(), None | Some(Standardize::No));
        if self.map().named().parts().len() > 1 {
            let problem = "--map precomputed stands alone: its columns are kernel values, which no \
                           other map takes";
            return Err(Usage(problem.into()).into());
        }
        if standardizes || self.kernel.is_bandwidth_given() || self.kernel.is_given() {
            let problem = "--map precomputed takes kernel values as they are; leave out --kernel, \
                           --gamma, --sigma and --standardize";
            return Err(Usage(problem.into()).into());
        }
        self.kernel.leave_columns();
        if let Some(rows) = &self.tuning.landmark_rows {
            let mut source = open()?;
            source.settle(false, &mut |_| true)?;
            let rows = rows.rows(source.columns());
            self.tuning.landmark_kernel = Some(Precomputed::of_rows(source.as_mut(), &rows)?);
        }
        match self.tuning.landmark_kernel {
            Some(_) => Ok(()),
            None => {
                let problem = "--map precomputed needs the kernel of the landmarks with each \
                    other: --landmark-kernel FILE.npy, or --landmark-rows with the rows of the \
                    input that are the landmarks (all: a square kernel matrix)";
                Err(Usage(problem.into()).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_lists_and_ranges() {
        let listed = |rows: &[u64]| Ok(LandmarkRows::Listed(rows.to_vec()));
        assert_eq!(landmark_rows("all"), Ok(LandmarkRows::All));
        assert_eq!(landmark_rows("3"), listed(&[3]));
        assert_eq!(landmark_rows("5, 0-2,9"), listed(&[5, 0, 1, 2, 9]));
        assert_eq!(LandmarkRows::All.rows(3), [0, 1, 2]);
        for bad in [
            "",
            "a",
            "3-1",
            "1,",
            "-1",
            "0-99999999999",
            "1.5",
            "nowhere.npy",
        ] {
            assert!(landmark_rows(bad).is_err(), "{bad}");
        }
    }
}
