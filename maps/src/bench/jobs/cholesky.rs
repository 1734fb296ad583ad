//! The Cholesky factorisation of the solvers.

use super::{Job, draw};
use crate::{
    Device, Error, Result, bench::Shape, device::CpuDevice, instructions::instruction_set,
    linalg::cholesky::Lower,
};
use ndarray::Array2;

struct Cholesky {
    matrix: Array2<f64>,
    factor: Lower,
    cpu: CpuDevice,
}

pub(in crate::bench) fn cholesky(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    let cpu = device.as_cpu();
    let cpu = cpu.ok_or_else(|| Error::unsupported("factorisations run on the CPU"))?;
    let n = shape.features;
    let mut matrix = draw(n, n, 0.25, 17).mapv(f64::from);
    // Symmetric through its lower triangle, and dominated by its diagonal.
    matrix.diag_mut().mapv_inplace(|v| v + n as f64);
    Ok(Box::new(Cholesky {
        factor: Lower::from_matrix(&matrix),
        matrix,
        cpu: cpu.clone(),
    }))
}

/// A sum of products with the rounding of each kept (Ogita, Rump & Oishi 2005, algorithm 5.3), so
/// that what is seen is the error of the factor and not of its check.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    fn add(&mut self, a: f64, b: f64) {
        let product = a * b;
        let sum = self.high + product;
        let part = sum - self.high;
        self.low += a.mul_add(b, -product) + ((self.high - (sum - part)) + (product - part));
        self.high = sum;
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

impl Job for Cholesky {
    fn reset(&mut self) {
        self.factor.assign(&self.matrix);
    }

    fn run(&mut self) -> Result<()> {
        if self.cpu.install(|| self.factor.factor()) {
            Ok(())
        } else {
            Err(Error::numerical("not positive definite"))
        }
    }

    /// Of `L (L' v)` against `A v`.
    fn error(&mut self) -> Result<f64> {
        self.reset();
        self.run()?;
        let n = self.matrix.nrows();
        let v: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let (mut transposed, mut exact) = (vec![Sum::default(); n], vec![Sum::default(); n]);
        for i in 0..n {
            for j in 0..=i {
                transposed[j].add(self.factor.row(i)[j], v[i]);
                exact[i].add(self.matrix[[i, j]], v[j]);
                if j < i {
                    exact[j].add(self.matrix[[i, j]], v[i]);
                }
            }
        }
        let errors = exact.iter().enumerate().map(|(i, exact)| {
            let mut difference = *exact;
            for (l, t) in self.factor.row(i).iter().zip(&transposed) {
                difference.add(-l, t.high);
                difference.add(-l, t.low);
            }
            difference.value().abs()
        });
        let worst = errors.fold(0.0, |m: f64, e| if e.is_nan() { e } else { m.max(e) });
        let largest = exact.iter().fold(0.0, |m: f64, e| m.max(e.value().abs()));
        Ok(worst / largest)
    }

    fn tile(&self) -> String {
        instruction_set().to_string()
    }
}
