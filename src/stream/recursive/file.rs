//! Serialization of a stream with the rows of its current block, so that it resumes with identical
//! bits.

use super::{Block, Recursive, RecursiveRidge};
use crate::{
    Error, Result,
    linalg::symmetric::{Panels, lower_entries, of_lower_entries},
    store::Store,
};
use std::path::Path;

const KIND: &str = "a stream";

/// Largest valid number of rows in a file.
const MOST_ROWS: u64 = 1 << 53;

fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}

impl RecursiveRidge {
    /// Saves the state to a file, atomically, for [`Self::load`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.store().save(KIND, path.as_ref())
    }

    /// Reads what [`Self::save`] wrote.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let store = Store::load(KIND, path)?;
        Self::read(&store).map_err(|e| Error::in_model(path, &e))
    }

    /// The bytes of the file that [`Self::save`] writes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.store().to_bytes(KIND)
    }

    /// Deserializes [`Self::to_bytes`]. Errors with [`Error::Format`] on other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&Store::from_bytes(bytes, KIND)?)
    }

    pub(in crate::stream) fn store(&self) -> Store {
        let mut store = Store::default();
        store.set("rule.penalty", self.rule.penalty);
        store.set("rule.half_life", self.rule.half_life);
        store.set("rule.intercept", self.rule.intercept);
        store.set("features", self.features);
        store.set("targets", self.targets);
        store.set("rows", self.rows);
        store.set("since_anew", self.since_anew);
        store.set("weight", self.weight);
        store.set("penalty", self.penalty);
        store.put_vector("inverse", &lower_entries(&self.inverse_mm));
        store.put_vector("minus_gram", &lower_entries(&self.minus_gram_mm));
        store.put_vector("zty", &self.zty_tm);
        store.put_vector("beta", &self.beta_tm);
        self.block.write(&mut store);
        store
    }

    pub(in crate::stream) fn read(store: &Store) -> Result<Self> {
        let rule = Recursive {
            penalty: store.get("rule.penalty")?,
            half_life: store.get("rule.half_life")?,
            intercept: store.get("rule.intercept")?,
        };
        let (features, targets): (usize, usize) = (store.get("features")?, store.get("targets")?);
        // Checks the numbers before memory of their size is allocated.
        rule.check(features)?;
        let size = features.checked_add(usize::from(rule.intercept));
        let entries = size.and_then(|size| size.checked_mul(size.checked_add(1)?));
        let (Some(size), Some(entries)) = (size, entries) else {
            return Err(Error::format("too many features for this machine"));
        };
        let of_targets = size.checked_mul(targets);
        let of_targets = of_targets.ok_or_else(|| Error::format("too many targets"))?;
        // Reads before memory of that size is allocated.
        let inverse = store.vector("inverse", entries / 2)?;
        let minus_gram = store.vector("minus_gram", entries / 2)?;
        let zty_tm = store.vector("zty", of_targets)?.to_vec();
        let beta_tm = store.vector("beta", of_targets)?.to_vec();
        let (rows, since_anew): (u64, u64) = (store.get("rows")?, store.get("since_anew")?);
        let (weight, penalty): (f64, f64) = (store.get("weight")?, store.get("penalty")?);
        let counts = rows <= MOST_ROWS && since_anew <= rows;
        if !(counts && (0.0..f64::INFINITY).contains(&weight) && is_positive(penalty)) {
            return Err(Error::format(format!(
                "a stream of {rows} rows, {since_anew} since its inverse, that count for {weight} \
                 beside a penalty of {penalty}"
            )));
        }
        let inverse_mm = of_lower_entries(size, inverse);
        Ok(Self {
            inverse: Panels::of(&inverse_mm),
            inverse_mm,
            minus_gram_mm: of_lower_entries(size, minus_gram),
            zty_tm,
            beta_tm,
            block: Block::read(store, size, targets)?,
            rows,
            since_anew,
            weight,
            penalty,
            ..rule.start(features, targets)?
        })
    }
}
