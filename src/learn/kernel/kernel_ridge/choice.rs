//! Chooses the penalty of kernel ridge regression by leave-one-out errors.

use super::read;
use crate::{
    Error, Result,
    data::{
        ChunkSource, DistinctRow, KeptRows, Observations, Rows, grouped,
        hash_of_contents as contents,
    },
    features::KernelColumnsMap,
    flow::Run,
    learn::{
        Lambda,
        squares::lambda::{self, ascending, relative, variances},
    },
    linalg::entries,
    model::{HeldOut, LambdaCurve, LambdaPoint, LinearModel, Targets},
    solve::{WeightedRows, descend, kernel_left_out},
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use std::collections::BTreeMap;

/// Default maximum of rows whose kernel matrix decides: some seconds.
const ROWS: usize = 2048;
/// Minimum number of deciding rows if memory is scarce.
const LEAST_ROWS: usize = 256;
/// Bytes per pair of rows: the kernel matrix and a factor of it.
const PAIR_BYTES: u64 = 16;

/// Candidate penalties and how to choose among them.
pub(in crate::learn) struct Choice {
    lambdas: Vec<f64>,
    /// Maximum number of deciding rows.
    most: usize,
}

/// Deciding rows: all distinct rows, or a uniform sample of them.
pub(in crate::learn) struct Deciding {
    /// Their indices among all rows; `None` for all rows in order.
    places: Option<Vec<usize>>,
    /// Total weight of each distinct row.
    weights_n: Array1<f64>,
    /// Number of observations of each distinct row.
    observations: Observations,
    /// Total weight of all rows divided by that of the deciding rows.
    share: f64,
    /// Rows that are left out together if rows have groups.
    folds: Option<Vec<Vec<usize>>>,
}

/// A penalty, and the curve of errors if it was chosen.
pub(in crate::learn) struct Chosen {
    pub(in crate::learn) lambda: f64,
    curve: Option<LambdaCurve>,
}

impl Chosen {
    /// A given penalty.
    pub(in crate::learn) fn given(lambda: f64) -> Self {
        Self {
            lambda,
            curve: None,
        }
    }

    /// Stores the curve of errors in a model.
    pub(in crate::learn) fn keep(self, model: &mut LinearModel) {
        if let Some(curve) = self.curve {
            lambda::keep(model, curve);
        }
    }
}

impl Choice {
    /// `None` if a single penalty is given. `room` is the memory in bytes. Errors with
    /// [`Error::Parameter`] on invalid penalties, and with [`Error::Unsupported`] on folds.
    pub(in crate::learn) fn from_penalties(lambda: &Lambda, room: u64) -> Result<Option<Self>> {
        let Some(of) = lambda.candidates() else {
            return Ok(None);
        };
        let room = usize::try_from((room / PAIR_BYTES).isqrt()).unwrap_or(usize::MAX);
        let asked = match lambda {
            Lambda::Best { by, .. } => match by {
                HeldOut::LeaveOneOut => usize::MAX,
                HeldOut::LeaveSomeOut(rows) => *rows,
                HeldOut::Folds(_) => {
                    let problem = "kernel machines leave out each row in turn, not folds";
                    return Err(Error::unsupported(problem));
                }
            },
            _ => ROWS,
        };
        Ok(Some(Self {
            lambdas: ascending(&of)?,
            most: asked.min(room.max(LEAST_ROWS)).max(1),
        }))
    }

    /// Sampler of rows to keep during a pass; `size` is the number of feature and target columns.
    pub(in crate::learn) fn rows(&self, size: (usize, usize)) -> KeptRows {
        let fitting = Lambda::Usual.rows_kept(size).unwrap_or(self.most);
        KeptRows::new(self.most.min(fitting), size)
    }

    /// Selects the deciding rows: the distinct rows of positive weight with the smallest hashes,
    /// which do not depend on the order. Equal rows in several groups count as distinct.
    pub(in crate::learn) fn among(
        &self,
        x: &Rows,
        y_nt: ArrayView2<'_, f64>,
        weights_n: &Array1<f64>,
        groups_n: Option<&[u32]>,
    ) -> Deciding {
        let hash = |i: usize, y: ArrayView1<'_, f64>| match x {
            Rows::F32(x) => contents(x.row(i).iter().map(|&v| f64::from(v)), y),
            Rows::F64(x) => contents(x.row(i).iter().copied(), y),
        };
        let mut rows: BTreeMap<(u64, u32), (usize, DistinctRow)> = BTreeMap::new();
        for i in (0..weights_n.len()).filter(|&i| weights_n[i] > 0.0) {
            let group = groups_n.map_or(0, |groups_n| groups_n[i]);
            let new = || DistinctRow {
                features_hash: hash(i, ArrayView1::from(&[])),
                weight: 0.0,
                copies: 0,
            };
            let key = (hash(i, y_nt.row(i)), group);
            let (_, row) = rows.entry(key).or_insert_with(|| (i, new()));
            row.weight += weights_n[i];
            row.copies += 1;
        }
        let mut some = Vec::from_iter(rows.into_values().take(self.most));
        some.sort_unstable_by_key(|(i, _)| *i);
        let (places, distinct): (Vec<usize>, Vec<DistinctRow>) = some.into_iter().unzip();
        let own = distinct.iter().map(|row| row.weight).sum::<f64>();
        let groups_m = groups_n.map(|groups_n| places.iter().map(|i| groups_n[*i]));
        Deciding {
            folds: groups_m.and_then(|groups_m| grouped::choosing(&Vec::from_iter(groups_m))),
            weights_n: distinct.iter().map(|row| row.weight).collect(),
            observations: Observations::count(&distinct),
            places: (places.len() != weights_n.len()).then_some(places),
            share: weights_n.sum() / own,
        }
    }

    /// The penalty with the least error on the deciding rows, from the kernel matrix and the
    /// targets of all rows.
    pub(in crate::learn) fn choose(
        &self,
        (k_nn, y_nt): (&Array2<f64>, &Array2<f64>),
        deciding: &Deciding,
        intercept: bool,
    ) -> Result<Chosen> {
        match &deciding.places {
            // Without rows of positive weight, the fit itself reports the error.
            Some(places) if places.is_empty() => Ok(Chosen::given(Lambda::USUAL)),
            None => self.walk((k_nn, y_nt), deciding, intercept),
            Some(places) => {
                let k_mm = Array2::from_shape_fn((places.len(), places.len()), |(i, j)| {
                    k_nn[[places[i], places[j]]]
                });
                let y_mt = y_nt.select(Axis(0), places);
                self.walk((&k_mm, &y_mt), deciding, intercept)
            }
        }
    }

    /// As [`Self::choose`], for rows sampled from all rows, whose total weight is `weight`.
    pub(in crate::learn) fn choose_by(
        &self,
        kept: &KeptRows,
        columns: &KernelColumnsMap,
        (targets, weight, intercept): (&Targets, f64, bool),
        run: &Run,
    ) -> Result<Chosen> {
        if kept.is_empty() {
            return Ok(Chosen::given(Lambda::USUAL));
        }
        // The minimum number of rows decides even if memory has less room than their kernel takes.
        let least = PAIR_BYTES * (kept.len() as u64).pow(2);
        let run = run.silent().memory(run.memory.max(least));
        let mut source = kept.source();
        let folds = source
            .groups()
            .and_then(|groups| grouped::choosing(&groups));
        let (x, y_nt, weights_n) = read(&mut source, targets, &run)?;
        let k_nn = columns.with_all(&x)?.gram()?;
        let own = weights_n.sum();
        let deciding = Deciding {
            places: None,
            weights_n,
            observations: kept.observations(),
            share: if kept.are_all() { 1.0 } else { weight / own },
            folds,
        };
        self.walk((&k_nn, &y_nt), &deciding, intercept)
    }

    /// Evaluates penalties with the deciding rows at the same `lambda W` as for all rows: this
    /// ratio of noise variance to signal variance does not depend on the number of rows.
    fn walk(
        &self,
        (k_nn, y_nt): (&Array2<f64>, &Array2<f64>),
        deciding: &Deciding,
        intercept: bool,
    ) -> Result<Chosen> {
        let weights_n = deciding.weights_n.view();
        let squares_nt = y_nt.mapv(entries::square);
        let (sum_t, square_t) = (weights_n.dot(y_nt), weights_n.dot(&squares_nt));
        let variances_t = variances((&sum_t, &square_t), weights_n.sum());
        // A share of 1 up to rounding means that no rows were dropped.
        let all = deciding.share < 1.0 + 1e-9;
        let times = if all { 1.0 } else { deciding.share };
        let mut refused = None;
        let usual = lambda::place_of_usual(&self.lambdas);
        let (best, found) = descend(self.lambdas.len(), usual, |place| {
            let how = (self.lambdas[place] * times, intercept);
            let folds = deciding.folds.as_deref();
            let rows = WeightedRows {
                weights_n,
                observations: &deciding.observations,
            };
            let one = match kernel_left_out(k_nn, y_nt.view(), rows, how, folds) {
                Err(error @ Error::Numerical(_)) => {
                    refused = Some(error);
                    return Ok(None);
                }
                one => one?,
            };
            let error = relative(&one.errors_t, &variances_t);
            Ok(error.is_finite().then_some((error, one)))
        })?;
        let none = || Error::numerical("no penalty has a finite held-out error");
        let best = best.ok_or_else(|| refused.unwrap_or_else(none))?;
        let points = found.iter().map(|(&place, (error, one))| LambdaPoint {
            lambda: self.lambdas[place],
            error: *error,
            effective_dimension: one.effective_dimension,
        });
        let by = match &deciding.folds {
            Some(folds) => HeldOut::Folds(folds.len()),
            None if all => HeldOut::LeaveOneOut,
            None => HeldOut::LeaveSomeOut(weights_n.len()),
        };
        let points = points.collect();
        Ok(Chosen {
            lambda: self.lambdas[best],
            curve: Some(LambdaCurve { by, points }),
        })
    }
}
