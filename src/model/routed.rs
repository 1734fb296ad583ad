//! Predictions of a tree of leaves: rows are routed to their leaves, and outputs returned in the
//! order of the rows.

use crate::{
    Result,
    data::{ChunkSource, Rows},
    features::{Branch, Destination, Featurizer, LeafFeatures},
    flow::Run,
};
use ndarray::{Array2, ArrayView2};
use std::ops::Range;

/// Minimum bytes for the chunks of a leaf that stays loaded, if the run has them.
const SHARE: u64 = 4 << 20;
/// Maximum number of rows routed together.
const MOST_ROWS: usize = 65_536;

/// Leaves of a model on a device, loaded on demand.
#[derive(Debug)]
pub(crate) struct Routed<'m> {
    map: &'m LeafFeatures,
    beta_dt: &'m Array2<f64>,
    /// Loaded leaves, the most recently used last.
    loaded: Vec<(usize, Featurizer<'m>)>,
    run: Run,
}

/// Callback that gets outputs `[n, t]`, and a function from their index to the index of the row.
pub(crate) type Take<'t> =
    dyn FnMut(ArrayView2<'_, f64>, &dyn Fn(usize) -> usize) -> Result<()> + 't;

impl<'m> Routed<'m> {
    /// Loads the first leaf, so that device errors show early.
    pub(crate) fn new(map: &'m LeafFeatures, beta_dt: &'m Array2<f64>, run: Run) -> Result<Self> {
        let mut routed = Self {
            map,
            beta_dt,
            loaded: Vec::new(),
            run,
        };
        let leaves = 0..map.tree().leaves();
        if let Some(first) = leaves.into_iter().find(|&leaf| map.map(leaf).is_some()) {
            routed.load(first)?;
        }
        Ok(routed)
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// Rows to read at a time, so that they and their outputs take half of the memory.
    pub(crate) fn chunk_rows(&self, source: &dyn ChunkSource) -> usize {
        let values = 2 * (source.columns() + source.targets()) + 2 * self.beta_dt.ncols();
        let fit = self.run.memory / 2 / (8 * values as u64);
        let rows = usize::try_from(fit).unwrap_or(MOST_ROWS);
        let rows = rows.clamp(8, MOST_ROWS);
        source.rows().map_or(rows, |n| rows.min(n.max(1)))
    }

    /// Computes the outputs of rows, leaf by leaf; asynchronous, for browsers.
    pub(crate) async fn rows(&mut self, rows: &Rows, take: &mut Take<'_>) -> Result<()> {
        let map = self.map;
        for (leaf, own) in map.tree().route(rows).into_iter().enumerate() {
            if own.is_empty() {
                continue;
            }
            let (_, intercept_t) = map.coefficients(leaf, self.beta_dt);
            let Some(featurizer) = self.load(leaf)? else {
                let shape = (own.len(), intercept_t.len());
                let y_nt = Array2::zeros(shape) + intercept_t;
                take(y_nt.view(), &|i| own[i])?;
                continue;
            };
            let rows = rows.select(&own);
            let mut place = |y: &[ArrayView2<'_, f32>], range: Range<usize>| {
                let y_nt = y[0].mapv(f64::from) + intercept_t;
                take(y_nt.view(), &|i| own[range.start + i])
            };
            featurizer.rows_later(&rows, &mut place).await?;
        }
        Ok(())
    }

    /// The map of a leaf on the device; `None` if the leaf is only an intercept. Evicts the least
    /// recently used leaf if necessary.
    fn load(&mut self, leaf: usize) -> Result<Option<&mut Featurizer<'m>>> {
        let Some(map) = self.map.map(leaf) else {
            return Ok(None);
        };
        let memory = self.run.memory / 2;
        let most = (memory / SHARE).clamp(1, self.map.tree().leaves() as u64);
        let own = match self.loaded.iter().position(|(known, _)| *known == leaf) {
            Some(at) => self.loaded.remove(at),
            None => {
                if self.loaded.len() as u64 >= most {
                    self.loaded.remove(0);
                }
                let (beta_dt, _) = self.map.coefficients(leaf, self.beta_dt);
                let branches = vec![Branch::outputs(map, beta_dt)];
                let run = self.run.silent().memory(memory / most);
                let targets = beta_dt.ncols();
                let mut featurizer = Featurizer::new(branches, targets, Destination::Host, run)?;
                featurizer.load()?;
                (leaf, featurizer)
            }
        };
        self.loaded.push(own);
        Ok(self.loaded.last_mut().map(|(_, featurizer)| featurizer))
    }
}
