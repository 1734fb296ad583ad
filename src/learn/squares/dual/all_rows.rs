//! All rows of a fit in the dual, held in memory with their features.

use super::{Solved, has_room_to_choose, held_bytes};
use crate::{
    Error, Result,
    data::{Chunk, ChunkSource, DistinctRow, Observations, hash_of_row},
    features::{Branch, Destination, FeatureMap, Featurizer},
    flow::Run,
    learn::squares::lambda,
    linalg::entries,
    model::{LeftOutScores, Targets},
    normal::double::input_of,
    solve::{Dual, WeightedRows},
};
use ndarray::{Array1, Array2, Axis, s};
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hasher},
};

/// Features, targets and weights of all rows.
pub(super) struct AllRows {
    pub(super) z_nd: Array2<f64>,
    pub(super) y_nt: Array2<f64>,
    pub(super) weights_n: Option<Array1<f64>>,
    /// Group of each row; rows of a group are left out together. `None` if there are no groups.
    pub(super) groups_n: Option<Vec<u32>>,
    /// Identifier of each row.
    pub(super) id_n: Vec<u64>,
}

impl AllRows {
    /// Whether there are rows with positive weight, and enough memory for leave-one-out errors.
    pub(super) fn can_be_left_out(&self, run: &Run) -> bool {
        let (rows, features) = self.z_nd.dim();
        self.weights().sum() > 0.0 && has_room_to_choose(rows as u64, features, run)
    }

    /// Solves, and computes leave-one-out scores.
    pub(super) fn left_out(self, dual: Dual) -> Result<(Solved, Option<LeftOutScores>)> {
        let rows = self.z_nd.nrows();
        let (held, observations) = self.merged();
        let weights_n = held.weights();
        let weighted = WeightedRows {
            weights_n: weights_n.view(),
            observations: &observations,
        };
        let any = |_: &Array1<f64>| 0.0;
        let lambdas = [dual.lambda];
        let how = (lambdas.as_slice(), 0, &any as &dyn Fn(&Array1<f64>) -> f64);
        let data = (held.z_nd, held.y_nt);
        let (_, mut found) = Dual::choose(dual.intercept, data, weighted, how, None)?;
        let none = || Error::numerical("no penalty has a finite held-out error");
        let (_, one) = found.remove(&0).ok_or_else(none)?;
        let solved = (
            one.coefficients,
            one.effective_dimension.max(0.0),
            rows as u64,
        );
        Ok((solved, Some(known_by(one.scores, &held.id_n))))
    }

    /// Weight of each row, 1 if there are none.
    pub(super) fn weights(&self) -> Array1<f64> {
        let ones = || Array1::ones(self.z_nd.nrows());
        self.weights_n.clone().unwrap_or_else(ones)
    }

    /// Merges equal rows into one of their total weight, drops rows of weight 0, and counts the
    /// observations of each row.
    pub(super) fn merged(self) -> (Self, Observations) {
        let weights_n = self.weights();
        let values = |i: usize| self.z_nd.row(i).into_iter().chain(self.y_nt.row(i));
        let hash = |i: usize| hash_of(values(i));
        let (mut first, mut weights, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        let mut places = HashMap::new();
        for i in (0..weights_n.len()).filter(|&i| weights_n[i] > 0.0) {
            let place = *places.entry(hash(i)).or_insert(first.len());
            match first.get(place) {
                Some(&same) if values(same).eq(values(i)) => {
                    weights[place] += weights_n[i];
                    copies[place] += 1;
                }
                _ => {
                    first.push(i);
                    weights.push(weights_n[i]);
                    copies.push(1);
                }
            }
        }
        let distinct = (0..first.len()).map(|place| DistinctRow {
            features_hash: hash_of(self.z_nd.row(first[place]).iter()),
            weight: weights[place],
            copies: copies[place],
        });
        let observations = Observations::count(&Vec::from_iter(distinct));
        let weights_n = Some(Array1::from(weights));
        if first.len() == self.z_nd.nrows() {
            return (Self { weights_n, ..self }, observations);
        }
        let groups_n = self.groups_n.as_ref();
        let merged = Self {
            groups_n: groups_n.map(|groups| first.iter().map(|&i| groups[i]).collect()),
            z_nd: self.z_nd.select(Axis(0), &first),
            y_nt: self.y_nt.select(Axis(0), &first),
            weights_n,
            id_n: first.iter().map(|&i| self.id_n[i]).collect(),
        };
        (merged, observations)
    }

    /// Variances of the targets; 1 for a constant.
    pub(super) fn variances(&self) -> Array1<f64> {
        let weights_n = self.weights();
        let weight = weights_n.sum();
        let squares_nt = self.y_nt.mapv(entries::square);
        let (sum_t, square_t) = (weights_n.dot(&self.y_nt), weights_n.dot(&squares_nt));
        lambda::variances((&sum_t, &square_t), weight)
    }
}

/// Hash of the bits of the values.
fn hash_of<'a>(values: impl Iterator<Item = &'a f64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    values.for_each(|v| hasher.write_u64(v.to_bits()));
    hasher.finish()
}

/// Reads all rows; returns `None` as soon as they exceed the memory.
pub(super) fn hold(
    map: &dyn FeatureMap,
    source: &mut dyn ChunkSource,
    targets: &Targets,
    run: &Run,
) -> Result<Option<AllRows>> {
    let features = map.output_dim();
    let branches = vec![Branch::features(map)?];
    let mut featurizer = Featurizer::new(branches, source.targets(), Destination::Host, run)?;
    let (mut z, mut y, mut weights, mut id_n) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut seen, mut full) = (0, false);
    // Columns without a map are copied exactly.
    let plain = input_of(map, &run.device);
    let with = |chunk: &Chunk, rows: std::ops::Range<usize>| {
        let exact = plain.map(|input| input.apply(&chunk.x.slice(rows.clone())));
        let ids: Vec<u64> = rows.clone().map(|i| hash_of_row(chunk, i)).collect();
        let y = chunk.y.slice(s![rows.clone(), ..]).to_owned();
        let weights = chunk.weights.as_ref().map(|w| w.slice(s![rows]).to_owned());
        (y, weights, ids, exact)
    };
    let read = featurizer.on_host(source, with, |z_nd, (y_nt, weights_n, ids, exact)| {
        seen += y_nt.nrows() as u64;
        if held_bytes(seen, features) > run.memory {
            full = true;
            return Err(Error::shape("there are more rows than memory has room for"));
        }
        match exact {
            Some(exact_nd) => z.extend(exact_nd?),
            None => z.extend(z_nd[0].iter().map(|&z| f64::from(z))),
        }
        // Host sums are in f64, so the shift against f32 rounding is undone.
        let encoded = targets.encode(y_nt.view())?;
        let shift: Array1<f64> = (0..targets.outputs()).map(|k| targets.shift(k)).collect();
        y.extend(encoded + shift);
        weights.extend(weights_n.into_iter().flatten());
        id_n.extend(ids);
        Ok(())
    });
    if full {
        return Ok(None);
    }
    read?;
    let rows = seen as usize;
    let shape = |e: ndarray::ShapeError| Error::shape(e.to_string());
    Ok(Some(AllRows {
        z_nd: Array2::from_shape_vec((rows, features), z).map_err(shape)?,
        y_nt: Array2::from_shape_vec((rows, targets.outputs()), y).map_err(shape)?,
        weights_n: source.is_weighted().then(|| Array1::from(weights)),
        groups_n: None,
        id_n,
    }))
}

/// Replaces row numbers by identifiers derived from the contents of the rows.
pub(super) fn known_by(scores: LeftOutScores, id_n: &[u64]) -> LeftOutScores {
    let places = scores.id_m.iter().map(|&place| place as usize);
    let id_m = places
        .filter_map(|place| id_n.get(place).copied())
        .collect();
    LeftOutScores { id_m, ..scores }
}
