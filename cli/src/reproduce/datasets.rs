//! Data sets that experiments stand on, and how one is come by.

use anyhow::Result;
use bochner::data::{ChunkSource, DataFile};
use ndarray::{Array1, Array2, Axis, Zip, concatenate};
use std::path::Path;

/// A data set that the program does not bring.
#[derive(Debug)]
pub(crate) struct Dataset {
    /// Its folder below `--data`.
    pub(crate) name: &'static str,
    /// What it is, and its sizes.
    what: &'static str,
    /// The collection that has it, by the name that it has there.
    public: &'static str,
}

/// The two halves of a data set, as its authors divided it.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) x: Array2<f64>,
    pub(crate) y: Array1<f64>,
    pub(crate) x_test: Array2<f64>,
    pub(crate) y_test: Array1<f64>,
}

pub(super) const CENSUS: Dataset = Dataset {
    name: "census",
    what: "prices of houses by census, 119 columns, as Rahimi and Recht (2007) had them",
    public: "none that is known",
};

pub(super) const CPU: Dataset = Dataset {
    name: "cpu",
    what: "activity of a computer, 6,554 training and 819 test rows of 21 columns; y is the share of time in user mode",
    public: "comp-activ of the Delve collection",
};

pub(super) const COVTYPE: Dataset = Dataset {
    name: "covtype",
    what: "forest cover, 464,809 training and 116,203 test rows of 10 amounts and 44 columns of 0 and 1; y is the type, 1 to 7",
    public: "Covertype of the UCI repository, of which every fifth row, drawn at random, is the test",
};

pub(super) const LETTER: Dataset = Dataset {
    name: "letter",
    what: "images of letters, 16,000 training and 4,000 test rows of 16 measures; y is the letter, 0 to 25",
    public: "Letter Recognition of the UCI repository, of which the last 4,000 rows are the test",
};

pub(super) const MNIST: Dataset = Dataset {
    name: "mnist",
    what: "handwritten digits, 60,000 training and 10,000 test rows of 784 pixels; y is the digit",
    public: "the MNIST database of LeCun, Cortes and Burges, mnist_784 at OpenML",
};

impl Table {
    /// Columns less their mean over the training rows, divided by their deviation there.
    pub(super) fn standardized(mut self) -> Self {
        let mean = self.x.mean_axis(Axis(0));
        let deviation = self.x.std_axis(Axis(0), 0.0);
        let deviation = deviation.mapv(|s| if s > 0.0 { s } else { 1.0 });
        if let Some(mean) = mean {
            for x in [&mut self.x, &mut self.x_test] {
                *x -= &mean;
                *x /= &deviation;
            }
        }
        self
    }

    /// Columns less their least value over the training rows, divided by their range there.
    pub(super) fn scaled_by_range(mut self) -> Self {
        for (mut column, mut test) in self
            .x
            .columns_mut()
            .into_iter()
            .zip(self.x_test.columns_mut())
        {
            let least = column.fold(f64::INFINITY, |a, &b| a.min(b));
            let range = column.fold(f64::NEG_INFINITY, |a, &b| a.max(b)) - least;
            let range = if range > 0.0 { range } else { 1.0 };
            for column in [&mut column, &mut test] {
                column.mapv_inplace(|v| (v - least) / range);
            }
        }
        self
    }
}

/// The median over pairs of 500 rows, spread evenly, of the sum over columns of `of` their
/// differences; 1 of a single row.
pub(super) fn median_distance(x: &Array2<f64>, of: impl Fn(f64) -> f64) -> f64 {
    let n = x.nrows();
    let some = n.min(500);
    let rows: Vec<_> = (0..some).map(|i| x.row(i * n / some)).collect();
    let mut apart: Vec<f64> = Vec::new();
    for (i, a) in rows.iter().enumerate() {
        let one = |b| Zip::from(a).and(b).fold(0.0, |sum, a, b| sum + of(a - b));
        apart.extend(rows[..i].iter().map(one));
    }
    apart.sort_by(f64::total_cmp);
    apart.get(apart.len() / 2).copied().unwrap_or(1.0)
}

impl Dataset {
    /// Whether a folder of data sets has it.
    pub(super) fn is_in(&self, folder: Option<&Path>) -> bool {
        folder.is_some_and(|folder| folder.join(self.name).join("train.npz").is_file())
    }

    /// Reads `train.npz` and `test.npz` of its folder in a folder of data sets.
    pub(super) fn read(&self, folder: &Path) -> Result<Table> {
        let folder = folder.join(self.name);
        let (x, y) = halves(&folder.join("train.npz"))?;
        let (x_test, y_test) = halves(&folder.join("test.npz"))?;
        Ok(Table {
            x,
            y,
            x_test,
            y_test,
        })
    }

    /// What is missing, in one line.
    pub(super) fn missing(&self, folder: Option<&Path>) -> String {
        let at = match folder {
            Some(folder) => format!("is not in {}", folder.display()),
            None => "is needed, and no --data DIR is given".into(),
        };
        format!(
            "data set {name} {at}: {what}; it is read from DIR/{name}/train.npz and test.npz, arrays X \
             [rows, columns], unscaled, and y [rows]; public copy: {public}",
            name = self.name,
            what = self.what,
            public = self.public,
        )
    }
}

fn halves(path: &Path) -> Result<(Array2<f64>, Array1<f64>)> {
    let mut source = DataFile::at(path).open()?;
    read(&mut *source)
}

/// All rows of a source with one target.
fn read(source: &mut dyn ChunkSource) -> Result<(Array2<f64>, Array1<f64>)> {
    const AT_A_TIME: usize = 8192;
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    while let Some(chunk) = source.next_chunk(AT_A_TIME)? {
        xs.push(chunk.x.into_f64());
        ys.push(chunk.y.column(0).to_owned());
    }
    let xs: Vec<_> = xs.iter().map(|x| x.view()).collect();
    let ys: Vec<_> = ys.iter().map(|y| y.view()).collect();
    Ok((concatenate(Axis(0), &xs)?, concatenate(Axis(0), &ys)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn columns_are_standardised_by_the_training_rows() {
        let table = Table {
            x: array![[0.0, 5.0], [4.0, 5.0]],
            y: array![0.0, 1.0],
            x_test: array![[6.0, 6.0]],
            y_test: array![1.0],
        };
        let table = table.standardized();
        assert_eq!(table.x, array![[-1.0, 0.0], [1.0, 0.0]]);
        assert_eq!(table.x_test, array![[2.0, 1.0]]);
    }

    #[test]
    fn columns_go_scaled_by_range_over_the_training_rows() {
        let table = Table {
            x: array![[1.0, 5.0], [5.0, 5.0], [3.0, 5.0]],
            y: array![0.0, 1.0, 2.0],
            x_test: array![[7.0, 6.0]],
            y_test: array![1.0],
        };
        let table = table.scaled_by_range();
        assert_eq!(table.x, array![[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]);
        assert_eq!(table.x_test, array![[1.5, 1.0]]);
    }

    #[test]
    fn the_median_is_over_pairs_of_different_rows() {
        // Distances 1, 2, 3, 4, 6 and 7.
        let x = array![[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [7.0, 0.0]];
        assert_eq!(median_distance(&x, f64::abs), 4.0);
        assert_eq!(median_distance(&x, |v| v * v), 16.0);
        assert_eq!(median_distance(&array![[1.0]], f64::abs), 1.0);
    }
}
