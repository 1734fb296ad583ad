//! Trees with a model in each leaf.

mod cut;
mod held;
mod leaf;
#[cfg(test)]
mod tests;

use crate::{
    Error, Result, Run, Step,
    data::{ChunkSource, Survey, TargetStats},
    features::{
        Affine, Child, Cut, DEEPEST, FeatureMap, LeafFeatures, MOST_LEAVES, MapBuilder, Scaling,
        Tree,
    },
    kernels::{self, Kernel},
    learn::{Budget, FitPenalised, Plan, Search, SearchData},
    model::{Coefficients, LinearModel, Targets},
    seed::{Seed, Stream},
};
use leaf::{Fitted, Settings};
use ndarray::{Array1, Array2, Axis, concatenate};
use std::{collections::BTreeMap, sync::Arc};

/// Rows sampled by the survey of a leaf.
const SURVEYED: usize = 2000;
/// Rows per chunk.
const CHUNK: usize = 4096;

/// A tree that splits the rows until the leaves are small, with a separate model in each leaf:
/// ridge regression on the features of a map, whose lengthscale, penalty and metric are chosen
/// inside the leaf. After xRFM (Beaglehole, Holzmueller, Radhakrishnan & Belkin 2025, arXiv
/// 2508.10053), with random features instead of exact kernels.
///
/// A node with more rows than [`Self::rows`] fits a model to at most 8,000 of them, computes its
/// average gradient outer product M, and splits all rows at the median along the leading
/// eigenvector of M. If many rows are equal along it, the cut is as near to the median as possible,
/// with at least an eighth of the rows on either side; otherwise the next eigenvector is tried. A
/// node that none of eight eigenvectors can split, or whose targets are all equal, is a leaf with
/// any number of rows.
///
/// The rows of a side are kept in memory if both sides fit into that of the run, otherwise in a
/// temporary file; only one path down the tree is held at a time. Leaf i draws from its own seed,
/// so that one seed gives the same model for any number of threads and any memory.
#[derive(Debug, Clone)]
pub struct Leaves {
    /// Maximum number of rows of a leaf.
    pub rows: usize,
    /// Options of the search in each leaf. A search over kernels is replaced by Matern 5/2. Metrics
    /// are learnt from a small fit in the leaf, then from the fit with the metric as long as the
    /// hold-out error decreases. All metrics are tried in leaves 0, 1, 3, 7, ..., and in the other
    /// leaves only the best one. The best settings of a leaf are the start of the next one. If
    /// there is nothing to choose, the learner fits as it does without a tree.
    pub search: Search,
}

impl Leaves {
    /// Minimum of [`Self::rows`].
    pub const LEAST_ROWS: usize = 100;

    /// Splits the rows of `data` and fits each leaf. Progress is reported as [`Step::Rows`] of the
    /// rows in fitted leaves.
    ///
    /// The model has the facts `leaves`, `depth`, `leaf_rows_least` and `leaf_rows_most`, and
    /// `held_out_error`, the mean over the rows of leaves that were searched or whose targets are
    /// all equal. [`LinearModel::leaf_importance`] is that of the searched leaves.
    ///
    /// Errors with [`Error::Parameter`] if [`Self::rows`] is below [`Self::LEAST_ROWS`] or would
    /// give thousands of leaves; with [`Error::Unsupported`] on a search with a budget or over the
    /// number of features, and on maps without a known gradient; and as searches and fits do.
    pub fn fit(&self, builder: &Arc<dyn MapBuilder>, data: SearchData<'_>) -> Result<LinearModel> {
        let SearchData {
            source,
            survey,
            scaling,
            lengthscale,
            targets,
            options,
            seed,
            run,
        } = data;
        self.check(survey.rows)?;
        let own = builder.kernel();
        let kernel: Arc<dyn Kernel> = match (&own, self.search.kernels.is_empty()) {
            (Some(_), false) => Arc::new(kernels::Matern::FIVE_HALVES),
            (Some(own), true) => own.clone(),
            (None, _) => Arc::new(kernels::Gaussian),
        };
        let varied = match builder.features() {
            Some(features) if own.is_some() => builder.variant(kernel.clone(), features),
            _ => None,
        };
        let task = Task {
            search: &self.search,
            most: self.rows as u64,
            builder: varied.map_or_else(|| builder.clone(), Arc::from),
            kernel,
            scaling,
            prepared: scaling.input(&[1.0])?,
            lengthscale,
            targets,
            options,
            seed,
            run: run.silent(),
        };
        let mut grown = Grown::default();
        let hear = |rows| run.say(Step::Rows(rows));
        task.grow(&mut grown, NodeRows::Given(source, survey), 1, &hear)?;
        task.model(grown, survey)
    }

    fn check(&self, rows: u64) -> Result<()> {
        if self.rows < Self::LEAST_ROWS {
            return Err(Error::parameter(format!(
                "leaves of {} rows are too few to fit; give {} at least",
                self.rows,
                Self::LEAST_ROWS
            )));
        }
        if self.search.features.is_some() {
            return Err(Error::unsupported(
                "the number of features is chosen for one model of all rows, not for leaves; leave \
                 Search::features out, and give the map a number",
            ));
        }
        if self.search.budget != Budget::All {
            return Err(Error::unsupported(
                "each leaf makes its own few trials, which no budget ends; leave Search::budget out",
            ));
        }
        // With a margin, since splits are not all at the median.
        let least = rows.div_ceil(MOST_LEAVES as u64 / 4);
        if (self.rows as u64) < least {
            return Err(Error::parameter(format!(
                "leaves of {} rows are too many for {rows} rows; give {least} at least",
                self.rows
            )));
        }
        Ok(())
    }
}

/// State shared by all nodes.
struct Task<'a> {
    search: &'a Search,
    most: u64,
    builder: Arc<dyn MapBuilder>,
    kernel: Arc<dyn Kernel>,
    scaling: &'a Scaling,
    /// Columns before lengthscales are applied.
    prepared: Affine,
    lengthscale: f64,
    targets: &'a Targets,
    options: &'a dyn FitPenalised,
    seed: Seed,
    run: Run,
}

/// Rows of a node.
enum NodeRows<'a> {
    /// All rows, read from the given source.
    Given(&'a mut dyn ChunkSource, &'a Survey),
    Own(Box<dyn ChunkSource>),
}

/// The tree under construction.
#[derive(Default)]
struct Grown {
    cuts: Vec<Cut>,
    children: Vec<[Child; 2]>,
    maps: Vec<Option<Box<dyn FeatureMap>>>,
    /// Coefficients of all leaves, each followed by its intercept.
    betas: Vec<Array2<f64>>,
    /// Best settings of the previous leaf.
    last: Option<Settings>,
    rows: u64,
    least: u64,
    most: u64,
    /// Sum of hold-out errors times rows, and these rows.
    errors: (f64, u64),
    /// Rows in leaves whose targets are all equal.
    certain: u64,
    /// Sum of the shares of the columns in the squared gradients times rows, and these rows.
    importance: (Vec<f64>, u64),
}

impl Grown {
    /// Adds the shares of the columns in a leaf of `rows` rows.
    fn count(&mut self, shares: &[f64], rows: u64) {
        let (sums, all) = &mut self.importance;
        sums.resize(shares.len(), 0.0);
        for (sum, share) in sums.iter_mut().zip(shares) {
            *sum += share * rows as f64;
        }
        *all += rows;
    }

    /// The mean of the shares over rows; `None` before the first.
    fn shares(&self) -> Option<Vec<f64>> {
        let (sums, rows) = &self.importance;
        let mean = sums.iter().map(|sum| sum / *rows as f64);
        (*rows > 0).then(|| mean.collect())
    }
}

impl Task<'_> {
    /// Grows the node or leaf of these rows.
    fn grow(
        &self,
        grown: &mut Grown,
        mut held: NodeRows<'_>,
        depth: usize,
        hear: &dyn Fn(u64),
    ) -> Result<Child> {
        let own;
        let (source, survey): (&mut dyn ChunkSource, &Survey) = match &mut held {
            NodeRows::Given(source, survey) => (&mut **source, survey),
            NodeRows::Own(source) => {
                own = Survey::new(source.as_mut(), SURVEYED, self.seed.0)?;
                (source.as_mut(), &own)
            }
        };
        let constant = survey.targets.iter().all(TargetStats::is_constant);
        let small = survey.rows <= self.most || depth > DEEPEST;
        // Nodes use other random streams than leaves.
        let node = (1 << 32) + grown.cuts.len() as u64;
        let cut = if constant || small || grown.maps.len() + 2 > MOST_LEAVES - DEEPEST {
            None
        } else {
            self.cut(source, survey, self.seed_of(node))?
        };
        let Some(cut) = cut else {
            return self.leaf_of(grown, source, survey, constant, hear);
        };
        let bytes = survey.rows * held::Shape::from_source(source).bytes();
        let center = self.prepared.center().to_vec();
        let direction = Array1::from(cut.direction.clone());
        let threshold = cut.threshold;
        let sides = held::part_rows(source, bytes <= self.run.memory, |x| {
            crate::features::project(x, &center, direction.view()) <= threshold
        })?;
        drop(held);
        let at = grown.cuts.len();
        grown.cuts.push(cut);
        grown.children.push([Child::Leaf(0); 2]);
        for (side, rows) in sides.into_iter().enumerate() {
            let child = self.grow(grown, NodeRows::Own(rows), depth + 1, hear)?;
            grown.children[at][side] = child;
        }
        Ok(Child::Node(at))
    }

    fn leaf_of(
        &self,
        grown: &mut Grown,
        source: &mut dyn ChunkSource,
        survey: &Survey,
        constant: bool,
        hear: &dyn Fn(u64),
    ) -> Result<Child> {
        let leaf = grown.maps.len();
        let fitted = if constant {
            self.constant(survey)?
        } else {
            let seed = self.seed_of(leaf as u64);
            self.leaf(source, survey, (leaf, seed), grown.last.as_ref())?
        };
        log::info!(
            "leaf {leaf}: {} rows, error {:?}",
            survey.rows,
            fitted.error
        );
        let Coefficients {
            beta_dt,
            intercept_t,
        } = fitted.coefficients;
        let parts = [beta_dt.view(), intercept_t.view().insert_axis(Axis(0))];
        let beta_dt = concatenate(Axis(0), &parts).map_err(|e| Error::shape(e.to_string()))?;
        grown.betas.push(beta_dt);
        grown.maps.push(fitted.map);
        if fitted.won.is_some() {
            grown.last = fitted.won;
        }
        grown.rows += survey.rows;
        grown.least = match leaf {
            0 => survey.rows,
            _ => grown.least.min(survey.rows),
        };
        grown.most = grown.most.max(survey.rows);
        match fitted.error {
            Some(error) => {
                grown.errors.0 += error * survey.rows as f64;
                grown.errors.1 += survey.rows;
            }
            None if constant => grown.certain += survey.rows,
            None => {}
        }
        if let Some(shares) = fitted.importance {
            grown.count(&shares, survey.rows);
        }
        hear(grown.rows);
        Ok(Child::Leaf(leaf))
    }

    /// Leaf whose rows all have the same targets.
    fn constant(&self, survey: &Survey) -> Result<Fitted> {
        let first = survey.targets.iter().map(|target| target.min);
        let y_nt = Array2::from_shape_vec((1, survey.targets.len()), first.collect());
        let y_nt = y_nt.map_err(|e| Error::shape(e.to_string()))?;
        let plain = match self.targets {
            Targets::Real { columns, .. } => Targets::Real {
                columns: *columns,
                shift: vec![0.0; *columns],
            },
            classes => classes.clone(),
        };
        let intercept_t = plain.encode(y_nt.view())?.row(0).to_owned();
        Ok(Fitted {
            map: None,
            coefficients: Coefficients {
                beta_dt: Array2::zeros((0, intercept_t.len())),
                intercept_t,
            },
            error: None,
            importance: None,
            won: None,
        })
    }

    /// The targets of the rows of `survey`: all classes, or real targets with the means of these
    /// rows.
    fn targets_of(&self, survey: &Survey) -> Targets {
        match self.targets {
            Targets::Real { .. } => Targets::real(survey),
            classes => classes.clone(),
        }
    }

    fn seed_of(&self, block: u64) -> Seed {
        Seed(self.seed.stream(Stream::Leaves, block).next_u64())
    }

    /// Plan for columns as prepared, with at most `most` features (`None` for all).
    fn plan(&self, most: Option<usize>, median: f64, multiple: f64) -> Plan {
        let all = self.builder.features();
        let most = most.filter(|&most| all.is_some_and(|all| most < all));
        let fewer = most.and_then(|most| self.builder.variant(self.kernel.clone(), most));
        let builder = fewer.map_or_else(|| self.builder.clone(), Arc::from);
        Plan {
            features: builder.features().unwrap_or(0),
            builder,
            kernel: self.kernel.clone(),
            scaling: 0,
            is_binned: false,
            draw: 0,
            metric: None,
            turns: 0,
            median,
            multiple,
            lengthscale: multiple * median,
            lambda: 0.0,
        }
    }

    fn model(&self, grown: Grown, survey: &Survey) -> Result<LinearModel> {
        let betas: Vec<_> = grown.betas.iter().map(|beta| beta.view()).collect();
        let beta_dt = concatenate(Axis(0), &betas).map_err(|e| Error::shape(e.to_string()))?;
        let leaf_importance = grown.shares();
        let center = self.prepared.center().to_vec();
        let tree = Tree::new(center, grown.cuts, grown.children)?;
        let mut facts = BTreeMap::new();
        facts.extend([
            ("leaves".to_owned(), tree.leaves() as f64),
            ("depth".to_owned(), tree.depth() as f64),
            ("leaf_rows_least".to_owned(), grown.least as f64),
            ("leaf_rows_most".to_owned(), grown.most as f64),
        ]);
        if grown.errors.1 > 0 {
            let error = grown.errors.0 / (grown.errors.1 + grown.certain) as f64;
            facts.insert("held_out_error".to_owned(), error);
        }
        let map = Box::new(LeafFeatures::new(tree, grown.maps)?);
        let coefficients = Coefficients {
            intercept_t: Array1::zeros(beta_dt.ncols()),
            beta_dt,
        };
        let lambda = grown.last.as_ref().map_or(0.0, Settings::lambda);
        Ok(LinearModel {
            facts,
            leaf_importance,
            lambda,
            rows: survey.rows,
            ..LinearModel::new(map, coefficients, self.targets.clone(), &self.run.device)
        })
    }
}
