//! What learners are fitted to: arrays, files, sources.

use super::{FromLabel, Predicted, ToLabels};
use crate::{
    Result,
    data::{ChunkSource, DataFile, MemorySource, ToRows, ToTargets},
};
use ndarray::Array2;

/// Rows with numbers to predict.
pub trait TrainingData: Sized {
    /// What a model fitted to them predicts.
    type Predicted: Predicted;

    /// The rows as a source.
    fn into_source<'a>(self) -> Result<Box<dyn ChunkSource + 'a>>
    where
        Self: 'a;
}

/// Rows with labels to predict.
pub trait LabelledData: Sized {
    /// A predicted label.
    type Label: FromLabel;

    /// The rows as a source whose labels are numbers, and the names that these count if the labels
    /// are text.
    #[expect(clippy::type_complexity, reason = "a pair, used once")]
    fn into_labelled<'a>(self) -> Result<(Box<dyn ChunkSource + 'a>, Option<Vec<String>>)>
    where
        Self: 'a;
}

impl<X: ToRows, Y: ToTargets> TrainingData for (X, Y)
where
    Y::Predicted: Predicted,
{
    type Predicted = Y::Predicted;

    fn into_source<'a>(self) -> Result<Box<dyn ChunkSource + 'a>>
    where
        Self: 'a,
    {
        let (x, y) = self;
        Ok(Box::new(MemorySource::new(
            x.to_rows(),
            Some(y.to_targets()),
        )?))
    }
}

impl<X: ToRows, Y: ToLabels> LabelledData for (X, Y) {
    type Label = Y::Owned;

    fn into_labelled<'a>(self) -> Result<(Box<dyn ChunkSource + 'a>, Option<Vec<String>>)>
    where
        Self: 'a,
    {
        let (x, y) = self;
        let (codes, names) = y.to_labels()?;
        Ok((
            Box::new(MemorySource::new(x.to_rows(), Some(codes))?),
            names,
        ))
    }
}

/// One column a target.
impl TrainingData for DataFile {
    type Predicted = Array2<f64>;

    fn into_source<'a>(self) -> Result<Box<dyn ChunkSource + 'a>>
    where
        Self: 'a,
    {
        self.open_with_targets()
    }
}

impl LabelledData for DataFile {
    type Label = f64;

    fn into_labelled<'a>(self) -> Result<(Box<dyn ChunkSource + 'a>, Option<Vec<String>>)>
    where
        Self: 'a,
    {
        Ok((self.open_with_targets()?, None))
    }
}

/// One column a target.
impl<S: ChunkSource + ?Sized> TrainingData for &mut S {
    type Predicted = Array2<f64>;

    fn into_source<'a>(self) -> Result<Box<dyn ChunkSource + 'a>>
    where
        Self: 'a,
    {
        Ok(Box::new(self))
    }
}

impl<S: ChunkSource + ?Sized> LabelledData for &mut S {
    type Label = f64;

    fn into_labelled<'a>(self) -> Result<(Box<dyn ChunkSource + 'a>, Option<Vec<String>>)>
    where
        Self: 'a,
    {
        Ok((Box::new(self), None))
    }
}
