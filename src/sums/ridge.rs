//! Sums of ridge regression.

use crate::{Error, Result, data::KeptRows, normal::NormalEquations, store::Store, sums::Sums};

/// Prefixes of the normal equations and of the kept rows in a file.
const NORMAL: &str = "normal";

const KEPT: &str = "kept";

/// Sums of ridge regression: the normal equations and, if a penalty has to be chosen, a sample of
/// the rows for leave-one-out errors.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgeSums {
    /// The sums of all rows.
    pub normal: NormalEquations,
    /// Sampled rows for the choice of a penalty.
    pub(crate) kept: Option<KeptRows>,
}

impl RidgeSums {
    /// Number of distinct sampled rows, if any are kept.
    #[doc(hidden)]
    pub fn kept_rows(&self) -> Option<usize> {
        self.kept.as_ref().map(KeptRows::len)
    }

    /// Pairs the sampled rows of both; errors if only one of the two has some.
    fn kept_of<'a>(
        &'a mut self,
        other: &'a Self,
    ) -> Result<Option<(&'a mut KeptRows, &'a KeptRows)>> {
        match (&mut self.kept, &other.kept) {
            (Some(own), Some(other)) => Ok(Some((own, other))),
            (None, None) => Ok(None),
            _ => Err(Error::shape(
                "sums that keep rows to choose a penalty by do not go with sums that keep none",
            )),
        }
    }
}

impl Sums for RidgeSums {
    const NAME: &'static str = "ridge-sums";

    fn rows(&self) -> u64 {
        self.normal.rows
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        let mut normal = std::mem::replace(&mut self.normal, NormalEquations::zero(0, 0));
        let merged = normal.merge(&other.normal);
        self.normal = normal;
        merged?;
        match self.kept_of(other)? {
            Some((own, other)) => own.merge(other),
            None => Ok(()),
        }
    }

    fn subtract(&mut self, other: &Self) -> Result<()> {
        let mut left = self.clone();
        left.normal.subtract(&other.normal)?;
        if let Some((own, other)) = left.kept_of(other)? {
            own.subtract(other)?;
        }
        *self = left;
        Ok(())
    }

    fn fade(&mut self, share: f64) {
        self.normal.fade(share);
        if let Some(kept) = &mut self.kept {
            kept.fade(share);
        }
    }

    fn of_no_rows(&self) -> Result<Self> {
        Ok(Self {
            normal: self.normal.of_no_rows()?,
            // An empty reservoir of the same shape.
            kept: self.kept.as_ref().map(KeptRows::none),
        })
    }

    fn check(&self) -> Result<()> {
        self.normal.check()
    }

    fn are_of(&self, features: usize, outputs: usize) -> bool {
        self.normal.are_of(features, outputs)
    }

    fn write(&self, store: &mut Store) {
        let mut normal = Store::default();
        self.normal.write(&mut normal);
        store.nest(NORMAL, normal);
        if let Some(kept) = &self.kept {
            let mut rows = Store::default();
            kept.write(&mut rows);
            store.nest(KEPT, rows);
        }
        store.set(KEPT, self.kept.is_some());
    }

    fn read(store: &Store) -> Result<Self> {
        let kept: bool = store.get(KEPT)?;
        Ok(Self {
            normal: NormalEquations::read(&store.nested(NORMAL))?,
            kept: if kept {
                Some(KeptRows::read(&store.nested(KEPT))?)
            } else {
                None
            },
        })
    }
}
