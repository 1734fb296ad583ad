//! Component functions of an additive model.

#[cfg(test)]
mod tests;

use super::{
    Column, ColumnValue, Explainer,
    band::Covariance,
    dependence::{Level, levels},
    parts::{Part, parts_of},
};
use crate::{
    Error, Result, Step,
    error::Remedy,
    model::{LinearModel, Link, Targets},
};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};

/// Maximum number of values of a single column, and of each column of a pair.
const OF_ONE: usize = 50;
const OF_PAIR: usize = 20;
/// Maximum number of combinations of a pair; text columns use all levels.
const CELLS: usize = 2500;

/// Scale of the functions of an additive model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShapeKind {
    /// In units of the targets.
    Amounts,
    /// Logarithms, for targets fitted as logarithms: sums become products of the predictions.
    Logarithms,
    /// Normal scores of ranks, for targets fitted so.
    NormalScores,
    /// Scores of classes.
    Scores,
}

impl ShapeKind {
    /// `prediction`, `logarithm of the prediction`, `normal score of the prediction` or `score`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amounts => "prediction",
            Self::Logarithms => "logarithm of the prediction",
            Self::NormalScores => "normal score of the prediction",
            Self::Scores => "score",
        }
    }

    fn of(model: &LinearModel) -> Self {
        match (&model.targets, &model.link) {
            (Targets::Classes(_), _) => Self::Scores,
            (_, Some(Link::Exponential { .. })) => Self::Logarithms,
            (_, Some(Link::Ranks { .. })) => Self::NormalScores,
            _ => Self::Amounts,
        }
    }
}

/// Component functions of an additive model (Hastie & Tibshirani 1986, "Generalized additive
/// models"): `f(x) = b + sum_p f_p(x)`, each a function of the columns that its maps depend on,
/// computed exactly without sampling. Each has mean 0 over the sampled rows; the means are added to
/// b.
#[derive(Debug, Clone, PartialEq)]
pub struct Shapes {
    /// Scale of f.
    pub kind: ShapeKind,
    /// b, the mean of f over the rows, `[outputs]`.
    pub intercept_k: Array1<f64>,
    /// Number of rows for the means.
    pub rows: usize,
    /// Noise variance for the standard errors, `[outputs]`; `None` if there are no standard errors.
    pub noise_k: Option<Array1<f64>>,
    /// Functions of one and two columns, that with the largest variance first.
    pub shapes: Vec<Shape>,
    /// Functions that are not evaluated: of more than two columns, or of texts whose values cannot
    /// be recovered or with too many levels for a pair.
    pub others: Vec<OtherPart>,
}

impl Shapes {
    /// Multiplies all functions by `unit`.
    fn scale(&mut self, unit: f64) {
        self.intercept_k *= unit;
        if let Some(noise_k) = &mut self.noise_k {
            *noise_k *= unit * unit;
        }
        for shape in &mut self.shapes {
            shape.mean_gk *= unit;
            shape.deviation_k *= unit;
            if let Some(band_gk) = &mut shape.band_gk {
                *band_gk *= unit;
            }
        }
        for other in &mut self.others {
            other.deviation_k *= unit;
        }
    }
}

/// A function of one or two columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Their indices among the [`Column`]s, ascending.
    pub columns: Vec<usize>,
    /// Values of each column: quantiles of numbers and dates from the 1st to the 99th percentile,
    /// at most 50, or 20 for a pair; all categories; and missing at the end, if some rows are.
    pub values: Vec<Vec<ColumnValue>>,
    /// f_p at these values, `[values, outputs]`; for a pair at all combinations, the second column
    /// varying fastest.
    pub mean_gk: Array2<f64>,
    /// Standard error of f_p at each value, with the same shape; `None` if unknown.
    pub band_gk: Option<Array2<f64>>,
    /// The standard deviation of f_p over the rows, `[outputs]`.
    pub deviation_k: Array1<f64>,
}

/// A function that is not evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherPart {
    /// The indices of its columns among the [`Column`]s, ascending.
    pub columns: Vec<usize>,
    /// The standard deviation of the function over the rows, `[outputs]`.
    pub deviation_k: Array1<f64>,
}

/// Grid on which a function is evaluated.
struct Grid {
    values: Vec<Vec<ColumnValue>>,
    x_gd: Array2<f64>,
}

/// An evaluated part: its index, its grid, and its values there, `[g, k]`.
struct Looked {
    place: usize,
    grid: Grid,
    mean_gk: Array2<f64>,
    deviation_k: Array1<f64>,
}

impl<'m> Explainer<'m> {
    /// Component functions of an additive model, with standard errors.
    ///
    /// With C the covariance of the coefficients over the variance of the noise s², that of f_p(x)
    /// is `s² v'C v`, v the features of the part at x minus their mean over the rows. A Gaussian
    /// process stores both. For ridge regression `C = (Z'Z + n lambda I)^-1`, with the rows as a
    /// sample of the training rows, and s² is the mean square of the residuals of these rows over
    /// `1 - (N + 1) / n`, N the effective dimension: pass the training rows, with targets. Other
    /// learners have no standard errors.
    ///
    /// Errors with [`Error::Unsupported`] if the model is not a sum of functions of some of the
    /// columns, and as devices do.
    ///
    /// ```
    /// use bochner::{data::MemorySource, explain::{ExplainOptions, Explainer}};
    /// use bochner::{features::Additive, prelude::*};
    /// let x = ndarray::Array2::from_shape_fn((300, 2), |(i, j)| ((i * (7 + 4 * j)) % 97) as f64);
    /// let y = ndarray::Array2::from_shape_fn((300, 1), |(i, _)| (x[[i, 0]] / 16.0).sin());
    /// let map = Fourier::new(Gaussian).features(80);
    /// let model = Ridge::on(map).additive(Additive::Columns).fit((&x, &y))?;
    /// let mut rows = MemorySource::new(&x, Some(y))?;
    /// let options = ExplainOptions::default();
    /// let mut explainer = Explainer::new(model.linear(), &mut rows, options, &Device::cpu())?;
    /// let shapes = explainer.shapes()?;
    /// // The function that varies most is that of column 0.
    /// assert_eq!(shapes.shapes[0].columns, [0]);
    /// assert_eq!(shapes.shapes[0].mean_gk.dim(), (50, 1));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn shapes(&mut self) -> Result<Shapes> {
        let parts = self.summands()?;
        let from = self.outputs.from();
        let intercept_t = &self.model.coefficients.intercept_t;
        let mut intercept_k = intercept_t.slice(s![from..]).to_owned();
        let rows = self.sample.x_nd.nrows();
        let mut left_nk = self.seen_targets(from)?.map(|y_nk| y_nk - &intercept_k);
        let (mut looked, mut others) = (Vec::new(), Vec::new());
        for (place, part) in parts.iter().enumerate() {
            let mut loaded = part.load(self.model, &self.run)?;
            let of_nt = loaded.outputs(self.sample.x_nd.clone())?;
            let of_nk = of_nt.slice(s![.., from..]);
            let mean_k = of_nk.mean_axis(Axis(0)).unwrap_or_default();
            intercept_k += &mean_k;
            if let Some(left_nk) = &mut left_nk {
                *left_nk -= &of_nk;
            }
            let deviation_k = of_nk.std_axis(Axis(0), 0.0);
            if let Some(grid) = self.grid(&part.columns) {
                let mean_gt = loaded.outputs(grid.x_gd.clone())?;
                looked.push(Looked {
                    place,
                    grid,
                    mean_gk: &mean_gt.slice(s![.., from..]) - &mean_k,
                    deviation_k,
                });
            } else if !part.columns.is_empty() {
                others.push(OtherPart {
                    columns: part.columns.clone(),
                    deviation_k,
                });
            }
            self.done += rows as u64;
            self.run.pause(Step::Rows(self.done))?;
        }
        let (shapes, noise_k) = self.with_bands(looked, &parts, left_nk.as_ref())?;
        let mut found = Shapes {
            kind: ShapeKind::of(self.model),
            intercept_k,
            rows,
            noise_k,
            shapes,
            others,
        };
        if let Some(Link::Unit { unit }) = self.model.link {
            found.scale(unit);
        }
        Ok(found)
    }

    /// Whether the model is a sum of functions of some of the columns, as [`Self::shapes`]
    /// requires.
    pub fn is_additive(&self) -> bool {
        self.summands().is_ok()
    }

    /// The parts of the model. Errors if it is a function of all columns, or has such a part.
    fn summands(&self) -> Result<Vec<Part<'m>>> {
        let all = self.columns.len();
        let parts = parts_of(self.model, &self.columns).filter(|parts| {
            let of_columns = || parts.iter().filter(|part| !part.columns.is_empty());
            let whole = |part: &Part<'_>| part.columns.len() == all && all > 2;
            let apart = of_columns().count() > 1 || all == 1;
            apart && !parts.iter().any(whole)
        });
        parts.ok_or_else(|| {
            let problem = "the model is no sum of functions of some of its columns, so none can be \
                           looked at by itself";
            let remedy = "fit an additive model, or name the columns of each map";
            Error::unsupported(problem).help(Remedy::words(remedy))
        })
    }

    /// Targets on the fitted scale, for outputs from `from` on, `[n, k]`, if the rows have targets.
    fn seen_targets(&self, from: usize) -> Result<Option<Array2<f64>>> {
        if !self.has_targets() {
            return Ok(None);
        }
        let y_nt = &self.sample.y_nt;
        Ok(Some(match &self.model.targets {
            Targets::Classes(labels) => {
                let labels = &labels[from..];
                Array2::from_shape_fn((y_nt.nrows(), labels.len()), |(i, k)| {
                    if y_nt[[i, 0]] == labels[k] { 1.0 } else { -1.0 }
                })
            }
            Targets::Real { .. } => match self.model.link.as_ref().and_then(Link::rescale) {
                None => y_nt.clone(),
                Some(rescale) => {
                    let seen = y_nt.iter().map(|&y| rescale.seen(y));
                    let seen = seen.collect::<Result<Vec<f64>>>()?;
                    Array2::from_shape_vec(y_nt.dim(), seen)
                        .map_err(|error| Error::shape(error.to_string()))?
                }
            },
        }))
    }

    /// Grid for a function of these columns; `None` if it is not evaluated.
    fn grid(&self, columns: &[usize]) -> Option<Grid> {
        let x_nd = &self.sample.x_nd;
        let most = if columns.len() == 1 { OF_ONE } else { OF_PAIR };
        let of = |&j: &usize| -> (&Column, Vec<Level>) {
            let column = &self.columns[j];
            (column, levels(column, x_nd, most))
        };
        let axes: Vec<(&Column, Vec<Level>)> = columns.iter().map(of).collect();
        let cells: usize = axes.iter().map(|(_, levels)| levels.len()).product();
        let drawn = match axes.len() {
            1 => cells > 0,
            2 => (1..=CELLS).contains(&cells),
            _ => false,
        };
        if !drawn {
            return None;
        }
        let mut x_gd = Array2::zeros((cells, x_nd.ncols()));
        for (g, mut row_d) in x_gd.rows_mut().into_iter().enumerate() {
            // The other columns have no effect.
            row_d.assign(&x_nd.row(0));
            let mut rest = g;
            for (column, levels) in axes.iter().rev() {
                let encoded = ArrayView1::from(&levels[rest % levels.len()].encoded);
                row_d.slice_mut(s![column.places.clone()]).assign(&encoded);
                rest /= levels.len();
            }
        }
        let values = axes.into_iter().map(|(_, levels)| {
            let each = levels.into_iter().map(|level| level.value);
            each.collect::<Vec<_>>()
        });
        Some(Grid {
            values: values.collect(),
            x_gd,
        })
    }

    /// Functions with their standard errors, that with the largest variance first, and the noise
    /// variance; `left_nk` are the residuals of the rows, if these have targets.
    fn with_bands(
        &self,
        looked: Vec<Looked>,
        parts: &[Part<'m>],
        left_nk: Option<&Array2<f64>>,
    ) -> Result<(Vec<Shape>, Option<Array1<f64>>)> {
        let (model, run) = (self.model, &self.run);
        let known = match (&model.spread, &model.targets) {
            (Some(spread), Targets::Real { .. }) => Some(spread.noise_t.clone()),
            _ => None,
        };
        let covariance = match known.is_some() || left_nk.is_some() {
            true => Covariance::of(model, parts, &self.sample.x_nd, run)?,
            false => None,
        };
        let found = covariance.as_ref().zip(left_nk);
        let found = found.and_then(|(of, left_nk)| of.noise(left_nk, model.rows));
        let noise_k = known.or(found);
        let mut shapes = Vec::with_capacity(looked.len());
        for of in looked {
            run.pause(Step::Rows(self.done))?;
            let band_gk = match covariance.as_ref().zip(noise_k.as_ref()) {
                None => None,
                Some((covariance, noise_k)) => {
                    let part = (of.place, &parts[of.place]);
                    let relative_g = covariance.relative(part, &of.grid.x_gd, run)?;
                    let squares_gk = relative_g
                        .insert_axis(Axis(1))
                        .dot(&noise_k.view().insert_axis(Axis(0)));
                    Some(squares_gk.mapv(f64::sqrt))
                }
            };
            shapes.push(Shape {
                columns: parts[of.place].columns.clone(),
                values: of.grid.values,
                mean_gk: of.mean_gk,
                band_gk,
                deviation_k: of.deviation_k,
            });
        }
        let size = |of: &Shape| of.deviation_k.mapv(|d| d * d).sum();
        shapes.sort_by(|a, b| size(b).total_cmp(&size(a)));
        Ok((shapes, noise_k))
    }
}
