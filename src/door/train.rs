//! What learners are fitted to: arrays, files, sources.

use crate::{
    Error, Result,
    data::{ChunkSource, DataFile, MemorySource, TextLabelled, ToRows, ToTargets},
    model::{FromLabel, Predicted, ToLabels},
};
use ndarray::{Array1, Array2};

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

/// Rows without targets, or whose targets are left alone.
pub trait RowData: Sized {
    /// The rows as a source.
    fn into_rows<'a>(self) -> Result<Box<dyn ChunkSource + 'a>>
    where
        Self: 'a;
}

impl<X: ToRows + ?Sized> RowData for &X {
    fn into_rows<'a>(self) -> Result<Box<dyn ChunkSource + 'a>>
    where
        Self: 'a,
    {
        Ok(Box::new(MemorySource::new(self.to_rows(), None)?))
    }
}

impl RowData for DataFile {
    fn into_rows<'a>(self) -> Result<Box<dyn ChunkSource + 'a>>
    where
        Self: 'a,
    {
        self.open()
    }
}

impl<S: ChunkSource + ?Sized> RowData for &mut S {
    fn into_rows<'a>(self) -> Result<Box<dyn ChunkSource + 'a>>
    where
        Self: 'a,
    {
        Ok(Box::new(self))
    }
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

/// Rows, targets, and what each row counts for: one column of weights.
impl<X: ToRows, Y: ToTargets, W: ToTargets> TrainingData for (X, Y, W)
where
    Y::Predicted: Predicted,
{
    type Predicted = Y::Predicted;

    fn into_source<'a>(self) -> Result<Box<dyn ChunkSource + 'a>>
    where
        Self: 'a,
    {
        let (x, y, weights) = self;
        let source = MemorySource::new(x.to_rows(), Some(y.to_targets()))?;
        Ok(Box::new(source.with_weights(column(weights)?)?))
    }
}

impl<X: ToRows, Y: ToLabels, W: ToTargets> LabelledData for (X, Y, W) {
    type Label = Y::Owned;

    fn into_labelled<'a>(self) -> Result<(Box<dyn ChunkSource + 'a>, Option<Vec<String>>)>
    where
        Self: 'a,
    {
        let (x, y, weights) = self;
        let (codes, names) = y.to_labels()?;
        let source = MemorySource::new(x.to_rows(), Some(codes))?;
        Ok((Box::new(source.with_weights(column(weights)?)?), names))
    }
}

/// A weight per row.
fn column(weights: impl ToTargets) -> Result<Array1<f64>> {
    let weights = weights.to_targets();
    match weights.ncols() {
        1 => Ok(weights.into_iter().collect()),
        columns => Err(Error::shape(format!(
            "there are {columns} columns of weights; give one weight per row"
        ))),
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

/// Labels are text.
impl LabelledData for TextLabelled {
    type Label = String;

    fn into_labelled<'a>(self) -> Result<(Box<dyn ChunkSource + 'a>, Option<Vec<String>>)>
    where
        Self: 'a,
    {
        Ok((self.file().open_with_targets()?, None))
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

#[cfg(test)]
mod tests {
    use crate::prelude::*;
    use ndarray::{Array1, Array2, array};

    /// Rows of weight 0 are not learnt from, and a learner that knows no weights says so.
    #[test]
    fn a_door_takes_weights_beside_x_and_y() {
        let x = Array2::from_shape_fn((60, 1), |(i, _)| i as f64 / 10.0);
        let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let spoilt: Vec<f64> = (0..60)
            .map(|i| if i % 3 == 0 { 99.0 } else { y[i] })
            .collect();
        let weights: Array1<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
        let map = || Fourier::new(Gaussian).features(64);
        let model = Ridge::on(map()).device(&Device::cpu()).lambda(1e-5);
        let model = model.fit((&x, &spoilt, &weights)).expect("fits");
        let predicted = model.predict(&x).expect("predicts");
        let worst = predicted.iter().zip(&y).map(|(p, y)| (p - y).abs());
        assert!(worst.fold(0.0, f64::max) < 0.02);
        let labels: Vec<&str> = (0..60).map(|i| ["a", "b", "c"][i % 3]).collect();
        let classifier = RidgeClassifier::on(map()).device(&Device::cpu());
        assert!(classifier.fit((&x, &labels, &weights)).is_ok());
        for (bad, says) in [
            (array![[1.0, 2.0]], "2 columns"),
            (array![[1.0], [2.0]], "2 weights"),
            (Array2::from_elem((60, 1), -1.0), "row 0 has weight -1"),
        ] {
            let ridge = Ridge::on(map()).device(&Device::cpu());
            let message = ridge.fit((&x, &y, bad)).expect_err("refused").to_string();
            assert!(message.contains(says), "{message}");
        }
    }
}
