//! Fits that never form a Gram matrix: for maps with binning parts, or with more features than its
//! square holds.

use super::{FitTimes, LinearModel, Step};
use crate::{
    Device, Error, Result,
    data::ChunkSource,
    error::Remedy,
    features::{FeatureMap, Leaf, leaves},
    flow::{RowNeeds, for_each_chunk},
    normal::Targets,
    solve::{BinnedRows, ConjugateGradients, SideBySide, StreamedRows},
};
use ndarray::{Array2, Axis};
use std::time::Instant;

/// How a model is fitted by conjugate gradients.
#[derive(Debug)]
pub(super) struct IterativeOptions {
    /// Where features and bins are computed.
    pub(super) device: Device,
    /// Penalty, intercept and when to stop.
    pub(super) solver: ConjugateGradients,
    /// Bytes for chunk buffers. Targets (8 bytes a row and output) and bins (4 bytes a row and
    /// grid) are held beside them.
    pub(super) memory: u64,
}

/// Reads `source` once for targets and bins, then solves; dense parts are featurized again in every
/// iteration.
pub(super) fn fit(
    map: Box<dyn FeatureMap>,
    source: &mut dyn ChunkSource,
    targets: Targets,
    options: &IterativeOptions,
    progress: &mut dyn FnMut(Step),
) -> Result<LinearModel> {
    let IterativeOptions {
        device,
        solver,
        memory,
    } = options;
    if source.targets() == 0 {
        return Err(Error::missing("the data has no targets to fit").help(Remedy::NameTargets));
    }
    let start = Instant::now();
    let (mut binned, mut dense) = (Vec::new(), Vec::new());
    // A row as it is read, its targets as they are fitted, and its bins.
    let mut needs =
        RowNeeds::read(source.columns() + source.targets()).and_bytes(8 * targets.outputs());
    for (leaf, offset, root) in leaves(map.as_ref()) {
        match leaf {
            Leaf::Dense(map) => dense.push((map, offset, root)),
            Leaf::Binning(map) => {
                needs = needs.and_bytes(4 * map.grids());
                binned.push((map.on(device, *memory)?, BinnedRows::new(map, offset, root)));
            }
        }
    }
    let chunk = needs.rows_on(device, *memory)?;
    let mut y = vec![Vec::new(); targets.outputs()];
    let rows = for_each_chunk(
        source,
        chunk,
        &mut |rows| progress(Step::Rows(rows)),
        |chunk| {
            let encoded = targets.encode(chunk.y.view())?;
            for (k, (y, column)) in y.iter_mut().zip(encoded.axis_iter(Axis(1))).enumerate() {
                // Nothing is rounded to f32 here, so the shift has no use.
                y.extend(column.iter().map(|v| v + targets.shift(k)));
            }
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
    let accumulate = start.elapsed();
    let start = Instant::now();
    let mut features = SideBySide::default();
    for (_, rows) in binned {
        features.push(rows)?;
    }
    if !dense.is_empty() {
        features.push(StreamedRows::new(&dense, source, n, device, *memory)?)?;
    }
    let solution = solver.solve(&mut features, y_tn.view(), &mut |i, r| {
        progress(Step::Iteration(i, r))
    })?;
    drop(features);
    Ok(LinearModel {
        coefficients: solution.require_converged()?,
        times: Some(FitTimes {
            accumulate,
            solve: start.elapsed(),
        }),
        map,
        targets,
        class_names: None,
        lambda: solver.lambda,
        rows,
        device: device.describe(),
    })
}
