//! Rows for iterative solvers: one pass computes the spread of the features and keeps targets, each
//! later pass is a product.

use crate::{
    Error, Result,
    data::{Chunk, ChunkSource},
    device::memory_left,
    error::Remedy,
    features::{FeatureMap, Leaf, leaves, require_dense},
    flow::{RowNeeds, Run, watch_chunks},
    learn::fit::class_weights::{ClassWeights, weigh},
    model::Targets,
    normal::NormalEquations,
    progress::Step,
    solve::{
        BinnedRows, FeatureProducts, SideBySide, StreamedRows,
        preconditioner::Covariance,
        risk::{FittedRows, RowTargets},
    },
};
use ndarray::Array2;

/// With more features than this the covariance is a diagonal: all pairs take `16 D^2` bytes.
const MOST_PAIRS: usize = 16_384;
/// Bytes per pair of features: the covariance and its factor.
const PAIR_BYTES: u32 = 16;

/// Bytes per pair of features; 0 if there are too many features for a covariance.
pub(in crate::learn) fn pair_bytes(features: usize) -> u32 {
    if features <= MOST_PAIRS {
        PAIR_BYTES
    } else {
        0
    }
}

/// Bytes that loss solvers keep of each row: its target and weight, and for each output its score,
/// its slope and their sums.
pub(in crate::learn) fn loss_bytes(outputs: usize) -> usize {
    // Two classes share one score.
    let scores = match outputs {
        0..=2 => 1,
        more => more,
    };
    16 + 24 * scores
}

/// Features for repeated products, with the statistics of the first pass.
pub(in crate::learn) struct Passes<'a> {
    pub(in crate::learn) features: SideBySide<'a>,
    pub(in crate::learn) covariance: Covariance,
    pub(in crate::learn) rows: FittedRows,
}

/// Source that keeps the targets and weights that pass through, and applies class weights.
pub(in crate::learn) struct Keeping<'a> {
    source: &'a mut dyn ChunkSource,
    /// Labels and the weight of each class.
    classes: Option<(&'a [f64], Vec<f64>)>,
    /// In the order of the rows.
    y: Vec<f64>,
    weight_n: Vec<f64>,
}

impl ChunkSource for Keeping<'_> {
    fn columns(&self) -> usize {
        self.source.columns()
    }
    fn targets(&self) -> usize {
        self.source.targets()
    }
    fn groups(&self) -> Option<std::sync::Arc<[u32]>> {
        self.source.groups()
    }
    fn rows(&self) -> Option<usize> {
        self.source.rows()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let Some(mut chunk) = self.source.next_chunk(max_rows)? else {
            return Ok(None);
        };
        self.y.extend(&chunk.y);
        if let Some((labels, weight_k)) = &self.classes {
            weigh(&mut chunk, labels, weight_k);
        }
        self.weight_n.extend(chunk.weights.iter().flatten());
        Ok(Some(chunk))
    }
    fn rewind(&mut self) -> Result<()> {
        self.y.clear();
        self.weight_n.clear();
        self.source.rewind()
    }
    fn is_weighted(&self) -> bool {
        self.classes.is_some() || self.source.is_weighted()
    }
    fn is_checked(&self) -> bool {
        self.source.is_checked()
    }
}

impl<'a> Keeping<'a> {
    /// Starts without rows. Balanced class weights take a pass over the labels.
    pub(in crate::learn) fn new(
        source: &'a mut dyn ChunkSource,
        targets: Option<&'a Targets>,
        weights: &ClassWeights,
        run: &Run,
    ) -> Result<Self> {
        let classes = match targets {
            Some(Targets::Classes(labels)) => {
                let weight_k = weights.resolve(labels, source, run)?;
                weight_k.map(|weight_k| (labels.as_slice(), weight_k))
            }
            _ => None,
        };
        Ok(Self {
            classes,
            source,
            y: Vec::new(),
            weight_n: Vec::new(),
        })
    }

    /// Returns targets and weights of the rows that have passed; `None` for weights if there are
    /// none.
    pub(in crate::learn) fn kept(self) -> (Vec<f64>, Option<Vec<f64>>) {
        let weighted = self.is_weighted();
        (self.y, weighted.then_some(self.weight_n))
    }
}

impl<'a> Passes<'a> {
    /// Reads `source` once. Without `targets`, only the rows themselves are fitted.
    ///
    /// Errors as [`NormalEquations::accumulate`] does, and on invalid weights.
    pub(in crate::learn) fn open(
        map: &'a dyn FeatureMap,
        source: &'a mut dyn ChunkSource,
        targets: Option<&'a Targets>,
        (intercept, weights): (bool, &ClassWeights),
        run: &Run,
    ) -> Result<Self> {
        if targets.is_some() && source.targets() == 0 {
            return Err(Error::missing("the data has no targets to fit").help(Remedy::NameTargets));
        }
        let mut keeping = Keeping::new(source, targets, weights, run)?;
        let none = Targets::none();
        let fitted = targets.unwrap_or(&none);
        let pairs = require_dense(map).is_ok() && map.output_dim() <= MOST_PAIRS;
        let (rows, sums, binned) = if pairs {
            let sums = sums_of_pairs(map, &mut keeping, fitted, run)?;
            (sums.rows, Some(sums), Vec::new())
        } else {
            let (rows, binned) = bins(map, &mut keeping, run)?;
            (rows, None, binned)
        };
        let n = usize::try_from(rows)
            .map_err(|_| Error::shape(format!("{rows} rows do not fit this machine")))?;
        let weighted = keeping.is_weighted();
        let Keeping {
            source,
            y,
            weight_n,
            ..
        } = keeping;
        let rows = FittedRows {
            targets: match targets {
                Some(targets) => row_targets(y, n, targets)?,
                None => RowTargets::None,
            },
            weight_n: weighted.then_some(weight_n),
            rows: n,
        };
        let mut features = SideBySide::default();
        binned
            .into_iter()
            .try_for_each(|part| features.push(part))?;
        // As one map if all pairs of features are summed.
        let dense = dense_leaves(map, pairs);
        if !dense.is_empty() {
            features.push(StreamedRows::new(&dense, source, n, run)?)?;
        }
        let covariance = match sums {
            Some(sums) => Covariance::of_sums(sums, intercept),
            None => by_moments(&mut features, (map.output_dim(), n), intercept)?,
        };
        Ok(Self {
            features,
            covariance,
            rows,
        })
    }
}

/// Sums of all pairs of features, if there are few enough features.
fn sums_of_pairs(
    map: &dyn FeatureMap,
    source: &mut Keeping<'_>,
    targets: &Targets,
    run: &Run,
) -> Result<NormalEquations> {
    let features = map.output_dim();
    let what = || format!("a covariance of {features} features and its factor");
    memory_left::require_square(features, PAIR_BYTES, what)?;
    NormalEquations::accumulate(map, source, targets, run)
}

/// Diagonal of the covariance of the features.
fn by_moments(
    features: &mut SideBySide<'_>,
    (columns, rows): (usize, usize),
    intercept: bool,
) -> Result<Covariance> {
    let mut moments = Array2::zeros((2, columns));
    features.moments(&mut moments)?;
    Ok(Covariance::of_moments(&moments, rows as f64, intercept))
}

/// Parts of a map without bins, each with its first column and scale; or the whole map if `is_one`.
fn dense_leaves(map: &dyn FeatureMap, is_one: bool) -> Vec<(&dyn FeatureMap, usize, f64)> {
    if is_one {
        return vec![(map, 0, 1.0)];
    }
    let dense = leaves(map)
        .into_iter()
        .filter_map(|(leaf, offset, root)| match leaf {
            Leaf::Dense(map) => Some((map, offset, root)),
            Leaf::Binning(_) => None,
        });
    dense.collect()
}

/// Number of rows, and the bins of the binning parts of the map.
fn bins(
    map: &dyn FeatureMap,
    source: &mut Keeping<'_>,
    run: &Run,
) -> Result<(u64, Vec<BinnedRows>)> {
    let mut needs = RowNeeds::read(source.columns() + source.targets());
    let mut binned = Vec::new();
    for (leaf, offset, root) in leaves(map) {
        if let Leaf::Binning(map) = leaf {
            needs = needs.and_bytes(4 * map.grids());
            binned.push((map.on(run)?, BinnedRows::new(map, offset, root)));
        }
    }
    let chunk = needs.rows_of(run)?;
    let hear = |rows| run.say(Step::Rows(rows));
    let rows = watch_chunks(source, chunk, hear, |chunk| {
        for (binner, rows) in &mut binned {
            rows.push(binner.indices(&chunk.x)?.view());
        }
        Ok(())
    })?;
    Ok((rows, binned.into_iter().map(|(_, rows)| rows).collect()))
}

/// Encodes targets for losses.
fn row_targets(y: Vec<f64>, n: usize, targets: &Targets) -> Result<RowTargets> {
    let Targets::Classes(labels) = targets else {
        let columns = y.len() / n.max(1);
        let y_nt = Array2::from_shape_vec((n, columns), y);
        let y_nt = y_nt.map_err(|e| Error::shape(e.to_string()))?;
        return Ok(RowTargets::Real(y_nt.t().as_standard_layout().into_owned()));
    };
    let class = |label: f64| {
        let place = labels.iter().position(|&l| l == label);
        place.map(|class| class as u32).ok_or_else(|| {
            let problem = format!("label {label} is none of the classes {labels:?}");
            Error::data("y", problem)
        })
    };
    Ok(RowTargets::Classes {
        class_n: y.into_iter().map(class).collect::<Result<_>>()?,
        classes: labels.len(),
    })
}
