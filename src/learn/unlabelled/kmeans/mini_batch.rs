//! Incremental k-means by mini-batches.

use super::{
    centres_model,
    lloyd::{Moved, NONE, add, nearest},
};
use crate::{
    Error, Result,
    data::{ChunkSource, Schema},
    features::{Branch, Destination, FeatureMap, Featurizer},
    flow::Run,
    linalg::entries,
    model::{LinearModel, Model},
    text::counted,
};
use ndarray::{Array1, Array2, Axis, s};
use std::sync::Arc;

/// Incremental k-means: [`KMeans::start`](crate::models::KMeans) fits the first rows by Lloyd's
/// iteration, and each [`Self::add`] is one mini-batch (Sculley 2010). Its rows are assigned to the
/// nearest of the current centres; then each centre moves to the weighted mean of all rows ever
/// assigned to it.
///
/// This differs from Lloyd's iteration: a row keeps its first assignment, so other orders or
/// batches of rows give other centres, and a fit to all rows has a smaller inertia. For the same
/// reason rows cannot be subtracted: their assignments are not stored.
///
/// ```
/// use bochner::prelude::*;
/// let x = ndarray::array![[0.0], [0.1], [9.0], [9.1]];
/// let mut growing = KMeans::on(Fourier::new(Gaussian)).clusters(2).start(&x)?;
/// growing.add(&ndarray::array![[0.2], [9.2], [9.3]])?;
/// let model = growing.model()?;
/// let cluster = model.predict(&x)?;
/// assert!(cluster[0] == cluster[1] && cluster[2] == cluster[3] && cluster[0] != cluster[2]);
/// assert_eq!(growing.weights()[cluster[2]], 4.0);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GrowingClusters {
    map: Arc<dyn FeatureMap>,
    column_names: Option<Vec<String>>,
    schema: Option<Schema>,
    centres_kd: Array2<f64>,
    /// Sums and total weights of the rows assigned to each centre.
    sums_kd: Array2<f64>,
    weight_k: Array1<f64>,
    rows: u64,
    run: Run,
}

impl GrowingClusters {
    /// Continues from the clusters of a model, with the total weight (or number) of rows assigned
    /// to each, `[k]`, as if these had been one mini-batch. With weights of 0 the first batch alone
    /// determines the centres.
    ///
    /// Errors with [`Error::Parameter`] if the model is no k-means, and unless each cluster has one
    /// finite weight >= 0.
    #[doc(hidden)]
    pub fn resume(model: LinearModel, weights: Vec<f64>, run: Run) -> Result<Self> {
        if model.learner != "kmeans" {
            let problem = format!(
                "clusters go on from a k-means, and not from {}",
                model.learner
            );
            return Err(Error::parameter(problem));
        }
        let centres_kd = model.coefficients.beta_dt.t();
        let centres_kd = centres_kd.as_standard_layout().into_owned();
        if weights.len() != centres_kd.nrows() {
            return Err(Error::parameter(format!(
                "{} for {}",
                counted(weights.len(), "weight"),
                counted(centres_kd.nrows(), "cluster")
            )));
        }
        if let Some(bad) = weights.iter().find(|w| !(**w >= 0.0 && w.is_finite())) {
            let problem = format!("a cluster has the weight {bad}; give 0 or a positive number");
            return Err(Error::parameter(problem));
        }
        let weight_k = Array1::from(weights);
        Ok(Self {
            sums_kd: &centres_kd * &weight_k.view().insert_axis(Axis(1)),
            rows: if weight_k.sum() > 0.0 { model.rows } else { 0 },
            weight_k,
            centres_kd,
            map: Arc::from(model.map),
            column_names: model.column_names,
            schema: model.schema,
            run,
        })
    }

    /// Sets the run (device, memory and progress) of later batches.
    #[doc(hidden)]
    pub fn set_run(&mut self, run: Run) {
        self.run = run;
    }

    /// Number of rows added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Total weight of the rows assigned to each cluster, `[k]`; their number if rows have no
    /// weights.
    pub fn weights(&self) -> &[f64] {
        self.weight_k.as_slice().expect("standard layout")
    }

    /// The map drawn for the first rows.
    pub fn map(&self) -> &dyn FeatureMap {
        self.map.as_ref()
    }

    /// The current clusters, as a model of [`KMeans`](crate::models::KMeans).
    pub fn model(&self) -> Result<Model<Vec<usize>>> {
        let device = self.run.device.clone();
        Ok(Model::new(self.linear(), device, self.run.memory))
    }

    /// The linear model behind [`Self::model`].
    #[doc(hidden)]
    pub fn linear(&self) -> LinearModel {
        let map = Box::new(self.map.clone());
        let mut model = centres_model(map, &self.centres_kd, self.rows(), &self.run.device);
        let clusters = self.centres_kd.nrows() as f64;
        model.facts.insert("clusters".into(), clusters);
        LinearModel {
            column_names: self.column_names.clone(),
            schema: self.schema.clone(),
            ..model
        }
    }

    /// Adds the rows of `source` as one mini-batch.
    pub(crate) fn take_up(&mut self, source: &mut dyn ChunkSource) -> Result<()> {
        let centres_dk = self.centres_kd.t().mapv(entries::narrow);
        let centres_dk = centres_dk.as_standard_layout();
        let squares_k = entries::row_squares(self.centres_kd.view());
        let mut sums_kd = self.sums_kd.clone();
        let mut weight_k = self.weight_k.clone();
        let mut rows = self.rows;
        let branches = vec![Branch::features(self.map.as_ref())?];
        let mut featurizer =
            Featurizer::new(branches, source.targets(), Destination::Host, &self.run)?;
        featurizer.on_host(
            source,
            |chunk, range| {
                let weights = chunk.weights.as_ref();
                weights.map(|weights| weights.slice(s![range]).to_vec())
            },
            |branches, weights| {
                let found = nearest(branches[0], &centres_dk.view(), &squares_k);
                let each = found.iter().enumerate();
                let moved: Vec<_> = each
                    .map(|(b, near)| Moved {
                        at: b,
                        from: NONE,
                        to: near.cluster,
                        weight: weights.as_ref().map_or(1.0, |weights| weights[b]),
                    })
                    .collect();
                add(&mut sums_kd, branches[0], &moved);
                for moved in &moved {
                    weight_k[moved.to as usize] += moved.weight;
                }
                rows += moved.len() as u64;
                Ok(())
            },
        )?;
        drop(featurizer);
        (self.sums_kd, self.weight_k, self.rows) = (sums_kd, weight_k, rows);
        for (c, &weight) in self.weight_k.iter().enumerate() {
            // A centre without rows does not move.
            if weight > 0.0 {
                let mean = &self.sums_kd.row(c) / weight;
                self.centres_kd.row_mut(c).assign(&mean);
            }
        }
        Ok(())
    }
}
