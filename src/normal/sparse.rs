//! Sums of sparse rows, computed from their nonzero values only.

use crate::{Device, Matrix, linalg::compensated, parallel};
use ndarray::{Array2, ArrayView1, ArrayView2, s};
use std::ops::Range;

/// Rows with at most one nonzero value in `ONE_IN` are summed as sparse. Scattered products take
/// longer than contiguous ones, but their number falls by the square. On one thread with AVX-512
/// both took the same time at one in 8.8 with 1,000 and 2,000 features, and at one in 10.8
/// with 500. Each row is classified by itself, so that results do not depend on the chunks.
const ONE_IN: usize = 10;

/// Running sums of rows `z = base + e`, with e sparse, in f64: `sum w e e'`, `sum w e`, `sum w e
/// y'`.
#[derive(Debug)]
pub(super) struct SparseSums {
    base_d: Vec<f32>,
    /// `sum w e e'`, the lower triangle row by row; allocated with the first row.
    triangle: Vec<f64>,
    /// `sum w e y'`, `[D, t]`, where the last target is a one.
    ety_dt: Array2<f64>,
    /// `sum w y`.
    y_sum_t: Vec<f64>,
}

/// Sparse entries of rows.
struct Entries {
    /// Columns and deviations from the base of each row; `None` for dense rows.
    rows: Vec<Option<Vec<(u32, f32)>>>,
    /// The same entries by column: rows and deviations.
    columns: Vec<Vec<(u32, f32)>>,
    /// The dense rows.
    left: Vec<usize>,
}

impl SparseSums {
    /// For features that equal `base_d` in a row of zeros; `targets` includes the column of ones.
    pub(super) fn new(base_d: Vec<f32>, targets: usize) -> Self {
        Self {
            ety_dt: Array2::zeros((base_d.len(), targets)),
            y_sum_t: vec![0.0; targets],
            triangle: Vec::new(),
            base_d,
        }
    }

    /// Adds the sparse rows of a range of a chunk, on the CPU; returns the remaining rows, counted
    /// from the first of the range. `y_nt` are their targets with a column of ones, times the roots
    /// of the weights.
    pub(super) fn add(
        &mut self,
        z_nd: &Matrix,
        rows: Range<usize>,
        y_nt: ArrayView2<'_, f32>,
        weights_n: Option<ArrayView1<'_, f64>>,
    ) -> Vec<usize> {
        match (z_nd.device(), z_nd.on_host()) {
            (Device::Cpu(cpu), Some(z_nd)) => {
                let z_nd = z_nd.slice(s![rows, ..]);
                cpu.install(|| self.add_here(z_nd, y_nt, weights_n))
            }
            _ => (0..rows.len()).collect(),
        }
    }

    fn add_here(
        &mut self,
        z_nd: ArrayView2<'_, f32>,
        y_nt: ArrayView2<'_, f32>,
        weights_n: Option<ArrayView1<'_, f64>>,
    ) -> Vec<usize> {
        let Entries {
            rows,
            columns,
            left,
        } = self.entries(z_nd);
        if left.len() == rows.len() {
            return left;
        }
        let d = self.base_d.len();
        if self.triangle.is_empty() {
            self.triangle = vec![0.0; d * (d + 1) / 2];
        }
        let weight = |i: u32| weights_n.map_or(1.0, |w| w[i as usize]);
        let mut rest = self.triangle.as_mut_slice();
        let mut lines = Vec::with_capacity(d);
        for j in 0..d {
            let (line, others) = rest.split_at_mut(j + 1);
            lines.push(line);
            rest = others;
        }
        parallel::usual().parts(&mut lines, &|j, line| {
            for &(i, e) in &columns[j] {
                let (e, until) = (weight(i) * f64::from(e), line.len());
                let row = rows[i as usize].iter().flatten();
                for &(k, other) in row.take_while(|(k, _)| (*k as usize) < until) {
                    line[k as usize] += e * f64::from(other);
                }
            }
        });
        for (i, (row, y)) in rows.iter().zip(y_nt.rows()).enumerate() {
            let Some(row) = row else { continue };
            let root = weight(i as u32).sqrt();
            for (k, &y) in y.iter().enumerate() {
                let y = root * f64::from(y);
                self.y_sum_t[k] += y;
                for &(j, e) in row {
                    self.ety_dt[[j as usize, k]] += f64::from(e) * y;
                }
            }
        }
        left
    }

    /// Deviations from the base in sparse rows.
    fn entries(&self, z_nd: ArrayView2<'_, f32>) -> Entries {
        let d = self.base_d.len();
        let most = d / ONE_IN;
        let of_row = |i: usize| {
            let row = z_nd.row(i);
            let both = row.iter().zip(&self.base_d).enumerate();
            let others = both.filter(|(_, (z, base))| z != base);
            let row: Vec<(u32, f32)> = (others.take(most + 1))
                .map(|(j, (z, base))| (j as u32, z - base))
                .collect();
            (row.len() <= most).then_some(row)
        };
        let rows = parallel::usual().map(z_nd.nrows(), &of_row);
        let mut columns = vec![Vec::new(); d];
        for (i, row) in rows.iter().enumerate() {
            for &(j, e) in row.iter().flatten() {
                columns[j as usize].push((i as u32, e));
            }
        }
        let left = (0..rows.len()).filter(|&i| rows[i].is_none()).collect();
        Entries {
            rows,
            columns,
            left,
        }
    }

    /// Adds the sums to `Z'Z` of other rows, [`compensated`], and to `Z'Y`, and resets them.
    pub(super) fn take_onto(
        &mut self,
        (gram_dd, rest_d): (&mut Array2<f64>, &mut [f64]),
        zty_dt: &mut Array2<f64>,
    ) {
        if self.triangle.is_empty() {
            return;
        }
        let ones = self.y_sum_t.len() - 1;
        let weight = self.y_sum_t[ones];
        let base: Vec<f64> = self.base_d.iter().map(|&b| f64::from(b)).collect();
        let e_sum: Vec<f64> = self.ety_dt.column(ones).to_vec();
        let lines = compensated::rows(gram_dd, rest_d).into_iter().enumerate();
        for (j, mut line) in lines {
            let own = self.triangle[j * (j + 1) / 2..].iter().take(j + 1);
            let sums = own.enumerate().map(|(k, ee)| {
                ee + base[j] * e_sum[k] + e_sum[j] * base[k] + weight * base[j] * base[k]
            });
            line.add(0, sums);
        }
        for ((j, k), to) in zty_dt.indexed_iter_mut() {
            *to += self.ety_dt[[j, k]] + base[j] * self.y_sum_t[k];
        }
        self.triangle.fill(0.0);
        self.ety_dt.fill(0.0);
        self.y_sum_t.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Device,
        data::{MemorySource, Rows, Survey},
        features::{Affine, FeatureMap, Identity, IdentityMap},
        flow::Run,
        model::Targets,
        normal::NormalEquations,
    };
    use ndarray::{Array1, Array2, Axis};

    /// Rows with one nonzero value in `one_in`.
    fn rows(n: usize, d: usize, one_in: usize) -> Array2<f64> {
        let normal = crate::check::normal(n, d, 7);
        Array2::from_shape_fn((n, d), |(i, j)| match (i * 31 + j * 17 + i * j) % one_in {
            0 => f64::from(normal[[i, j]]) + 0.5,
            _ => 0.0,
        })
    }

    fn map(x_nd: &Array2<f64>) -> IdentityMap {
        let d = x_nd.ncols();
        let mean = x_nd.mean_axis(Axis(0)).expect("rows").to_vec();
        let scale = (0..d).map(|j| 1.0 + j as f64 / 8.0).collect();
        let input = Affine::new(mean, scale).expect("fits");
        Identity.build(input).expect("builds")
    }

    /// Sparse and dense rows, with and without weights, compared with f64 products of the centred
    /// rows.
    #[test]
    fn sums_of_sparse_rows_are_those_of_all_their_values() {
        for (one_in, weighted) in [(40, false), (40, true), (2, false), (13, true)] {
            let (n, d) = (700, 33);
            let x_nd = rows(n, d, one_in);
            let y: Array1<f64> = (0..n).map(|i| (i % 11) as f64 - 3.0).collect();
            let w: Array1<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
            let y_nt = y.clone().insert_axis(Axis(1));
            let source = || {
                let source = MemorySource::new(x_nd.clone(), Some(y_nt.clone())).expect("fits");
                if weighted {
                    source.with_weights(w.clone()).expect("fits")
                } else {
                    source
                }
            };
            let map = map(&x_nd);
            let survey = Survey::new(&mut source(), 0, 0).expect("surveys");
            let targets = Targets::real(&survey);
            let sums = NormalEquations::accumulate(&map, &mut source(), &targets, &Device::cpu());
            let sums = sums.expect("sums");
            let z = map.input().apply(&Rows::from(&x_nd)).expect("fits");
            let w = if weighted { w } else { Array1::ones(n) };
            let weighted = &z * &w.view().insert_axis(Axis(1));
            let gram = weighted.t().dot(&z);
            let largest = gram.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
            for ((i, j), &g) in sums.gram_dd.indexed_iter().filter(|((i, j), _)| i >= j) {
                assert!(
                    (g - gram[[i, j]]).abs() < 3e-6 * largest,
                    "{one_in} {i} {j}: {g}"
                );
            }
            let zty = weighted.t().dot(&y);
            let largest = zty.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
            for (j, &v) in sums.zty_dt.column(0).indexed_iter() {
                assert!(
                    (v - zty[j]).abs() < 3e-6 * largest,
                    "{one_in} {j}: {v} {}",
                    zty[j]
                );
            }
            for (j, &v) in sums.z_sum_d.indexed_iter() {
                let exact = weighted.column(j).sum();
                let size = weighted.column(j).mapv(f64::abs).sum();
                assert!((v - exact).abs() <= 1e-6 * size, "{one_in} {j}: {v}");
            }
        }
    }

    /// Mixed sparse and dense rows: each is classified by itself, so that portions of any size give
    /// the same bits, for rows in f32 and in f64.
    #[test]
    fn portions_show_in_no_bit_of_sparse_and_dense_rows() {
        let (n, d) = (1500, 40);
        let [sparse, dense] = [rows(n, d, 20), rows(n, d, 3)];
        let both = |i: usize| {
            if i % 7 < 3 || i / 300 % 2 == 1 {
                &sparse
            } else {
                &dense
            }
        };
        let x_nd = Array2::from_shape_fn((n, d), |(i, j)| both(i)[[i, j]]);
        let y_nt = Array2::from_shape_fn((n, 1), |(i, _)| (i % 11) as f64 - 3.0);
        let w: Array1<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
        let map = map(&x_nd);
        let narrow = Rows::from(x_nd.mapv(|v| v as f32));
        for x in [Rows::from(&x_nd), narrow] {
            let sums_of = |memory: u64| {
                let source = MemorySource::new(x.clone(), Some(y_nt.clone())).expect("fits");
                let mut source = source.with_weights(w.clone()).expect("fits");
                let survey = Survey::new(&mut source.clone(), 0, 0).expect("surveys");
                let targets = Targets::real(&survey);
                let run = Run::on(&Device::cpu()).memory(memory);
                NormalEquations::accumulate(&map, &mut source, &targets, run).expect("sums")
            };
            let all = sums_of(Run::DEFAULT_MEMORY);
            for memory in [20_000, 90_000] {
                assert!(sums_of(memory) == all, "{memory}");
            }
        }
    }
}
