//! Rows for solvers that come back to them: one pass finds how features spread and keeps targets,
//! every other one is a product.

use crate::{
    Error, Result,
    data::{Chunk, ChunkSource},
    device::room,
    error::Remedy,
    features::{FeatureMap, Leaf, leaves, require_dense},
    flow::{RowNeeds, Run, for_each_chunk, watch_chunks},
    normal::{NormalEquations, Targets},
    progress::Step,
    solve::{
        BinnedRows, FeatureProducts, SideBySide, StreamedRows,
        metric::Covariance,
        risk::{FittedRows, RowTargets},
    },
};
use ndarray::{Array1, Array2};

/// More features than this have a diagonal for their covariance: all pairs take `16 D^2` bytes.
const MOST_PAIRS: usize = 16_384;

/// Features that come again in every product, with what one pass found.
pub(super) struct Returning<'a> {
    pub(super) features: SideBySide<'a>,
    pub(super) covariance: Covariance,
    pub(super) rows: FittedRows,
}

/// How much a class counts, for classifiers that weigh their rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ClassWeights {
    /// Every row counts 1.
    #[default]
    Equal,
    /// A row of class c counts `n / (K n_c)`, so that all classes count the same.
    Balanced,
    /// A row counts this much, by the place of its class among all classes in order.
    Of(Vec<f64>),
}

/// A source that keeps the targets and weights that pass, and weighs rows by their classes.
pub(super) struct Keeping<'a> {
    source: &'a mut dyn ChunkSource,
    /// What a row of each class counts, by its label.
    classes: Option<(&'a [f64], Vec<f64>)>,
    /// Row after row.
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
    fn rows(&self) -> Option<usize> {
        self.source.rows()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let Some(mut chunk) = self.source.next_chunk(max_rows)? else {
            return Ok(None);
        };
        self.y.extend(&chunk.y);
        if let Some((labels, weight_k)) = &self.classes {
            let given = chunk.weights.take();
            let mut weights = given.unwrap_or_else(|| Array1::ones(chunk.y.nrows()));
            for (w, label) in weights.iter_mut().zip(&chunk.y) {
                // A label that is no class is refused where classes are encoded.
                let class = labels.iter().position(|l| l == label);
                *w *= class.map_or(1.0, |class| weight_k[class]);
            }
            chunk.weights = Some(weights);
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
    /// Keeps nothing yet. Weights that balance classes take a look at all labels.
    pub(super) fn new(
        source: &'a mut dyn ChunkSource,
        targets: Option<&'a Targets>,
        weights: &ClassWeights,
        run: &Run,
    ) -> Result<Self> {
        let classes = match targets {
            Some(Targets::Classes(labels)) => {
                let weight_k = weights.of(labels, source, run)?;
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

    /// Targets and weights of the rows that passed; without weights every row counts 1.
    pub(super) fn kept(self) -> (Vec<f64>, Option<Vec<f64>>) {
        let weighted = self.is_weighted();
        (self.y, weighted.then_some(self.weight_n))
    }
}

impl<'a> Returning<'a> {
    /// Reads `source` once. Without `targets` nothing is fitted but the rows themselves.
    ///
    /// Errors as [`NormalEquations::accumulate`] does, and on weights that are none.
    pub(super) fn open(
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
        let (rows, sums, binned) = match pairs {
            true => {
                let features = map.output_dim();
                let what = || format!("a covariance of {features} features and its factor");
                room::ask_square(features, 16, what)?;
                let sums = NormalEquations::accumulate(map, &mut keeping, fitted, run)?;
                (sums.rows, Some(sums), Vec::new())
            }
            false => {
                let (rows, binned) = bins(map, &mut keeping, run)?;
                (rows, None, binned)
            }
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
        for part in binned {
            features.push(part)?;
        }
        let dense: Vec<_> = leaves(map)
            .into_iter()
            .filter_map(|(leaf, offset, root)| match leaf {
                Leaf::Dense(map) => Some((map, offset, root)),
                Leaf::Binning(_) => None,
            })
            .collect();
        if pairs {
            // In one piece, so that its rows can be summed.
            features.push(StreamedRows::new(&[(map, 0, 1.0)], source, n, run)?)?;
        } else if !dense.is_empty() {
            features.push(StreamedRows::new(&dense, source, n, run)?)?;
        }
        let covariance = match sums {
            Some(sums) => Covariance::of_sums(sums, intercept),
            None => {
                let mut moments = Array2::zeros((2, map.output_dim()));
                features.moments(&mut moments)?;
                Covariance::of_moments(&moments, n as f64, intercept)
            }
        };
        Ok(Self {
            features,
            covariance,
            rows,
        })
    }
}

/// The number of rows, and the bins of those parts of a map that have them.
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

impl ClassWeights {
    /// What a row of each class counts; `None` if all count 1. Balanced ones take a look at all
    /// labels.
    fn of(
        &self,
        labels: &[f64],
        source: &mut dyn ChunkSource,
        run: &Run,
    ) -> Result<Option<Vec<f64>>> {
        match self {
            Self::Equal => Ok(None),
            Self::Of(weight_k) => {
                let fine = |w: &f64| *w > 0.0 && w.is_finite();
                if weight_k.len() == labels.len() && weight_k.iter().all(fine) {
                    return Ok(Some(weight_k.clone()));
                }
                Err(Error::parameter(format!(
                    "the class weights are {weight_k:?}; give one positive number for each of the \
                     classes {labels:?}"
                )))
            }
            Self::Balanced => {
                let mut count_k = vec![0.0; labels.len()];
                let chunk = RowNeeds::read(source.columns() + source.targets()).rows_of(run)?;
                for_each_chunk(source, chunk, |chunk| {
                    let weights = chunk.weights.as_ref();
                    for (i, label) in chunk.y.iter().enumerate() {
                        if let Some(class) = labels.iter().position(|l| l == label) {
                            count_k[class] += weights.map_or(1.0, |w| w[i]);
                        }
                    }
                    Ok(())
                })?;
                let all: f64 = count_k.iter().sum();
                let classes = labels.len() as f64;
                // A class without rows weighs nothing either way.
                let weight = |&count: &f64| {
                    if count > 0.0 {
                        all / (classes * count)
                    } else {
                        1.0
                    }
                };
                Ok(Some(count_k.iter().map(weight).collect()))
            }
        }
    }
}

/// Targets as losses want them.
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
