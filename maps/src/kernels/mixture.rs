use super::{
    ClosedForm, Kernel, Norm, SpectralMeasure, check_lengthscale, is_isotropic, no_gamma,
    part_spec, scaled,
};
use crate::{
    error::{Error, Result},
    seed::Draws,
};
use std::sync::Arc;

/// One kernel of a [`Mixture`].
#[derive(Debug, Clone)]
pub struct Component {
    /// Its weight, positive; only ratios matter.
    pub weight: f64,
    /// The kernel.
    pub kernel: Arc<dyn Kernel>,
    /// Its lengthscale relative to the mixture's own.
    pub lengthscale: f64,
}

/// k(x, y) = sum_i w_i k_i(x / l_i, y / l_i) / sum_i w_i. A frequency comes from component i with
/// probability w_i / sum w, divided by l_i.
///
/// Weights are normalised, so k(x, x) = 1 whatever they sum to; [`Self::total_weight`] is the
/// factor taken out.
#[derive(Debug, Clone)]
pub struct Mixture {
    components: Vec<Component>,
    total: f64,
    /// Probability of a component up to this one; the last is 1 exactly.
    cumulative: Vec<f64>,
}

impl Mixture {
    /// The mixture of `components`.
    ///
    /// ```
    /// use bochner::kernels::{Component, Gaussian, Kernel, Laplacian, Mixture};
    /// use std::sync::Arc;
    /// let mixture = Mixture::new(vec![
    ///     Component { weight: 0.25, kernel: Arc::new(Gaussian), lengthscale: 1.0 },
    ///     Component { weight: 0.75, kernel: Arc::new(Laplacian), lengthscale: 2.5 },
    /// ])?;
    /// assert_eq!(mixture.spec(), "mixture:0.25*gaussian@1+0.75*laplacian@2.5");
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameter`] when there is none, or a weight or lengthscale is not positive and
    /// finite; [`Error::Unsupported`] when a component has no spectral measure.
    pub fn new(components: Vec<Component>) -> Result<Self> {
        if components.is_empty() {
            return Err(Error::parameter(
                "a mixture needs at least one component, such as 1*gaussian@1",
            ));
        }
        for Component {
            weight,
            kernel,
            lengthscale,
        } in &components
        {
            if !(*weight > 0.0 && weight.is_finite()) {
                return Err(Error::parameter(format!(
                    "the weight of {} in a mixture must be a positive number, not {weight}",
                    kernel.spec()
                )));
            }
            check_lengthscale(kernel.as_ref(), *lengthscale)?;
        }
        let total = components.iter().map(|c| c.weight).sum::<f64>();
        if !total.is_finite() {
            return Err(Error::parameter(
                "the weights of a mixture add up to infinity",
            ));
        }
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = components
            .iter()
            .map(|c| {
                sum += c.weight;
                sum / total
            })
            .collect();
        if let Some(last) = cumulative.last_mut() {
            *last = 1.0;
        }
        Ok(Self {
            components,
            total,
            cumulative,
        })
    }

    /// The components, weights as they were given.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The sum of the weights as given: this times k is the plain weighted sum.
    #[doc(hidden)]
    pub fn total_weight(&self) -> f64 {
        self.total
    }

    /// The component at `t` in (0, 1), with its measure ([`Self::new`] has checked that there is
    /// one).
    fn component(&self, t: f64) -> (&Component, &dyn SpectralMeasure) {
        let component = &self.components[self.cumulative.partition_point(|&c| c <= t)];
        let spectrum = component.kernel.spectrum();
        (component, spectrum.expect("checked at construction"))
    }
}

impl Kernel for Mixture {
    fn spec(&self) -> String {
        let part = |c: &Component| {
            format!(
                "{}*{}",
                c.weight,
                part_spec(c.kernel.as_ref(), c.lengthscale)
            )
        };
        let parts: Vec<String> = self.components.iter().map(part).collect();
        format!("mixture:{}", parts.join("+"))
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let part = |c: &Component| {
            let (x, y) = (scaled(x, c.lengthscale), scaled(y, c.lengthscale));
            c.weight / self.total * c.kernel.evaluate(&x, &y)
        };
        self.components.iter().map(part).sum()
    }

    /// Where every component has one.
    fn gradient(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> bool {
        let mut sum = vec![0.0; out.len()];
        let mut part = vec![0.0; out.len()];
        for c in &self.components {
            let (x, y) = (scaled(x, c.lengthscale), scaled(y, c.lengthscale));
            if !c.kernel.gradient(&x, &y, &mut part) {
                return false;
            }
            let weight = c.weight / self.total / c.lengthscale;
            sum.iter_mut()
                .zip(&part)
                .for_each(|(s, p)| *s += weight * p);
        }
        out.copy_from_slice(&sum);
        true
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        Some(self)
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        no_gamma("mixture")
    }

    fn norm(&self) -> Norm {
        let l1 = |c: &Component| c.kernel.norm() == Norm::L1;
        if self.components.iter().all(l1) {
            Norm::L1
        } else {
            Norm::L2
        }
    }

    fn closed_form(&self) -> Option<ClosedForm<'_>> {
        Some(ClosedForm::Mixture(self))
    }
}

impl SpectralMeasure for Mixture {
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]) {
        let (component, measure) = self.component(draws.uniform());
        measure.draw(draws, omega);
        omega.iter_mut().for_each(|w| *w /= component.lengthscale);
    }

    /// The largest of the components', and one more, the last, that picks the component.
    fn cube_dim(&self, d: usize) -> Option<usize> {
        let dims = self
            .components
            .iter()
            .map(|c| c.kernel.spectrum()?.cube_dim(d));
        Some(dims.collect::<Option<Vec<_>>>()?.into_iter().max()? + 1)
    }

    fn map_cube(&self, t: &[f64], omega: &mut [f64]) {
        let (component, measure) = self.component(t[t.len() - 1]);
        let dim = measure.cube_dim(omega.len()).unwrap_or(0);
        measure.map_cube(&t[..dim], omega);
        omega.iter_mut().for_each(|w| *w /= component.lengthscale);
    }

    /// `ln sum_i w_i l_i^d p_i(l_i w) / sum_i w_i`.
    fn ln_density(&self, omega: &[f64]) -> Option<f64> {
        let part = |c: &Component| {
            let scaled: Vec<f64> = omega.iter().map(|w| w * c.lengthscale).collect();
            let own = c.kernel.spectrum()?.ln_density(&scaled)?;
            let stretch = omega.len() as f64 * libm::log(c.lengthscale);
            Some(libm::log(c.weight / self.total) + stretch + own)
        };
        let parts = self.components.iter().map(part);
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let largest = parts.iter().fold(f64::NEG_INFINITY, |m, &p| m.max(p));
        if largest == f64::NEG_INFINITY {
            return Some(largest);
        }
        let sum: f64 = parts.iter().map(|p| libm::exp(p - largest)).sum();
        Some(largest + libm::log(sum))
    }

    fn second_moment(&self, d: usize) -> Option<f64> {
        let parts = self.components.iter().map(|c| {
            let moment = c.kernel.spectrum()?.second_moment(d)?;
            Some(c.weight / self.total * moment / (c.lengthscale * c.lengthscale))
        });
        parts.sum()
    }

    fn radius(&self, d: usize, draws: &mut Draws) -> Option<f64> {
        let one = |c: &Component| c.kernel.spectrum().is_some_and(|m| is_isotropic(m, d));
        if !self.components.iter().all(one) {
            return None;
        }
        let (component, measure) = self.component(draws.uniform());
        Some(measure.radius(d, draws)? / component.lengthscale)
    }
}
