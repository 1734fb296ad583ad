//! Fits on maps whose Gram matrix is not summed on a device. Maps with binning parts use a Cholesky
//! factor of their exact sums, or of their kernel matrix if that is cheaper; any map can use
//! conjugate gradients.

mod each;
mod way;

pub(in crate::learn) use each::{RoughBins, solve_each};
pub(in crate::learn) use way::Way;

use crate::{
    Error, Result,
    clock::Instant,
    data::ChunkSource,
    error::Remedy,
    features::{Binner, FeatureMap, Leaf, leaves},
    flow::{RowNeeds, Run, watch_chunks},
    model::{Coefficients, FitTimes, LinearModel, Targets},
    progress::Step,
    solve::{
        BinnedRows, Cholesky, ConjugateGradients, Dual, Preconditioning, SideBySide, StreamedRows,
        binned_kernel, binned_sums,
    },
    text::{counted, human_bytes},
};
use ndarray::{Array1, Array2, Axis};
use std::collections::BTreeMap;
use way::Size;

/// Targets, weights and bins of all rows, kept on the host after one pass.
pub(in crate::learn) struct RowsOnHost<'m> {
    binned: Vec<BinnedRows>,
    dense: Dense<'m>,
    pub(in crate::learn) y_tn: Array2<f64>,
    pub(in crate::learn) weights_n: Option<Array1<f64>>,
}

/// Reads `source` once for targets and bins.
pub(in crate::learn) fn read<'m>(
    map: &'m dyn FeatureMap,
    source: &mut dyn ChunkSource,
    targets: &Targets,
    run: &Run,
) -> Result<RowsOnHost<'m>> {
    let (mut binned, dense) = sort_leaves(map, run)?;
    // A row as read, its encoded targets, and its bins.
    let of_bins = binned
        .iter()
        .map(|(_, rows)| 4 * rows.grids())
        .sum::<usize>();
    let needs = RowNeeds::read(source.columns() + source.targets())
        .and_bytes(8 * targets.outputs() + of_bins);
    let chunk = needs.rows_of(run)?;
    // Memory per row, and the memory in use already.
    let each = 8 * (targets.outputs() + usize::from(source.is_weighted())) + of_bins;
    let parts = binning_bytes(map);
    let mut y = vec![Vec::new(); targets.outputs()];
    let mut weights = Vec::new();
    let mut seen = 0;
    let rows = watch_chunks(
        source,
        chunk,
        |rows| run.say(Step::Rows(rows)),
        |chunk| {
            seen += chunk.x.nrows();
            let bytes = parts + (each * seen) as u64;
            if run.held.is_some_and(|most| bytes > most) {
                return Err(too_many(seen, bytes, run));
            }
            let encoded = targets.encode(chunk.y.view())?;
            for (k, (y, column)) in y.iter_mut().zip(encoded.axis_iter(Axis(1))).enumerate() {
                // Host sums are in f64, so the shift against f32 rounding is undone.
                y.extend(column.iter().map(|v| v + targets.shift(k)));
            }
            weights.extend(chunk.weights.iter().flatten());
            for (binner, rows) in &mut binned {
                rows.push(binner.indices(&chunk.x)?.view());
            }
            Ok(())
        },
    )?;
    let n = usize::try_from(rows)
        .map_err(|_| Error::shape(format!("{rows} rows do not fit this machine")))?;
    let y_tn = Array2::from_shape_vec((y.len(), n), y.concat())
        .map_err(|e| Error::shape(e.to_string()))?;
    let weights_n = source.is_weighted().then(|| Array1::from(weights));
    if weights_n.as_ref().is_some_and(|w| w.sum() == 0.0) {
        return Err(Error::data("weights", "all rows have weight 0"));
    }
    Ok(RowsOnHost {
        binned: binned.into_iter().map(|(_, rows)| rows).collect(),
        dense,
        y_tn,
        weights_n,
    })
}

/// Maps whose features are computed again, each with its first column and factor.
type Dense<'m> = Vec<(&'m dyn FeatureMap, usize, f64)>;

/// Splits a map into binning parts, still without rows, and other parts.
fn sort_leaves<'m>(
    map: &'m dyn FeatureMap,
    run: &Run,
) -> Result<(Vec<(Binner<'m>, BinnedRows)>, Dense<'m>)> {
    let (mut binned, mut dense) = (Vec::new(), Vec::new());
    for (leaf, offset, root) in leaves(map) {
        match leaf {
            Leaf::Dense(map) => dense.push((map, offset, root)),
            Leaf::Binning(map) => {
                binned.push((map.on(run)?, BinnedRows::new(map, offset, root)));
            }
        }
    }
    Ok((binned, dense))
}

/// Bytes of the binning parts.
fn binning_bytes(map: &dyn FeatureMap) -> u64 {
    let of_part = |leaf: (Leaf<'_>, usize, f64)| match leaf.0 {
        Leaf::Dense(_) => 0,
        Leaf::Binning(map) => map.bytes(),
    };
    leaves(map).into_iter().map(of_part).sum()
}

fn too_many(rows: usize, bytes: u64, run: &Run) -> Error {
    Error::Limit {
        what: format!("targets and bins of more than {}", counted(rows, "row")),
        needed: format!("more than {}", human_bytes(bytes)),
        allowed: human_bytes(run.held.unwrap_or(u64::MAX)),
        remedies: vec![Remedy::MoreMemory, Remedy::FewerFeatures],
    }
}

impl RowsOnHost<'_> {
    /// Bytes held for the rows.
    fn bytes(&self) -> u64 {
        let bins = |rows: &BinnedRows| 4 * rows.grids() * self.y_tn.ncols();
        let weights = self.weights_n.as_ref().map_or(0, |w| 8 * w.len());
        let all = self.binned.iter().map(bins).sum::<usize>() + 8 * self.y_tn.len() + weights;
        all as u64
    }

    fn size(&self, columns: usize) -> Size {
        Size {
            columns,
            grids: self.binned.iter().map(BinnedRows::grids).sum(),
            rows: self.y_tn.ncols(),
            targets: self.y_tn.nrows(),
        }
    }

    /// By a Cholesky factor of the sums.
    fn solve_directly(mut self, solver: Cholesky) -> Result<Coefficients> {
        let weights_n = self.weights_n.as_ref().map(|w| w.view());
        let sums = binned_sums(&mut self.binned, self.y_tn.view(), weights_n)?;
        drop(self);
        solver.solve_in_place(sums)
    }

    /// By a Cholesky factor of the products of rows, with the effective dimension.
    fn solve_dual(self, dual: Dual) -> Result<(Coefficients, BTreeMap<String, f64>)> {
        let kernel_nn = binned_kernel(&self.binned);
        let mut features = SideBySide::default();
        for rows in self.binned {
            features.push(rows)?;
        }
        let weights_n = self.weights_n.as_ref().map(|w| w.view());
        let (coefficients, dimension) =
            dual.solve_kernel(&mut features, kernel_nn, self.y_tn.view(), weights_n)?;
        let mut facts = BTreeMap::new();
        facts.insert("effective_dimension".to_owned(), dimension);
        Ok((coefficients, facts))
    }

    /// Solves by conjugate gradients and returns the facts of the iteration.
    fn iterate(
        self,
        source: &mut dyn ChunkSource,
        (solver, size, room): (&ConjugateGradients, Size, Option<u64>),
        run: &Run,
    ) -> Result<(Coefficients, BTreeMap<String, f64>)> {
        let mut solver = *solver;
        if let Some(room) = room {
            let left = room.saturating_sub(size.bytes(Way::Iterate) as u64);
            // Smaller sketches take more iterations. A quarter is a reserve for allocations that
            // are not counted.
            let bytes = left / 4 * 3;
            solver.preconditioning = Preconditioning::Within { bytes };
        }
        let mut features = SideBySide::default();
        for rows in self.binned {
            features.push(rows)?;
        }
        if !self.dense.is_empty() {
            let n = self.y_tn.ncols();
            features.push(StreamedRows::new(&self.dense, source, n, run)?)?;
        }
        let weights_n = self.weights_n.as_ref().map(|w| w.view());
        let mut say = |i, r| run.say(Step::Iteration(i, r));
        let solution =
            solver.solve_weighted(&mut features, self.y_tn.view(), weights_n, &mut say)?;
        let worst = solution.residual_t.fold(0.0, |m: f64, &r| m.max(r));
        let facts = [
            ("iterations", solution.iterations as f64),
            ("relative_residual", worst),
            ("preconditioner_rank", solution.rank as f64),
            ("tolerance", solver.tolerance),
        ];
        let mut named = BTreeMap::new();
        named.extend(facts.map(|(name, value)| (name.to_owned(), value)));
        Ok((solution.require_converged()?, named))
    }
}

/// Reads `source` once for targets and bins, then solves; conjugate gradients compute the features
/// of dense parts again in each iteration. Targets (8 bytes per row and output) and bins (4 bytes
/// per row and grid) are held in addition to the chunks.
pub(in crate::learn) fn fit(
    map: Box<dyn FeatureMap>,
    source: &mut dyn ChunkSource,
    targets: Targets,
    (solver, way): (&ConjugateGradients, Way),
    run: &Run,
) -> Result<LinearModel> {
    if source.targets() == 0 {
        return Err(Error::missing("the data has no targets to fit").help(Remedy::NameTargets));
    }
    let start = Instant::now();
    let held = read(map.as_ref(), source, &targets, run)?;
    let (accumulate, rows) = (start.elapsed(), held.y_tn.ncols() as u64);
    let start = Instant::now();
    let size = held.size(map.output_dim());
    // The memory of chunks is free if no features are computed again.
    let room = run.held.map(|most| {
        let chunks = if held.dense.is_empty() { run.memory } else { 0 };
        most.saturating_add(chunks)
            .saturating_sub(binning_bytes(map.as_ref()) + held.bytes())
    });
    let (lambda, intercept) = (solver.lambda, solver.intercept);
    let (coefficients, facts) = match way.chosen(size, held.dense.is_empty(), room)? {
        Way::Direct => {
            log::info!("a Cholesky factor of the sums of {} bins", size.columns);
            let solver = Cholesky { lambda, intercept };
            (held.solve_directly(solver)?, BTreeMap::new())
        }
        Way::Dual => {
            log::info!("a Cholesky factor of the products of {} rows", size.rows);
            held.solve_dual(Dual { lambda, intercept })?
        }
        Way::Iterate | Way::Cheaper => held.iterate(source, (solver, size, room), run)?,
    };
    Ok(LinearModel {
        times: Some(FitTimes {
            accumulate,
            solve: start.elapsed(),
        }),
        lambda: solver.lambda,
        rows,
        facts,
        ..LinearModel::new(map, coefficients, targets, &run.device)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        data::MemorySource,
        features::{Affine, Binning},
        kernels::Laplacian,
        learn::{FitOptions, Solver},
    };

    /// A factor of the exact sums and conjugate gradients agree, with and without an intercept; for
    /// both, a row of weight w equals w rows.
    #[test]
    fn both_ways_meet_and_count_rows_by_their_weights() {
        let x = Array2::from_shape_fn((60, 2), |(i, j)| ((i * (2 * j + 3)) % 41) as f64 / 9.0);
        let y = Array2::from_shape_fn((60, 2), |(i, k)| 4.0 + ((i + 3 * k) as f64).sin());
        let weight = |i: usize| i % 4;
        let copies: Vec<_> = (0..60).flat_map(|i| vec![i; weight(i)]).collect();
        let cpu = Device::cpu();
        let plain = MemorySource::new(&x, Some(y.clone())).expect("rows");
        let weights = Array1::from_shape_fn(60, |i| weight(i) as f64);
        let weighted = plain.clone().with_weights(weights).expect("weights");
        let pick = |a: &Array2<f64>| a.select(Axis(0), &copies);
        let repeated = MemorySource::new(pick(&x), Some(pick(&y))).expect("rows");
        let map = Binning::new(Laplacian).grids(8);
        let map = map
            .fit(Affine::identity(2), &mut plain.clone(), &cpu)
            .expect("a map");
        let exact = Solver::ConjugateGradients {
            tolerance: 1e-12,
            max_iterations: 1000,
        };
        let fit = |rows: &MemorySource, solver, intercept| {
            let targets = Targets::Real {
                columns: 2,
                shift: vec![4.0; 2],
            };
            let options = FitOptions {
                lambda: 1e-3,
                intercept,
                solver,
                ..FitOptions::on(&cpu)
            };
            LinearModel::fit(Box::new(map.clone()), &mut rows.clone(), targets, &options)
                .expect("fits")
        };
        for intercept in [true, false] {
            for rows in [&plain, &weighted, &repeated] {
                let (direct, iterated) = (
                    fit(rows, Solver::Cholesky, intercept),
                    fit(rows, exact, intercept),
                );
                close(&direct, &iterated);
                let dual = fit(rows, Solver::Dual, intercept);
                close(&direct, &dual);
                assert!(dual.facts["effective_dimension"] > 1.0);
                assert!(iterated.facts["iterations"] > 1.0 && direct.facts.is_empty());
            }
            let two = [&weighted, &repeated].map(|rows| fit(rows, exact, intercept));
            close(&two[0], &two[1]);
        }
    }

    fn close(a: &LinearModel, b: &LinearModel) {
        let (a, b) = (&a.coefficients, &b.coefficients);
        let beta = (&a.beta_dt - &b.beta_dt).fold(0.0, |m: f64, v| m.max(v.abs()));
        let intercept = (&a.intercept_t - &b.intercept_t).mapv(f64::abs).sum();
        assert!(beta < 1e-8 && intercept < 1e-8, "{beta:e} {intercept:e}");
    }
}
