//! The Cholesky factorisation of the solvers.

use super::{Job, draw};
use crate::{
    Device, Error, Result, bench::Shape, device::cpu::instruction_set, solve::cholesky::Lower,
};
use ndarray::Array2;

struct Cholesky {
    matrix: Array2<f64>,
    factor: Lower,
    device: Device,
}

pub(in crate::bench) fn cholesky(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    if !matches!(device, Device::Cpu(_)) {
        return Err(Error::Unsupported("factorisations run on the CPU".into()));
    }
    let n = shape.features;
    let mut matrix = draw(n, n, 0.25, 17).mapv(f64::from);
    // Symmetric through its lower triangle, and dominated by its diagonal.
    matrix.diag_mut().mapv_inplace(|v| v + n as f64);
    Ok(Box::new(Cholesky {
        factor: Lower::of(&matrix),
        matrix,
        device: device.clone(),
    }))
}

impl Job for Cholesky {
    fn reset(&mut self) {
        self.factor.assign(&self.matrix);
    }

    fn run(&mut self) -> Result<()> {
        let Device::Cpu(cpu) = &self.device else {
            unreachable!("refused when prepared")
        };
        match cpu.install(|| self.factor.factor()) {
            true => Ok(()),
            false => Err(Error::Numerical("not positive definite".into())),
        }
    }

    /// Of `L (L' v)` against `A v`.
    fn error(&mut self) -> Result<f64> {
        self.reset();
        self.run()?;
        let n = self.matrix.nrows();
        let v: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let (mut transposed, mut exact) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            for j in 0..=i {
                transposed[j] += self.factor.row(i)[j] * v[i];
                exact[i] += self.matrix[[i, j]] * v[j];
                if j < i {
                    exact[j] += self.matrix[[i, j]] * v[i];
                }
            }
        }
        let rows = exact.iter().enumerate();
        let errors = rows.map(|(i, exact)| {
            let products = self.factor.row(i).iter().zip(&transposed);
            (products.map(|(l, t)| l * t).sum::<f64>() - exact).abs()
        });
        let worst = errors.fold(0.0, |m: f64, e| if e.is_nan() { e } else { m.max(e) });
        let largest = exact.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
        Ok(worst / largest)
    }

    fn tile(&self) -> String {
        instruction_set().into()
    }
}
