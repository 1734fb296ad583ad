//! Lloyd's iteration, restricted to points whose nearest centre can have changed.

#[cfg(test)]
mod tests;

use super::Points;
use crate::{Result, linalg::entries, parallel};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use std::collections::BTreeMap;

/// Stopping rules.
#[derive(Debug, Clone, Copy)]
pub(in crate::learn) struct Rules {
    /// Convergence threshold: squared moves of all centres relative to the mean variance of a
    /// column.
    pub(in crate::learn) tolerance: f64,
    pub(in crate::learn) max_iterations: usize,
}

/// Points per unit of parallel work.
const ROWS: usize = 128;
/// Minimum number of columns per thread for sums.
const COLUMNS: usize = 64;
/// Marks a point without a cluster.
pub(super) const NONE: u32 = u32::MAX;
/// Distances are computed from f32 products: error bound of their squares, relative to `|z|^2 +
/// |c|^2`.
const ROUNDING: f64 = 4e-6;

/// Centres, and the state of every point.
///
/// Uses Hamerly's (2010) bounds: a point keeps its centre while the upper bound on its distance is
/// below the lower bound on that to any other centre. A move of a centre by delta loosens the
/// bounds by delta.
pub(in crate::learn) struct Lloyd<'w> {
    centres_kd: Array2<f64>,
    /// Weights of the points; `None` if all are 1. A point of weight 0 is in no cluster.
    weights_n: Option<&'w [f64]>,
    /// Sums, counts and total weights of the points of each cluster.
    sums_kd: Array2<f64>,
    counts: Vec<u64>,
    weight_k: Vec<f64>,
    /// The cluster of each point.
    cluster_n: Vec<u32>,
    /// Upper bound on the distance of each point to its centre.
    upper_n: Vec<f64>,
    /// Lower bound on the distance of each point to any other centre.
    lower_n: Vec<f64>,
    /// Sum of |z|^2 over all points, and total weight.
    squares: f64,
    total: f64,
    iterations: usize,
    converged: bool,
}

/// Nearest centre of a point, with squared distances.
pub(super) struct Nearest {
    pub(super) cluster: u32,
    first: f64,
    second: f64,
    /// |z|^2.
    square: f64,
}

impl<'w> Lloyd<'w> {
    /// Starts from `centres_kd` for `rows` points with weights `weights_n`, `[rows]`, or 1.
    pub(in crate::learn) fn from(
        centres_kd: Array2<f64>,
        rows: usize,
        weights_n: Option<&'w [f64]>,
    ) -> Self {
        Self {
            total: weights_n.map_or(rows as f64, |w| w.iter().sum()),
            weights_n,
            weight_k: vec![0.0; centres_kd.nrows()],
            sums_kd: Array2::zeros(centres_kd.dim()),
            counts: vec![0; centres_kd.nrows()],
            centres_kd,
            cluster_n: vec![NONE; rows],
            upper_n: vec![f64::INFINITY; rows],
            lower_n: vec![0.0; rows],
            squares: 0.0,
            iterations: 0,
            converged: false,
        }
    }

    pub(in crate::learn) fn iterations(&self) -> usize {
        self.iterations
    }

    pub(in crate::learn) fn converged(&self) -> bool {
        self.converged
    }

    pub(in crate::learn) fn into_centres(self) -> Array2<f64> {
        self.centres_kd
    }

    /// Weighted sum of squared distances of all points to the means of their clusters.
    pub(in crate::learn) fn inertia(&self) -> f64 {
        let means = self.sums_kd.rows().into_iter().zip(&self.weight_k);
        let means = means.filter(|(_, weight)| **weight > 0.0);
        let explained: f64 = means.map(|(s, weight)| s.dot(&s) / weight).sum();
        (self.squares - explained).max(0.0)
    }

    /// Mean of the variances of the columns.
    fn mean_variance(&self) -> f64 {
        let mean = self.sums_kd.sum_axis(Axis(0)) / self.total;
        (self.squares / self.total - mean.dot(&mean)).max(0.0) / mean.len().max(1) as f64
    }

    /// Weight of a point.
    fn weight(&self, point: usize) -> f64 {
        self.weights_n.map_or(1.0, |w| w[point])
    }

    /// Moves a point from its previous cluster to cluster `to`.
    fn count(&mut self, before: u32, to: u32, weight: f64) {
        self.counts[to as usize] += 1;
        self.weight_k[to as usize] += weight;
        if before != NONE {
            let before = before as usize;
            self.counts[before] -= 1;
            // The weight of an empty cluster is exactly 0, without rounding errors.
            self.weight_k[before] = match self.counts[before] {
                0 => 0.0,
                _ => self.weight_k[before] - weight,
            };
        }
    }

    /// Iterates until no point changes its cluster, the centres move less than the tolerance, or
    /// the maximum number of iterations is reached. `hear` is called with each iteration and its
    /// squared moves.
    pub(in crate::learn) fn run(
        &mut self,
        points: &mut dyn Points,
        rules: Rules,
        hear: &dyn Fn(usize, f64),
    ) -> Result<()> {
        while !self.converged && self.iterations < rules.max_iterations {
            let changed = self.assign(points)? + self.fill_empty(points)?;
            let moves = self.move_centres();
            self.iterations += 1;
            hear(self.iterations, moves);
            let enough = rules.tolerance * self.mean_variance();
            self.converged = changed == 0 || moves <= enough;
        }
        Ok(())
    }

    /// Assigns points that can have changed to their nearest centre; returns the number of changes.
    fn assign(&mut self, points: &mut dyn Points) -> Result<u64> {
        let wanted = self.uncertain();
        let centres_dk = self.centres_kd.t().mapv(entries::narrow);
        let centres_dk = centres_dk.as_standard_layout();
        let squares_k = entries::row_squares(self.centres_kd.view());
        let largest = squares_k.fold(0.0, |m: f64, &s| m.max(s));
        let mut changed = 0;
        points.for_each_block(&wanted, &mut |rows, z_nd| {
            let found = nearest(z_nd, &centres_dk.view(), &squares_k);
            let mut moved = Vec::new();
            for (b, (&i, near)) in rows.iter().zip(&found).enumerate() {
                let before = std::mem::replace(&mut self.cluster_n[i], near.cluster);
                if before != near.cluster {
                    let weight = self.weight(i);
                    moved.push(Moved {
                        at: b,
                        from: before,
                        to: near.cluster,
                        weight,
                    });
                    self.count(before, near.cluster, weight);
                    if before == NONE {
                        self.squares += weight * near.square;
                    }
                }
                let rounding = ROUNDING * (near.square + largest);
                self.upper_n[i] = (near.first.max(0.0) + rounding).sqrt();
                self.lower_n[i] = (near.second - rounding).max(0.0).sqrt();
            }
            changed += moved.len() as u64;
            add(&mut self.sums_kd, z_nd, &moved);
            Ok(())
        })?;
        Ok(changed)
    }

    /// Which points may be nearer to another centre than to their own.
    fn uncertain(&self) -> Vec<bool> {
        let k = self.centres_kd.nrows();
        // Half the distance to the next centre: a point closer than that keeps its centre.
        let half = parallel::usual().numbers(k, &|a| {
            let others = (0..k).filter(|&b| b != a).map(|b| {
                let way = &self.centres_kd.row(a) - &self.centres_kd.row(b);
                0.5 * way.dot(&way).sqrt()
            });
            others.fold(f64::INFINITY, f64::min)
        });
        let bounds = self.upper_n.iter().zip(&self.lower_n);
        let each = self.cluster_n.iter().zip(bounds).enumerate();
        each.map(|(i, (&cluster, (&upper, &lower)))| match cluster {
            NONE => self.weight(i) > 0.0,
            cluster => upper >= lower.max(half[cluster as usize]),
        })
        .collect()
    }

    /// Moves the point farthest from its centre to each empty cluster; returns the number of moves.
    /// Takes one pass over the points if there are empty clusters.
    fn fill_empty(&mut self, points: &mut dyn Points) -> Result<u64> {
        // In the order of the rows, as in sums.
        let mut moves = BTreeMap::new();
        while let Some(empty) = self.counts.iter().position(|&n| n == 0) {
            let own = |i: usize| {
                let count = self.counts.get(self.cluster_n[i] as usize);
                count.is_some_and(|&count| count > 1)
            };
            let rows = (0..self.cluster_n.len()).filter(|&i| own(i));
            let Some(far) = rows.max_by(|&i, &j| self.upper_n[i].total_cmp(&self.upper_n[j]))
            else {
                break;
            };
            let (to, weight) = (empty as u32, self.weight(far));
            let from = std::mem::replace(&mut self.cluster_n[far], to);
            self.count(from, to, weight);
            self.upper_n[far] = f64::INFINITY;
            self.lower_n[far] = 0.0;
            moves.insert(far, (from, to, weight));
        }
        if moves.is_empty() {
            return Ok(0);
        }
        let wanted: Vec<bool> = (0..self.cluster_n.len())
            .map(|i| moves.contains_key(&i))
            .collect();
        points.for_each_block(&wanted, &mut |rows, z_nd| {
            let of_block = rows.iter().enumerate().map(|(at, i)| {
                let (from, to, weight) = moves[i];
                Moved {
                    at,
                    from,
                    to,
                    weight,
                }
            });
            add(&mut self.sums_kd, z_nd, &of_block.collect::<Vec<_>>());
            Ok(())
        })?;
        Ok(moves.len() as u64)
    }

    /// Moves each centre to the mean of its points and loosens the bounds; returns the sum of
    /// squared moves.
    fn move_centres(&mut self) -> f64 {
        let mut moves = vec![0.0; self.counts.len()];
        for (c, &weight) in self.weight_k.iter().enumerate() {
            if weight <= 0.0 {
                continue;
            }
            let mean = &self.sums_kd.row(c) / weight;
            let way = &mean - &self.centres_kd.row(c);
            moves[c] = way.dot(&way).sqrt();
            self.centres_kd.row_mut(c).assign(&mean);
        }
        // The largest move of a centre, and the largest of all others.
        let farthest = (0..moves.len()).fold(0, |b, c| if moves[c] > moves[b] { c } else { b });
        let others = (0..moves.len()).filter(|&c| c != farthest);
        let next = others.map(|c| moves[c]).fold(0.0, f64::max);
        let bounds = self.upper_n.iter_mut().zip(&mut self.lower_n);
        for (&cluster, (upper, lower)) in self.cluster_n.iter().zip(bounds) {
            if cluster == NONE {
                continue;
            }
            let cluster = cluster as usize;
            *upper += moves[cluster];
            *lower -= if cluster == farthest {
                next
            } else {
                moves[farthest]
            };
        }
        moves.iter().map(|m| m * m).sum()
    }
}

/// Nearest centre of every point of a block.
pub(super) fn nearest(
    z_nd: ArrayView2<'_, f32>,
    centres_dk: &ArrayView2<'_, f32>,
    squares_k: &Array1<f64>,
) -> Vec<Nearest> {
    let blocks: Vec<_> = z_nd.axis_chunks_iter(Axis(0), ROWS).collect();
    let found = parallel::usual().map(blocks.len(), &|block| {
        let z_nd = &blocks[block];
        let products = z_nd.dot(centres_dk);
        let rows = products.rows().into_iter().zip(z_nd.rows());
        let each = rows.map(|(products, z)| {
            let square = match z.as_slice() {
                Some(z) => norm(z),
                None => norm(&z.to_vec()),
            };
            let mut near = Nearest {
                cluster: 0,
                first: f64::INFINITY,
                second: f64::INFINITY,
                square,
            };
            for (c, (&product, centre)) in products.iter().zip(squares_k).enumerate() {
                let distance = square + centre - 2.0 * f64::from(product);
                if distance < near.first {
                    near.second = near.first;
                    near.first = distance;
                    near.cluster = c as u32;
                } else if distance < near.second {
                    near.second = distance;
                }
            }
            near
        });
        each.collect::<Vec<_>>()
    });
    found.into_iter().flatten().collect()
}

/// |z|^2 in f64.
fn norm(z: &[f32]) -> f64 {
    let (chunks, rest) = z.as_chunks::<8>();
    let mut sums = [0.0_f64; 8];
    for chunk in chunks {
        for (sum, &z) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(z) * f64::from(z);
        }
    }
    let rest: f64 = rest.iter().map(|&z| f64::from(z) * f64::from(z)).sum();
    sums.iter().sum::<f64>() + rest
}

/// Move of a point of a block from one cluster, or none, to another.
pub(super) struct Moved {
    /// Index in the block.
    pub(super) at: usize,
    pub(super) from: u32,
    pub(super) to: u32,
    /// Weight of the point.
    pub(super) weight: f64,
}

/// Moves points of a block between the sums of clusters. Each thread sums separate columns, so that
/// sums do not depend on the number of threads.
pub(super) fn add(sums_kd: &mut Array2<f64>, z_nd: ArrayView2<'_, f32>, moved: &[Moved]) {
    let width = COLUMNS.max(sums_kd.ncols().div_ceil(rayon::current_num_threads()));
    let mut strips: Vec<_> = sums_kd.axis_chunks_iter_mut(Axis(1), width).collect();
    parallel::usual().parts(&mut strips, &|strip, sums| {
        let first = strip * width;
        let columns = first..first + sums.ncols();
        for moved in moved {
            let (z, weight) = (z_nd.slice(s![moved.at, columns.clone()]), moved.weight);
            if moved.from != NONE {
                entries::add_multiple(sums.row_mut(moved.from as usize), -weight, z);
            }
            entries::add_multiple(sums.row_mut(moved.to as usize), weight, z);
        }
    });
}
