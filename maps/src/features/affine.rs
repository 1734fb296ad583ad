//! One affine map per input column, from raw values to what a feature map takes.

mod bends;
mod columns;
mod domain;
mod file;

use super::Bend;
use crate::{
    Error, Matrix, Result,
    data::{Rows, Survey},
    error::Remedy,
    kernels::Domain,
    parallel,
    text::counted,
};
use ndarray::{Array2, ArrayView1};
use std::sync::Arc;

/// Larger numbers are refused: their products with frequencies could leave the range of f32, and no
/// digit of a phase would be left anyway.
pub(super) const LARGEST: f32 = 1e30;

/// `u_j = (x_j - center_j) * scale_j`, in f64 on the host, before anything is rounded to f32.
///
/// Columns may go through a rising function first ([`Standardize`](super::Standardize) has them).
/// Standardisation, lengthscales and a map's own factor (1/(2 pi) for phases in turns) fold into
/// it, so that frequencies stay at unit scale. For kernels that are not defined everywhere it
/// refuses other values ([`Self::within`]), and for those of ratios it takes the logarithm
/// ([`Self::logarithm`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Affine {
    center: Vec<f64>,
    scale: Vec<f64>,
    domain: Domain,
    /// The f in `f ln(u - bound)`, of values above a bound.
    logarithm: Option<f64>,
    /// What each column goes through first, `[d]`.
    bends: Option<Arc<[Bend]>>,
}

impl Affine {
    /// Leaves `columns` columns as they are.
    pub fn identity(columns: usize) -> Self {
        Self::unchecked(vec![0.0; columns], vec![1.0; columns])
    }

    /// `(x_j - center_j) * scale_j`, one of each for every column. Errors with [`Error::Shape`] on
    /// other numbers of them and with [`Error::Parameter`] unless all are finite.
    pub fn new(center: Vec<f64>, scale: Vec<f64>) -> Result<Self> {
        if center.len() != scale.len() {
            return Err(Error::shape(format!(
                "{} and {}; give one of each for every column",
                counted(center.len(), "centre"),
                counted(scale.len(), "scale")
            )));
        }
        if !center.iter().chain(&scale).all(|v| v.is_finite()) {
            return Err(Error::parameter(
                "a centre or a scale of a column is not finite",
            ));
        }
        Ok(Self::unchecked(center, scale))
    }

    /// `(x_j - center_j) * scale_j` for vectors of one length.
    pub(super) fn unchecked(center: Vec<f64>, scale: Vec<f64>) -> Self {
        debug_assert_eq!(center.len(), scale.len());
        Self {
            center,
            scale,
            domain: Domain::Any,
            logarithm: None,
            bends: None,
        }
    }

    /// Refuses rows with a value outside of `domain` after centring and scaling, by row and column.
    ///
    /// ```
    /// use bochner::{data::Rows, features::Affine, kernels::Domain};
    /// let input = Affine::identity(2).within(Domain::NonNegative);
    /// let error = input.apply(&Rows::from(ndarray::array![[0.0, 1.0], [2.0, -3.0]]));
    /// let message = error.expect_err("a negative value").to_string();
    /// assert!(message.starts_with("row 1, column 1 (counted from 0) holds -3"), "{message}");
    /// ```
    #[doc(hidden)]
    pub fn within(mut self, domain: Domain) -> Self {
        self.domain = domain;
        self
    }

    /// Refuses values that are not above `bound`, and takes `ln(u - bound)` of the others.
    /// Lengthscales divide what the logarithm is taken of.
    #[doc(hidden)]
    pub fn logarithm(mut self, bound: f64) -> Self {
        self.domain = Domain::Above(bound);
        self.logarithm = Some(1.0);
        self
    }

    /// The values that it takes, after centring and scaling.
    pub(super) fn domain(&self) -> Domain {
        self.domain
    }

    /// Whether it takes more than centring and scaling.
    #[doc(hidden)]
    pub fn is_logarithm(&self) -> bool {
        self.logarithm.is_some()
    }

    /// Whether it is centring and scaling alone.
    #[doc(hidden)]
    pub fn is_affine(&self) -> bool {
        self.logarithm.is_none() && self.bends.is_none()
    }

    /// Factor f and bound of the `f ln(u - bound)` that it takes after centring and scaling.
    #[doc(hidden)]
    pub fn factor_and_bound(&self) -> Option<(f64, f64)> {
        match (self.logarithm, self.domain) {
            (Some(factor), Domain::Above(bound)) => Some((factor, bound)),
            _ => None,
        }
    }

    /// Centres every column and divides it by its standard deviation; a constant column becomes
    /// zero.
    pub fn standardize(survey: &Survey) -> Self {
        let scale = (0..survey.mean.len())
            .map(|j| {
                if survey.is_constant(j) {
                    0.0
                } else {
                    1.0 / survey.variance[j].sqrt()
                }
            })
            .collect();
        Self::unchecked(survey.mean.clone(), scale)
    }

    /// Divides the result by a lengthscale. Errors unless it is positive and finite.
    pub fn lengthscale(self, lengthscale: f64) -> Result<Self> {
        self.lengthscales(&[lengthscale])
    }

    /// Divides the result by one lengthscale for all columns, or each column by its own (automatic
    /// relevance determination).
    pub fn lengthscales(mut self, lengthscales: &[f64]) -> Result<Self> {
        if lengthscales.len() != 1 && lengthscales.len() != self.columns() {
            return Err(Error::shape(format!(
                "{} for {}; give one, or one for each",
                counted(lengthscales.len(), "lengthscale"),
                counted(self.columns(), "column")
            )));
        }
        if let Some(bad) = lengthscales.iter().find(|l| !(**l > 0.0 && l.is_finite())) {
            return Err(Error::parameter(format!(
                "a lengthscale is {bad}; it must be positive and finite"
            )));
        }
        for (s, l) in self.scale.iter_mut().zip(lengthscales.iter().cycle()) {
            *s /= l;
        }
        Ok(self)
    }

    /// Multiplies the result by `factor`.
    pub(crate) fn times(mut self, factor: f64) -> Self {
        match &mut self.logarithm {
            Some(own) => *own *= factor,
            None => self.scale.iter_mut().for_each(|s| *s *= factor),
        }
        self
    }

    /// The same for `columns`, one after the other, among `all` columns, of which the others become
    /// zero.
    #[doc(hidden)]
    pub fn among(&self, columns: &[usize], all: usize) -> Self {
        let mut bends = vec![Bend::Straight; all];
        let mut whole = Self {
            center: vec![0.0; all],
            scale: vec![0.0; all],
            ..self.clone()
        };
        for (k, &j) in columns.iter().enumerate() {
            (whole.center[j], whole.scale[j]) = (self.center[k], self.scale[k]);
            if let Some(own) = &self.bends {
                bends[j] = own[k].clone();
            }
        }
        whole.bends = self.bends.is_some().then(|| bends.into());
        whole
    }

    /// What is subtracted from each column.
    #[doc(hidden)]
    pub fn center(&self) -> &[f64] {
        &self.center
    }

    /// Whether any column is centred.
    pub(super) fn centres(&self) -> bool {
        self.center.iter().any(|&c| c != 0.0)
    }

    /// What a row of zeros becomes, rounded as [`Self::load`] does; for no logarithms.
    pub(super) fn of_zeros(&self) -> Vec<f32> {
        let both = self.center.iter().zip(&self.scale).enumerate();
        both.map(|(j, (c, s))| ((self.straightened(0.0, j) - c) * s) as f32)
            .collect()
    }

    /// What each column is then multiplied by.
    #[doc(hidden)]
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// The columns that are kept, and ln of the volume at unit scale of a unit of their raw volume:
    /// what turns densities of one into those of the other.
    #[doc(hidden)]
    pub fn volume(&self) -> (Vec<usize>, f64) {
        let kept = self.kept();
        let ln_volume = kept.iter().map(|&j| self.scale[j].abs().ln()).sum();
        (kept, ln_volume)
    }

    /// Number of columns, d.
    pub fn columns(&self) -> usize {
        self.center.len()
    }

    /// Scale and shift of each column that take what `base` gives to what this map gives; `None`
    /// when they are equal. Errors when the numbers of columns differ, when `base` drops a column
    /// that this map keeps, and when one takes logarithms and the other does not take the same.
    pub(crate) fn relative_to(&self, base: &Self) -> Result<Option<Vec<[f32; 2]>>> {
        if self.columns() != base.columns() {
            return Err(Error::shape(format!(
                "maps of {} and {} columns do not go side by side",
                base.columns(),
                self.columns()
            )));
        }
        if self.bends != base.bends {
            return Err(Error::unsupported(
                "maps whose columns are prepared by other medians or ranks do not go side by side; \
                 standardise them alike",
            ));
        }
        let same = self.logarithm == base.logarithm
            && (self.domain == base.domain || !self.is_logarithm())
            && (&self.center, &self.scale) == (&base.center, &base.scale);
        if same {
            return Ok(None);
        }
        if self.is_logarithm() || base.is_logarithm() {
            return Err(Error::unsupported(
                "a map of logarithms does not go beside one of other values; fit them one by one",
            ));
        }
        let columns = (0..self.columns()).map(|j| match (self.scale[j], base.scale[j]) {
            (0.0, _) => Ok([0.0, 0.0]),
            (_, 0.0) => Err(Error::unsupported(format!(
                "one map drops column {j} as constant and another keeps it; standardise for both \
                 or for none"
            ))),
            (own, other) => {
                let shift = (base.center[j] - self.center[j]) * own;
                Ok([(own / other) as f32, shift as f32])
            }
        });
        columns.collect::<Result<_>>().map(Some)
    }

    /// What is left to do after centring and scaling.
    fn finish(&self, u: f64) -> f64 {
        match self.factor_and_bound() {
            Some((factor, bound)) => factor * libm::log(u - bound),
            None => u,
        }
    }

    /// Prepares one value of column `j` in f64, inside or outside of the domain.
    #[doc(hidden)]
    pub fn prepare(&self, value: f64, j: usize) -> f64 {
        self.finish((self.straightened(value, j) - self.center[j]) * self.scale[j])
    }

    /// Applies the map in f64, shape `[rows, d]`.
    pub fn apply(&self, rows: &Rows) -> Result<Array2<f64>> {
        self.check(rows)?;
        self.admit(rows, 0)?;
        let mut u = rows.clone().into_f64();
        for mut row in u.rows_mut() {
            for (j, u) in row.iter_mut().enumerate() {
                *u = self.prepare(*u, j);
            }
        }
        Ok(u)
    }

    /// Applies the map and writes the rows to `x`, which was allocated for at least as many; `x`
    /// takes their number.
    pub fn load(&self, rows: &Rows, x_nd: &mut Matrix) -> Result<()> {
        self.check(rows)?;
        self.admit(rows, 0)?;
        x_nd.set_rows(rows.nrows())?;
        let fill = |i: usize, out: &mut [f32]| match rows {
            Rows::F32(x) => self.fill_row(x.row(i), out),
            Rows::F64(x) => self.fill_row(x.row(i), out),
        };
        // A pool of one thread would only be handed the work.
        let shares = x_nd.device().as_cpu().is_some_and(|cpu| cpu.threads() > 1);
        if !shares {
            return x_nd.write_rows(fill);
        }
        let stride = x_nd.stride().max(1);
        let mut worst = Ok(());
        x_nd.write_with(|out| {
            worst = parallel::at_least(64).try_chunks(out, stride, &fill);
        })?;
        worst
    }

    /// One row.
    fn fill_row<T: Copy + Into<f64>>(&self, row: ArrayView1<'_, T>, out: &mut [f32]) -> Result<()> {
        let (body, padding) = out.split_at_mut(self.columns());
        let affine = self.center.iter().zip(&self.scale);
        let mut largest = 0.0_f32;
        match (row.to_slice(), self.is_affine()) {
            // In vectors.
            (Some(row), true) => {
                for ((o, &x), (c, s)) in body.iter_mut().zip(row).zip(affine) {
                    *o = ((x.into() - c) * s) as f32;
                }
                for o in body.iter() {
                    largest = largest.max(o.abs());
                }
            }
            _ => {
                for ((o, &x), (j, (c, s))) in body.iter_mut().zip(row).zip(affine.enumerate()) {
                    *o = self.finish((self.straightened(x.into(), j) - c) * s) as f32;
                    largest = largest.max(o.abs());
                }
            }
        }
        padding.fill(0.0);
        if largest <= LARGEST {
            return Ok(());
        }
        let column = body
            .iter()
            .position(|&o| o.abs() > LARGEST || o.is_nan())
            .unwrap_or(0);
        let value: f64 = row[column].into();
        Err(Error::parameter(format!(
            "column {column} (counted from 0) holds {value:e}, beyond {LARGEST:e} after scaling, \
             where sums would leave the range of f32"
        ))
        .help(Remedy::Standardize)
        .help(Remedy::LargerLengthscale))
    }

    fn check(&self, rows: &Rows) -> Result<()> {
        if rows.ncols() == self.columns() {
            return Ok(());
        }
        Err(Error::shape(format!(
            "the data has {}, the map takes {}",
            counted(rows.ncols(), "column"),
            self.columns()
        )))
    }
}
