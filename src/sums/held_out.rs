//! Sums of training rows and of validation rows for early stopping.

use crate::{Error, Result, normal::NormalEquations, store::Store, sums::Sums};

/// The prefix of the validation sums in a file.
const HELD_OUT: &str = "held_out";

/// The sums of training rows and of validation rows.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOutSums {
    /// Sums of training rows.
    pub fitted: NormalEquations,
    /// Sums of validation rows for early stopping, if used.
    pub held_out: Option<NormalEquations>,
}

impl Sums for HeldOutSums {
    const NAME: &'static str = "held-out-sums";

    fn rows(&self) -> u64 {
        self.fitted.rows + self.held_out.as_ref().map_or(0, |held| held.rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.fitted.merge(&other.fitted)?;
        match (&mut self.held_out, &other.held_out) {
            (Some(own), Some(other)) => own.merge(other),
            _ => Ok(()),
        }
    }

    fn subtract(&mut self, other: &Self) -> Result<()> {
        let mut fitted = self.fitted.clone();
        fitted.subtract(&other.fitted)?;
        if let (Some(own), Some(other)) = (&mut self.held_out, &other.held_out) {
            own.subtract(other)?;
        }
        self.fitted = fitted;
        Ok(())
    }

    fn fade(&mut self, share: f64) {
        self.fitted.fade(share);
        if let Some(held) = &mut self.held_out {
            held.fade(share);
        }
    }

    fn check(&self) -> Result<()> {
        // A part without weight is not checked: all rows are fitted then.
        let parts = [Some(&self.fitted), self.held_out.as_ref()];
        let mut some = parts.into_iter().flatten().filter(|sums| sums.weight > 0.0);
        match some.next() {
            None => self.fitted.check(),
            Some(first) => some.try_fold(first.check()?, |(), sums| sums.check()),
        }
    }

    fn are_of(&self, features: usize, outputs: usize) -> bool {
        self.fitted.are_of(features, outputs)
    }

    fn write(&self, store: &mut Store) {
        let parts = [
            ("fitted", Some(&self.fitted)),
            (HELD_OUT, self.held_out.as_ref()),
        ];
        for (name, sums) in parts {
            if let Some(sums) = sums {
                let mut inner = Store::default();
                sums.write(&mut inner);
                store.nest(name, inner);
            }
        }
    }

    fn read(store: &Store) -> Result<Self> {
        let fitted = NormalEquations::read(&store.nested("fitted"))?;
        let inner = store.nested(HELD_OUT);
        let held_out = if inner.has_property("rows") {
            Some(NormalEquations::read(&inner)?)
        } else {
            None
        };
        match &held_out {
            Some(held) if held.zty_dt.dim() != fitted.zty_dt.dim() => Err(Error::format(
                "the sums of rows that are fitted and held out do not go together",
            )),
            _ => Ok(Self { fitted, held_out }),
        }
    }
}
