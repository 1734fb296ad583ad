//! Ridge regression on binned rows only, with the accuracy that predictions need: conjugate
//! gradients on vectors in f32, grid by grid.

mod targets;

use super::BinnedRows;
use crate::{model::Coefficients, parallel};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use targets::Targets;

/// Rows per unit of parallel work: the bins of a grid stay in the cache.
const BLOCK: usize = 8192;

/// Stopping rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    /// Converged if `|b - A beta| <= tolerance |b|` for each target, with A the centred, penalised
    /// Gram matrix and b = Z'y centred.
    pub(crate) tolerance: f64,
    /// Maximum number of steps.
    pub(crate) most: usize,
}

/// State of the bins of a grid, for W targets.
struct Grid<'a, const W: usize> {
    column_n: &'a [u32],
    first: u32,
    /// One over the diagonal of A.
    inverse_b: Vec<f32>,
    beta_b: Vec<[f32; W]>,
    /// b - A beta.
    left_b: Vec<[f32; W]>,
    step_b: Vec<[f32; W]>,
    /// `r'M^-1 r`, `r'r` and `p'p` for these bins.
    sums: [[f64; W]; 3],
}

impl BinnedRows {
    /// `beta = (Z'WZ + lambda n I)^-1 Z'Wy` for each target of `y_tn`, with weights W of the rows
    /// and n their sum, features and targets centred if there is an intercept, by conjugate
    /// gradients with a diagonal preconditioner (Saad 2003, alg. 9.1) and the stopping rule `ends`.
    /// In f32, except for sums over rows and bins; independent of the number of threads. Starts
    /// from 0, or from the coefficients of another penalty, which are closer.
    pub(crate) fn solve_roughly(
        &self,
        (y_tn, weights_n): (ArrayView2<'_, f64>, Option<ArrayView1<'_, f64>>),
        (lambda, intercept): (f64, bool),
        (ends, start): (Ends, Option<&Coefficients>),
    ) -> Coefficients {
        let targets = y_tn.nrows();
        let bins = self.starts.last().copied().unwrap_or(0);
        let mut solved = Coefficients {
            beta_dt: Array2::zeros((bins, targets)),
            intercept_t: Array1::zeros(targets),
        };
        let weight_n: Option<Vec<f32>> =
            weights_n.map(|weights| weights.iter().map(|&w| w as f32).collect());
        let weight_n = weight_n.as_deref();
        let mut k = 0;
        let ends = (ends, start);
        while k < targets {
            let of = (y_tn, weight_n);
            k += match targets - k {
                8.. => self.solve_some::<8>(k, of, (lambda, intercept), ends, &mut solved),
                4.. => self.solve_some::<4>(k, of, (lambda, intercept), ends, &mut solved),
                2.. => self.solve_some::<2>(k, of, (lambda, intercept), ends, &mut solved),
                _ => self.solve_some::<1>(k, of, (lambda, intercept), ends, &mut solved),
            };
        }
        solved
    }

    /// Solves W targets from target k on.
    fn solve_some<const W: usize>(
        &self,
        k: usize,
        (y_tn, weight_n): (ArrayView2<'_, f64>, Option<&[f32]>),
        (lambda, intercept): (f64, bool),
        (ends, start): (Ends, Option<&Coefficients>),
        solved: &mut Coefficients,
    ) -> usize {
        let of = Targets::new(k, (y_tn, weight_n), intercept);
        let (penalty, value) = ((lambda * of.total) as f32, self.value as f32);
        let mut grids = self.begin(&of, penalty);
        let mut sum_n = vec![[0.0_f32; W]; self.rows];
        let right = total(&grids, 1);
        if let Some(start) = start {
            grids.iter_mut().for_each(|grid| grid.step_to(start, k));
            self.take_steps(&mut grids, &of, (intercept, penalty));
        }
        let mut energy = total(&grids, 0);
        for _ in 0..ends.most {
            self.sum_steps(&grids, &mut sum_n);
            let squares = of.centre(&mut sum_n, intercept);
            let steps = total(&grids, 2);
            // p'Ap, without computing Ap.
            let bent = std::array::from_fn(|t| squares[t] + f64::from(penalty) * steps[t]);
            let alpha = ratio(energy, bent);
            let sum_n = &sum_n;
            parallel::alone().parts(&mut grids, &|_, grid| {
                grid.advance((sum_n, of.weight_n), alpha, (value, penalty));
            });
            let next = total(&grids, 0);
            let left = total(&grids, 1);
            if (0..W).all(|t| left[t] <= ends.tolerance.powi(2) * right[t]) {
                break;
            }
            let turn = ratio(next, energy);
            energy = next;
            parallel::alone().parts(&mut grids, &|_, grid| grid.turn(turn));
        }
        // Features are centred: the intercept takes up the mean of their predictions.
        for grid in &mut grids {
            std::mem::swap(&mut grid.step_b, &mut grid.beta_b);
        }
        self.sum_steps(&grids, &mut sum_n);
        let predicted = of.means(&sum_n);
        for t in 0..W {
            if intercept {
                solved.intercept_t[k + t] = of.mean[t] - predicted[t];
            }
            let mut column = solved.beta_dt.column_mut(k + t);
            let all = grids.iter().flat_map(|grid| &grid.step_b);
            for (to, beta) in column.iter_mut().zip(all) {
                *to = f64::from(beta[t]);
            }
        }
        W
    }

    /// Right-hand side, as the residual at beta = 0, and the first direction.
    fn begin<const W: usize>(&self, of: &Targets<'_, W>, penalty: f32) -> Vec<Grid<'_, W>> {
        let value = self.value as f32;
        let mut grids: Vec<_> = self
            .grids
            .iter()
            .zip(self.starts.windows(2))
            .map(|(column_n, range)| {
                let bins = range[1] - range[0];
                Grid {
                    column_n,
                    first: range[0] as u32,
                    inverse_b: vec![0.0; bins],
                    beta_b: vec![[0.0; W]; bins],
                    left_b: vec![[0.0; W]; bins],
                    step_b: vec![[0.0; W]; bins],
                    sums: [[0.0; W]; 3],
                }
            })
            .collect();
        parallel::alone().parts(&mut grids, &|_, grid| {
            let sums_b = grid.scatter(&of.y_n, of.weight_n);
            for (i, &column) in grid.column_n.iter().enumerate() {
                let at = column.wrapping_sub(grid.first) as usize;
                if let Some(count) = grid.inverse_b.get_mut(at) {
                    *count += of.weight_n.map_or(1.0, |weights| weights[i]);
                }
            }
            for count in &mut grid.inverse_b {
                *count = 1.0 / (value * value * *count + penalty);
            }
            for (left, sum) in grid.left_b.iter_mut().zip(sums_b) {
                *left = sum.map(|s| value * s);
            }
            grid.measure();
            grid.turn([0.0; W]);
        });
        grids
    }

    /// Takes a step in all grids, and updates the residual and the direction.
    fn take_steps<const W: usize>(
        &self,
        grids: &mut [Grid<'_, W>],
        of: &Targets<'_, W>,
        (intercept, penalty): (bool, f32),
    ) {
        let mut sum_n = vec![[0.0_f32; W]; self.rows];
        self.sum_steps(grids, &mut sum_n);
        of.centre(&mut sum_n, intercept);
        parallel::alone().parts(grids, &|_, grid| {
            let by = (self.value as f32, penalty);
            grid.advance((&sum_n, of.weight_n), [1.0; W], by);
            grid.turn([0.0; W]);
        });
    }

    /// `Z p` for the rows, summed over the directions p of all grids.
    fn sum_steps<const W: usize>(&self, grids: &[Grid<'_, W>], sum_n: &mut [[f32; W]]) {
        let value = self.value as f32;
        let mut blocks: Vec<_> = sum_n.chunks_mut(BLOCK).collect();
        parallel::alone().parts(&mut blocks, &|b, sums| {
            sums.fill([0.0; W]);
            for grid in grids {
                let columns = &grid.column_n[b * BLOCK..];
                for (sum, &column) in sums.iter_mut().zip(columns) {
                    // UNSEEN is larger than every column.
                    let at = column.wrapping_sub(grid.first) as usize;
                    if let Some(step) = grid.step_b.get(at) {
                        for t in 0..W {
                            sum[t] += step[t];
                        }
                    }
                }
            }
            for sum in sums.iter_mut() {
                *sum = sum.map(|s| value * s);
            }
        });
    }
}

impl<const W: usize> Grid<'_, W> {
    /// Sets the direction to the coefficients of targets from k on.
    fn step_to(&mut self, start: &Coefficients, k: usize) {
        for (b, step) in self.step_b.iter_mut().enumerate() {
            let beta_t = start.beta_dt.row(self.first as usize + b);
            *step = std::array::from_fn(|t| beta_t[k + t] as f32);
        }
    }

    /// Sums of rows over their bins.
    fn scatter(&self, of_n: &[[f32; W]], weight_n: Option<&[f32]>) -> Vec<[f32; W]> {
        let mut sums_b = vec![[0.0_f32; W]; self.beta_b.len()];
        for (i, (&column, row)) in self.column_n.iter().zip(of_n).enumerate() {
            let at = column.wrapping_sub(self.first) as usize;
            let Some(sum) = sums_b.get_mut(at) else {
                continue;
            };
            let weight = weight_n.map_or(1.0, |weights| weights[i]);
            for t in 0..W {
                sum[t] += weight * row[t];
            }
        }
        sums_b
    }

    /// `beta += alpha p`, `r -= alpha A p`, where `sum_n` is `Zp` centred.
    fn advance(
        &mut self,
        (sum_n, weight_n): (&[[f32; W]], Option<&[f32]>),
        alpha: [f32; W],
        (value, penalty): (f32, f32),
    ) {
        let product_b = self.scatter(sum_n, weight_n);
        let rows = self.beta_b.iter_mut().zip(&mut self.left_b);
        for ((beta, left), (step, product)) in rows.zip(self.step_b.iter().zip(&product_b)) {
            for t in 0..W {
                beta[t] += alpha[t] * step[t];
                left[t] -= alpha[t] * (value * product[t] + penalty * step[t]);
            }
        }
        self.measure();
    }

    /// `r'M^-1 r` and `r'r`.
    fn measure(&mut self) {
        let (mut energy, mut squares) = ([0.0; W], [0.0; W]);
        for (left, inverse) in self.left_b.iter().zip(&self.inverse_b) {
            for t in 0..W {
                let square = f64::from(left[t]).powi(2);
                squares[t] += square;
                energy[t] += f64::from(*inverse) * square;
            }
        }
        (self.sums[0], self.sums[1]) = (energy, squares);
    }

    /// `p = M^-1 r + beta p`, and `p'p`.
    fn turn(&mut self, beta: [f32; W]) {
        let mut squares = [0.0; W];
        let of = self.left_b.iter().zip(&self.inverse_b);
        for (step, (left, inverse)) in self.step_b.iter_mut().zip(of) {
            for t in 0..W {
                step[t] = inverse * left[t] + beta[t] * step[t];
                squares[t] += f64::from(step[t]).powi(2);
            }
        }
        self.sums[2] = squares;
    }
}

/// Sum over all grids of one of [`Grid::sums`].
fn total<const W: usize>(grids: &[Grid<'_, W>], which: usize) -> [f64; W] {
    let mut all = [0.0; W];
    for grid in grids {
        add(&mut all, &grid.sums[which]);
    }
    all
}

/// Quotients; 0 for a converged target.
fn ratio<const W: usize>(of: [f64; W], by: [f64; W]) -> [f32; W] {
    std::array::from_fn(|t| {
        if by[t] > 0.0 {
            (of[t] / by[t]) as f32
        } else {
            0.0
        }
    })
}

fn add<const W: usize>(all: &mut [f64; W], more: &[f64; W]) {
    all.iter_mut()
        .zip(more)
        .for_each(|(all, more)| *all += more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        data::{MemorySource, Rows},
        features::{Affine, Binning},
        kernels::Laplacian,
        solve::{ConjugateGradients, SideBySide},
    };

    /// Converges to the result of conjugate gradients in f64, with and without weights and an
    /// intercept, for eleven targets: eight, two and one at a time.
    #[test]
    fn it_ends_where_exact_steps_do() {
        let n = 300;
        let x = Array2::from_shape_fn((n, 2), |(i, j)| ((i * (2 * j + 3)) % 97) as f64 / 19.0);
        let y_tn =
            Array2::from_shape_fn((11, n), |(t, i)| ((i * (t + 2)) as f64 / 31.0).sin() + 2.0);
        let weights = Array1::from_shape_fn(n, |i| (i % 3) as f64);
        let run = crate::Run::on(&Device::cpu());
        let mut rows = MemorySource::new(&x, None).expect("rows");
        let map = Binning::new(Laplacian).grids(12).seed(crate::seed::Seed(3));
        let map = map
            .fit(Affine::identity(2), &mut rows, &run)
            .expect("a map");
        let held = || {
            let mut held = BinnedRows::new(&map, 0, 1.0);
            let mut binner = map.on(&run).expect("a binner");
            held.push(binner.indices(&Rows::from(x.clone())).expect("bins").view());
            held
        };
        for (weights_n, intercept) in [(None, true), (Some(weights.view()), true), (None, false)] {
            let exact = ConjugateGradients {
                lambda: 1e-3,
                intercept,
                tolerance: 1e-10,
                ..ConjugateGradients::default()
            };
            let mut features = SideBySide::default();
            features.push(held()).expect("one");
            let exact = exact.solve_weighted(&mut features, y_tn.view(), weights_n, &mut |_, _| {});
            let exact = exact.expect("solves").coefficients;
            let ends = Ends {
                tolerance: 1e-6,
                most: 300,
            };
            let data = (y_tn.view(), weights_n);
            let of = |lambda, start| held().solve_roughly(data, (lambda, intercept), start);
            let rough = of(1e-3, (ends, None));
            // Starting from the coefficients of another penalty, too.
            let other = of(1e-2, (ends, None));
            let from_other = of(1e-3, (ends, Some(&other)));
            let size = exact.beta_dt.fold(0.0, |m: f64, v| m.max(v.abs()));
            let off = |of: &Coefficients| {
                (&of.beta_dt - &exact.beta_dt).fold(0.0, |m: f64, v| m.max(v.abs()))
            };
            assert!(off(&other) > 1e-2 * size, "another penalty is another fit");
            for rough in [rough, from_other] {
                assert!(off(&rough) < 2e-4 * size, "{} of {size}", off(&rough));
                let off = &rough.intercept_t - &exact.intercept_t;
                assert!(off.mapv(f64::abs).sum() < 1e-3, "{off}");
            }
            // If it starts at the solution, it stays there.
            let ends = Ends { most: 1, ..ends };
            let stays = of(1e-3, (ends, Some(&exact)));
            assert!(off(&stays) < 2e-4 * size, "{} of {size}", off(&stays));
        }
    }
}
