use super::{
    ClosedForm, ColumnFactor, Kernel, Norm, SpectralMeasure, check_lengthscale, is_isotropic,
    no_gamma, part_spec, scaled,
};
use crate::{
    error::{Error, Result},
    seed::Draws,
};
use std::{f64::consts::PI, sync::Arc};

/// A factor of a column is integrated to where it and its width come to this.
const TAIL: f64 = 1e-10;
/// And no farther than so many times its finest distance.
const LONGEST: f64 = 1e4;

/// k(x, y) = prod_i k_i(x / l_i, y / l_i). A frequency is the sum of independent ones, each divided
/// by its l_i.
#[derive(Debug, Clone)]
pub struct Product {
    factors: Vec<(Arc<dyn Kernel>, f64)>,
}

impl Product {
    /// The product of `factors`, each a kernel with its lengthscale relative to the product's own.
    ///
    /// # Errors
    /// [`Error::Parameter`] when there is none, or a lengthscale is not positive and finite;
    /// [`Error::Unsupported`] when a factor has no spectral measure.
    pub fn new(factors: Vec<(Arc<dyn Kernel>, f64)>) -> Result<Self> {
        if factors.is_empty() {
            return Err(Error::parameter(
                "a product needs at least one factor, such as gaussian@1",
            ));
        }
        for (kernel, lengthscale) in &factors {
            check_lengthscale(kernel.as_ref(), *lengthscale)?;
        }
        Ok(Self { factors })
    }

    /// The factors with their lengthscales.
    pub fn factors(&self) -> &[(Arc<dyn Kernel>, f64)] {
        &self.factors
    }

    /// The factors' measures, which [`Self::new`] has checked to be there.
    fn measures(&self) -> impl Iterator<Item = (&dyn SpectralMeasure, f64)> {
        self.factors
            .iter()
            .filter_map(|(kernel, l)| Some((kernel.spectrum()?, *l)))
    }
}

impl Kernel for Product {
    fn spec(&self) -> String {
        let part = |(kernel, l): &(Arc<dyn Kernel>, f64)| part_spec(kernel.as_ref(), *l);
        let parts: Vec<String> = self.factors.iter().map(part).collect();
        format!("product:{}", parts.join("*"))
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let factor =
            |(kernel, l): &(Arc<dyn Kernel>, f64)| kernel.evaluate(&scaled(x, *l), &scaled(y, *l));
        self.factors.iter().map(factor).product()
    }

    /// Where every factor has one.
    fn gradient(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> bool {
        let mut sum = vec![0.0; out.len()];
        let mut part = vec![0.0; out.len()];
        let at = |l: f64| (scaled(x, l), scaled(y, l));
        for (i, (kernel, l)) in self.factors.iter().enumerate() {
            let (x, y) = at(*l);
            if !kernel.gradient(&x, &y, &mut part) {
                return false;
            }
            let others = self.factors.iter().enumerate().filter(|(j, _)| *j != i);
            let others = others.map(|(_, (kernel, l))| {
                let (x, y) = at(*l);
                kernel.evaluate(&x, &y)
            });
            let others: f64 = others.product();
            let parts = sum.iter_mut().zip(&part);
            parts.for_each(|(s, p)| *s += others * p / l);
        }
        out.copy_from_slice(&sum);
        true
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        Some(self)
    }

    /// Where all factors have one.
    fn column_factor(&self) -> Option<&dyn ColumnFactor> {
        let all = self.factors.iter();
        let all = all.map(|(kernel, _)| kernel.column_factor());
        all.collect::<Option<Vec<_>>>().map(|_| self as _)
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        no_gamma("product")
    }

    fn norm(&self) -> Norm {
        if self.factors.iter().all(|(k, _)| k.norm() == Norm::L1) {
            Norm::L1
        } else {
            Norm::L2
        }
    }

    fn closed_form(&self) -> Option<ClosedForm<'_>> {
        Some(ClosedForm::Product(self))
    }
}

impl SpectralMeasure for Product {
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]) {
        let mut part = vec![0.0; omega.len()];
        omega.fill(0.0);
        for (measure, l) in self.measures() {
            measure.draw(draws, &mut part);
            omega.iter_mut().zip(&part).for_each(|(w, p)| *w += p / l);
        }
    }

    /// The sum of the factors'.
    fn cube_dim(&self, d: usize) -> Option<usize> {
        self.measures()
            .map(|(measure, _)| measure.cube_dim(d))
            .sum()
    }

    fn map_cube(&self, t: &[f64], omega: &mut [f64]) {
        let mut part = vec![0.0; omega.len()];
        let mut start = 0;
        omega.fill(0.0);
        for (measure, l) in self.measures() {
            let end = start + measure.cube_dim(omega.len()).unwrap_or(0);
            measure.map_cube(&t[start..end], &mut part);
            omega.iter_mut().zip(&part).for_each(|(w, p)| *w += p / l);
            start = end;
        }
    }

    /// Where all factors are products over the columns, each column's is `1/pi` times the integral
    /// of phi(t) cos(w t) from 0 on; of one factor it is that factor's. Others have none.
    fn ln_density(&self, omega: &[f64]) -> Option<f64> {
        if let [(kernel, l)] = self.factors.as_slice() {
            let scaled: Vec<f64> = omega.iter().map(|w| w * l).collect();
            let own = kernel.spectrum()?.ln_density(&scaled)?;
            return Some(own + omega.len() as f64 * libm::log(*l));
        }
        let factor = self.column_factor()?;
        let mut width = factor.finest();
        while factor.value(width) * width > TAIL && width < LONGEST * factor.finest() {
            width *= 2.0;
        }
        let column = |w: &f64| {
            let density = width / PI * factor.mean_cosine(*w, width);
            // Rounding can make nothing less than nothing.
            libm::log(density.max(0.0))
        };
        Some(omega.iter().map(column).sum())
    }

    /// The sum of the factors', which are independent and symmetric.
    fn second_moment(&self, d: usize) -> Option<f64> {
        self.measures()
            .map(|(measure, l)| Some(measure.second_moment(d)? / (l * l)))
            .sum()
    }

    fn radius(&self, d: usize, draws: &mut Draws) -> Option<f64> {
        if !self.measures().all(|(measure, _)| is_isotropic(measure, d)) {
            return None;
        }
        // A sum of isotropic vectors is isotropic; its length has no shorter way in general.
        let mut omega = vec![0.0; d];
        self.draw(draws, &mut omega);
        Some(omega.iter().map(|w| w * w).sum::<f64>().sqrt())
    }
}

impl ColumnFactor for Product {
    fn value(&self, delta: f64) -> f64 {
        let factors = self.factors.iter();
        let values = factors.filter_map(|(k, l)| Some(k.column_factor()?.value(delta / l)));
        values.product()
    }

    fn finest(&self) -> f64 {
        let factors = self.factors.iter();
        let each = factors.filter_map(|(k, l)| Some(l * k.column_factor()?.finest()));
        each.fold(f64::INFINITY, f64::min)
    }
}
