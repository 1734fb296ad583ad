//! Data sets that experiments stand on, and how one is come by.

use anyhow::Result;
use bochner::data::{ChunkSource, DataFile};
use ndarray::{Array1, Array2, Axis, concatenate};
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

pub(super) const CPU: Dataset = Dataset {
    name: "cpu",
    what: "activity of a computer, 6,554 training and 819 test rows of 21 columns; y is the share of time in user mode",
    public: "comp-activ of the Delve collection",
};

pub(super) const MNIST: Dataset = Dataset {
    name: "mnist",
    what: "handwritten digits, 60,000 training and 10,000 test rows of 784 pixels; y is the digit",
    public: "the MNIST database of LeCun, Cortes and Burges, mnist_784 at OpenML",
};

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
