//! [`AnySums`]: the sums of any learner.

use super::{NAME, mark, read_marked};
use crate::{
    Error, Result,
    normal::NormalEquations,
    store::Store,
    sums::{Embedding, HeldOutSums, RidgeSums, Sums},
};

/// The sums of any learner of this library that supports sums.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AnySums {
    /// Gaussian processes and kernel PCA.
    Normal(Box<NormalEquations>),
    /// Ridge regression.
    Ridge(Box<RidgeSums>),
    /// Greedy fits and boosting.
    HeldOut(Box<HeldOutSums>),
    /// Densities.
    Embedding(Embedding),
}

impl AnySums {
    /// Sums of no rows and no features.
    pub fn of_none() -> Self {
        Self::Normal(Box::new(NormalEquations::zero(0, 0)))
    }

    /// The name of this kind of sums.
    fn name(&self) -> &'static str {
        match self {
            Self::Normal(_) => NormalEquations::NAME,
            Self::Ridge(_) => RidgeSums::NAME,
            Self::HeldOut(_) => HeldOutSums::NAME,
            Self::Embedding(_) => Embedding::NAME,
        }
    }

    fn apart(&self, other: &Self) -> Error {
        Error::shape(format!(
            "{} and {} are sums of different learners",
            self.name(),
            other.name()
        ))
    }
}

impl Sums for AnySums {
    const NAME: &'static str = "any";

    fn rows(&self) -> u64 {
        match self {
            Self::Normal(sums) => sums.rows,
            Self::Ridge(sums) => sums.rows(),
            Self::HeldOut(sums) => sums.rows(),
            Self::Embedding(sums) => sums.rows(),
        }
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        match (&mut *self, other) {
            (Self::Normal(own), Self::Normal(other)) => own.merge(other),
            (Self::Ridge(own), Self::Ridge(other)) => own.merge(other),
            (Self::HeldOut(own), Self::HeldOut(other)) => own.merge(other),
            (Self::Embedding(own), Self::Embedding(other)) => own.merge(other),
            (own, other) => Err(own.apart(other)),
        }
    }

    fn subtract(&mut self, other: &Self) -> Result<()> {
        match (&mut *self, other) {
            (Self::Normal(own), Self::Normal(other)) => own.subtract(other),
            (Self::Ridge(own), Self::Ridge(other)) => own.subtract(other),
            (Self::HeldOut(own), Self::HeldOut(other)) => own.subtract(other),
            (Self::Embedding(own), Self::Embedding(other)) => own.subtract(other),
            (own, other) => Err(own.apart(other)),
        }
    }

    fn fade(&mut self, share: f64) {
        match self {
            Self::Normal(sums) => sums.fade(share),
            Self::Ridge(sums) => sums.fade(share),
            Self::HeldOut(sums) => sums.fade(share),
            Self::Embedding(sums) => sums.fade(share),
        }
    }

    fn of_no_rows(&self) -> Result<Self> {
        Ok(match self {
            Self::Normal(sums) => Self::Normal(Box::new(sums.of_no_rows()?)),
            Self::Ridge(sums) => Self::Ridge(Box::new(sums.of_no_rows()?)),
            Self::HeldOut(sums) => Self::HeldOut(Box::new(sums.of_no_rows()?)),
            Self::Embedding(sums) => Self::Embedding(sums.of_no_rows()?),
        })
    }

    fn check(&self) -> Result<()> {
        match self {
            Self::Normal(sums) => sums.check(),
            Self::Ridge(sums) => sums.check(),
            Self::HeldOut(sums) => sums.check(),
            Self::Embedding(sums) => sums.check(),
        }
    }

    fn are_of(&self, features: usize, outputs: usize) -> bool {
        match self {
            Self::Normal(sums) => sums.are_of(features, outputs),
            Self::Ridge(sums) => sums.are_of(features, outputs),
            Self::HeldOut(sums) => sums.are_of(features, outputs),
            Self::Embedding(sums) => sums.are_of(features, outputs),
        }
    }

    /// Stores the kind next to the sums.
    fn write(&self, store: &mut Store) {
        let mut own = Store::default();
        match self {
            Self::Normal(sums) => write_marked(sums.as_ref(), &mut own),
            Self::Ridge(sums) => write_marked(sums.as_ref(), &mut own),
            Self::HeldOut(sums) => write_marked(sums.as_ref(), &mut own),
            Self::Embedding(sums) => write_marked(sums, &mut own),
        }
        store.nest("of", own);
    }

    fn read(store: &Store) -> Result<Self> {
        let own = store.nested("of");
        match own.text(NAME)? {
            NormalEquations::NAME => Ok(Self::Normal(Box::new(read_marked(&own)?))),
            RidgeSums::NAME => Ok(Self::Ridge(Box::new(read_marked(&own)?))),
            HeldOutSums::NAME => Ok(Self::HeldOut(Box::new(read_marked(&own)?))),
            Embedding::NAME => Ok(Self::Embedding(read_marked(&own)?)),
            other => Err(Error::format(format!(
                "no learner is known that sums {other}; use a newer bochner"
            ))),
        }
    }
}

fn write_marked<S: Sums>(sums: &S, store: &mut Store) {
    sums.write(store);
    mark::<S>(store);
}

/// Conversion between one kind of sums and [`AnySums`].
pub trait OneOfSums: Sums {
    /// Wraps the sums.
    fn any(self) -> AnySums;

    /// Unwraps sums of this kind; `None` for another kind.
    fn of_any(sums: AnySums) -> Option<Self>;
}

macro_rules! one_of {
    ($sums:ty, $variant:ident) => {
        impl OneOfSums for $sums {
            fn any(self) -> AnySums {
                AnySums::$variant(self.into())
            }
            fn of_any(sums: AnySums) -> Option<Self> {
                match sums {
                    AnySums::$variant(sums) => Some(one_of!(@take $variant sums)),
                    _ => None,
                }
            }
        }
    };
    (@take Embedding $sums:ident) => { $sums };
    (@take $variant:ident $sums:ident) => { *$sums };
}
one_of!(NormalEquations, Normal);
one_of!(RidgeSums, Ridge);
one_of!(HeldOutSums, HeldOut);
one_of!(Embedding, Embedding);
