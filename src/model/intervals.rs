//! Prediction intervals: by the variance of Gaussian processes, or by errors of any regression on
//! unseen rows.

use crate::{
    Error, Result,
    data::{Chunk, ChunkSource, Rows},
    error::Remedy,
    features::{Branch, Destination, Featurizer},
    flow::Run,
    model::{
        Conformal, LinearModel, Link, Targets,
        linear::{check_columns, require_finite},
    },
    special::normal_quantile,
    text::counted,
};
use ndarray::{Array1, Array2, ArrayView2, s};

/// Predictions with lower and upper bounds, each `[rows, t]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Intervals {
    /// The predictions.
    pub predicted_nt: Array2<f64>,
    /// Lower bounds.
    pub lower_nt: Array2<f64>,
    /// Upper bounds; targets are between both with the requested probability.
    pub upper_nt: Array2<f64>,
    /// Standard deviation of a new target, noise included, if the model has a variance.
    pub deviation_nt: Option<Array2<f64>>,
}

impl Intervals {
    /// Upper less lower bounds, `[rows, t]`.
    pub fn width(&self) -> Array2<f64> {
        &self.upper_nt - &self.lower_nt
    }
}

/// A regression on a device, for prediction intervals.
#[derive(Debug)]
pub struct IntervalPredictor<'m> {
    model: &'m LinearModel,
    featurizer: Featurizer<'m>,
}

impl LinearModel {
    /// Loads the model for predictions with intervals: `run` is a `&Device` or a [`Run`].
    ///
    /// Errors with [`Error::Unsupported`] for classifiers, and for models without a variance that
    /// were not calibrated.
    pub fn intervals_on(&self, run: impl Into<Run>) -> Result<IntervalPredictor<'_>> {
        if let Targets::Classes(_) = self.targets {
            return Err(Error::unsupported(
                "a classifier predicts labels, which have no intervals",
            ));
        }
        if self.spread.is_none() && self.conformal.is_none() {
            return Err(Error::unsupported(format!(
                "a model of {} has no intervals of its own",
                self.learner
            ))
            .help(Remedy::Calibrate));
        }
        IntervalPredictor::new(self, &run.into())
    }

    /// Calibrates intervals on rows that the fit has not seen (split conformal prediction),
    /// replacing any earlier calibration: `run` is a `&Device` or a [`Run`]. It keeps 8 bytes per
    /// row and target.
    ///
    /// Errors on a source without rows, with other columns or targets than the model's, and for
    /// classifiers.
    pub fn calibrate(&mut self, source: &mut dyn ChunkSource, run: impl Into<Run>) -> Result<()> {
        let Targets::Real { columns, .. } = self.targets else {
            return Err(Error::unsupported(
                "a classifier predicts labels, which have no intervals",
            ));
        };
        if source.targets() != columns {
            return Err(Error::shape(format!(
                "the rows to calibrate on have {}, the model predicts {columns}",
                counted(source.targets(), "target column")
            )));
        }
        let rescale = self.link.as_ref().and_then(Link::rescale);
        let mut errors_t = vec![Vec::new(); columns];
        IntervalPredictor::new(self, &run.into())?.stream_raw(source, |raw, y_nt| {
            let scale_nt = raw.deviation_nt;
            let mut y_nt = y_nt.to_owned();
            if let Some(rescale) = &rescale {
                for y in &mut y_nt {
                    *y = rescale.seen(*y)?;
                }
            }
            for (k, errors) in errors_t.iter_mut().enumerate() {
                let off = (&y_nt.column(k) - &raw.predicted_nt.column(k)).mapv(f64::abs);
                errors.extend(match &scale_nt {
                    Some(scale_nt) => off / scale_nt.column(k),
                    None => off,
                });
            }
            Ok(())
        })?;
        self.conformal = Some(Conformal::from_errors(errors_t)?);
        Ok(())
    }
}

/// Scores, with an additional branch `root'z(x)` for the root of a spread.
pub(crate) fn with_spread<'m>(
    model: &'m LinearModel,
    root_dm: Option<&'m Array2<f64>>,
    run: &Run,
) -> Result<Featurizer<'m>> {
    let map = model.map.as_ref();
    let beta_dt = &model.coefficients.beta_dt;
    let mut branches = vec![Branch::outputs(map, beta_dt)];
    if let Some(root_dm) = root_dm {
        branches.push(Branch::outputs(map, root_dm));
    }
    let mut featurizer = Featurizer::new(branches, beta_dt.ncols(), Destination::Host, run)?;
    featurizer.load()?;
    Ok(featurizer)
}

/// Predictions, and their standard deviations if the model has them.
struct Raw {
    predicted_nt: Array2<f64>,
    deviation_nt: Option<Array2<f64>>,
}

impl<'m> IntervalPredictor<'m> {
    fn new(model: &'m LinearModel, run: &Run) -> Result<Self> {
        let featurizer = with_spread(
            model,
            model.spread.as_ref().map(|spread| &spread.root_dd),
            run,
        )?;
        Ok(Self { model, featurizer })
    }

    /// Prediction intervals that contain a new target with probability `level`, between 0 and 1:
    /// from the errors of calibration if there are any, otherwise from the normal distribution with
    /// the model's variance.
    ///
    /// Errors unless the level is between 0 and 1, and if it is too high for the number of
    /// calibration rows.
    pub fn predict(&mut self, rows: &Rows, level: f64) -> Result<Intervals> {
        rows.require_finite()?;
        let (model, widths) = (self.model, Widths::at_level(self.model, level)?);
        let shape = (rows.nrows(), model.coefficients.intercept_t.len());
        let mut all = Raw {
            predicted_nt: Array2::zeros(shape),
            deviation_nt: model.spread.as_ref().map(|_| Array2::zeros(shape)),
        };
        self.featurizer.rows(rows, |branches, range| {
            let part = raw(model, branches);
            let range = s![range, ..];
            all.predicted_nt.slice_mut(range).assign(&part.predicted_nt);
            if let (Some(all), Some(part)) = (&mut all.deviation_nt, &part.deviation_nt) {
                all.slice_mut(range).assign(part);
            }
            Ok(())
        })?;
        Ok(widths.around(all))
    }

    /// Joint covariance of the predictions for rows, `[rows, rows]`, for a model that has a
    /// variance: the covariances of f given the data, over the variance of the noise of each
    /// target.
    ///
    /// Errors with [`Error::Unsupported`] on other models.
    #[doc(hidden)]
    pub fn relative_covariance(&mut self, rows: &Rows) -> Result<Array2<f64>> {
        rows.require_finite()?;
        let Some(spread) = &self.model.spread else {
            return Err(Error::unsupported(format!(
                "a model of {} has no covariances; fit a GaussianProcess",
                self.model.learner
            )));
        };
        let mut rooted_nd = Array2::zeros((rows.nrows(), spread.root_dd.ncols()));
        self.featurizer.rows(rows, |branches, range| {
            let rooted = branches[1].mapv(f64::from);
            rooted_nd.slice_mut(s![range, ..]).assign(&rooted);
            Ok(())
        })?;
        Ok(spread.relative_covariance(&rooted_nd))
    }

    /// Streams a source: `sink` gets the intervals and the targets of each chunk, in order. Returns
    /// the number of rows. Errors as [`Self::predict`] does.
    pub fn stream(
        &mut self,
        source: &mut dyn ChunkSource,
        level: f64,
        mut sink: impl FnMut(&Intervals, ArrayView2<'_, f64>) -> Result<()>,
    ) -> Result<u64> {
        let widths = Widths::at_level(self.model, level)?;
        self.stream_raw(source, |raw, y_nt| sink(&widths.around(raw), y_nt))
    }

    fn stream_raw(
        &mut self,
        source: &mut dyn ChunkSource,
        mut sink: impl FnMut(Raw, ArrayView2<'_, f64>) -> Result<()>,
    ) -> Result<u64> {
        let model = self.model;
        check_columns(model, source)?;
        let targets = |chunk: &Chunk, range| chunk.y.slice(s![range, ..]).to_owned();
        self.featurizer
            .on_host(source, targets, |branches, y_nt: Array2<f64>| {
                let raw = raw(model, branches);
                require_finite(&raw.predicted_nt)?;
                sink(raw, y_nt.view())
            })
    }
}

/// Converts the branches of a model to predictions and deviations.
fn raw(model: &LinearModel, branches: &[ArrayView2<'_, f32>]) -> Raw {
    let predicted_nt = branches[0].mapv(f64::from) + &model.coefficients.intercept_t;
    let deviation_nt = model.spread.as_ref().map(|spread| {
        let relative_n = spread.relative_variance(&branches[1].mapv(f64::from));
        let (rows, targets) = predicted_nt.dim();
        Array2::from_shape_fn((rows, targets), |(i, k)| {
            ((1.0 + relative_n[i]) * spread.noise_t[k]).sqrt()
        })
    });
    Raw {
        predicted_nt,
        deviation_nt,
    }
}

/// Half width of an interval for each target, in units of its deviation for models with a variance,
/// and the transformation of raw scores.
struct Widths(Array1<f64>, Option<Link>);

impl Widths {
    fn at_level(model: &LinearModel, level: f64) -> Result<Self> {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::parameter(format!(
                "the level of an interval is {level}; it must lie between 0 and 1, both excluded"
            )));
        }
        let targets = model.coefficients.intercept_t.len();
        let half_t = match &model.conformal {
            Some(conformal) => conformal.half_width_t(level)?,
            None => Array1::from_elem(targets, normal_quantile(f64::midpoint(1.0, level))),
        };
        Ok(Self(half_t, model.link.clone()))
    }

    fn around(&self, raw: Raw) -> Intervals {
        let Raw {
            predicted_nt,
            deviation_nt,
        } = raw;
        let half_nt = match &deviation_nt {
            Some(deviation_nt) => deviation_nt * &self.0,
            None => Array2::zeros(predicted_nt.dim()) + &self.0,
        };
        let (lower_nt, upper_nt) = (&predicted_nt - &half_nt, &predicted_nt + &half_nt);
        let rescaled = (self.1.as_ref()).and_then(|link| Some((link, link.rescale()?)));
        let Some((link, rescale)) = rescaled else {
            return Intervals {
                lower_nt,
                upper_nt,
                predicted_nt,
                deviation_nt,
            };
        };
        // The transformation is monotone, so the coverage is that on the fitted scale.
        let amounts = |ends: Array2<f64>| ends.mapv(|seen| rescale.amount(seen));
        Intervals {
            lower_nt: amounts(lower_nt),
            upper_nt: amounts(upper_nt),
            predicted_nt: link.apply(&predicted_nt),
            deviation_nt: deviation_nt.and_then(|of| Some(of * Link::factor(Some(link))?)),
        }
    }
}
