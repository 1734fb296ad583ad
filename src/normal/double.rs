//! Sums in f64 for rows that no map rounds to f32.

use crate::{
    Device, Result,
    device::memory_left,
    features::{Affine, FeatureMap, Formula},
    linalg::{compensated, products::subtract_lower_outer},
    parallel,
};
use ndarray::{Array2, ArrayView1, ArrayView2};

/// Rows summed at a time, counted from the first of an interval, so that results do not depend on
/// the chunks.
const BLOCK: usize = 512;
/// Number of partial sums of a product with targets, fixed for all vector widths.
const LANES: usize = 8;
/// Columns transposed at a time: a cache line of them.
const STRIPE: usize = 8;

/// The input of a map whose features are the prepared columns themselves, if its sums can use rows
/// in f64: on the CPU.
pub(crate) fn input_of<'m>(map: &'m dyn FeatureMap, device: &Device) -> Option<&'m Affine> {
    let is_plain = || matches!(map.formula(), Ok(Formula::Identity(_)));
    (!device.is_gpu() && is_plain()).then(|| map.input())
}

/// Running sums `sum w z z'` and `sum w z y'`.
#[derive(Debug)]
pub(super) struct DoubleSums {
    /// `-sum w z z'`, only the lower triangle; allocated with the first row.
    minus_dd: Array2<f64>,
    /// `sum w z y'`, `[D, t]`, where the last target is a one.
    zty_dt: Array2<f64>,
    /// Rows that do not fill a block yet, times the roots of their weights, `[rows, D]`.
    rows: Vec<f64>,
    /// Their targets likewise, `[rows, t]`.
    beside: Vec<f64>,
}

impl DoubleSums {
    /// Empty sums; `targets` includes the column of ones.
    pub(super) fn new(features: usize, targets: usize) -> Self {
        Self {
            minus_dd: Array2::zeros((0, 0)),
            zty_dt: Array2::zeros((features, targets)),
            rows: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// Adds a range of the rows `[n, D]` with targets `[n, t - 1]` and weights. Errors if the host
    /// has too little memory for the sums.
    pub(super) fn add(
        &mut self,
        device: &Device,
        rows: &[usize],
        (z_nd, y_nt): (ArrayView2<'_, f64>, ArrayView2<'_, f64>),
        weights_n: Option<ArrayView1<'_, f64>>,
    ) -> Result<()> {
        let features = self.zty_dt.nrows();
        for &i in rows {
            let (z, y) = (z_nd.row(i), y_nt.row(i));
            let root = weights_n.map_or(1.0, |weights_n| weights_n[i].sqrt());
            self.rows.extend(z.iter().map(|z| root * z));
            self.beside.extend(y.iter().map(|y| root * y));
            self.beside.push(root);
            if self.rows.len() == BLOCK * features {
                self.end_block(device)?;
            }
        }
        Ok(())
    }

    /// Sums the buffered rows.
    fn end_block(&mut self, device: &Device) -> Result<()> {
        let (features, targets) = self.zty_dt.dim();
        let count = self.rows.len() / features;
        if count == 0 {
            return Ok(());
        }
        if self.minus_dd.is_empty() {
            let what = || format!("the Gram matrix of {features} features in f64");
            memory_left::require_square(features, 8, what)?;
            self.minus_dd = Array2::zeros((features, features));
        }
        let (rows, beside) = (&self.rows, &self.beside);
        let mut z_dn = vec![0.0; features * count];
        let mut y_tn = vec![0.0; targets * count];
        for (i, y) in beside.chunks_exact(targets).enumerate() {
            for (t, &y) in y.iter().enumerate() {
                y_tn[t * count + i] = y;
            }
        }
        let mut sums = || {
            parallel::usual().chunks(&mut z_dn, STRIPE * count, &|stripe, z_sn| {
                let first = stripe * STRIPE;
                for (i, row) in rows.chunks_exact(features).enumerate() {
                    for (z_n, &z) in z_sn.chunks_exact_mut(count).zip(&row[first..]) {
                        z_n[i] = z;
                    }
                }
            });
            let products = self.zty_dt.as_slice_mut().expect("standard layout");
            let each = (z_dn.as_slice(), count);
            parallel::usual().pairs(products, targets, each, &|products, z_n| {
                for (sum, y_n) in products.iter_mut().zip(y_tn.chunks_exact(count)) {
                    *sum += dot(z_n, y_n);
                }
            });
            let z_dn = ArrayView2::from_shape((features, count), &z_dn).expect("as many");
            subtract_lower_outer(&mut self.minus_dd, z_dn);
        };
        match device {
            Device::Cpu(cpu) => cpu.install(sums),
            Device::Gpu(_) => sums(),
        }
        self.rows.clear();
        self.beside.clear();
        Ok(())
    }

    /// Adds the sums to `Z'Z` of other rows, [`compensated`], and to `Z'Y`, and resets them.
    pub(super) fn take_onto(
        &mut self,
        device: &Device,
        (gram_dd, rest_d): (&mut Array2<f64>, &mut [f64]),
        zty_dt: &mut Array2<f64>,
    ) -> Result<()> {
        self.end_block(device)?;
        if self.minus_dd.is_empty() {
            return Ok(());
        }
        let lines = compensated::rows(gram_dd, rest_d).into_iter();
        for (mut line, minus) in lines.zip(self.minus_dd.rows()) {
            line.add(0, minus.into_iter().map(|minus| -minus));
        }
        *zty_dt += &self.zty_dt;
        self.minus_dd.fill(0.0);
        self.zty_dt.fill(0.0);
        Ok(())
    }
}

/// With a fixed order of additions on every machine.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let (b_lanes, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests;
