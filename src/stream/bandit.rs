//! Bandits: of a few arms one is chosen for each row, and its reward alone is seen.

#[cfg(test)]
mod tests;

use super::{Recursive, RecursiveRidge};
use crate::{
    Error, Result,
    seed::{Seed, Stream},
    store::Store,
};
use std::path::Path;

const KIND: &str = "a bandit";

/// How an arm is chosen, by the reward `m` that is predicted of each and by the root `s` of its
/// [spread](RecursiveRidge::spread).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// The largest `m + width s`: LinUCB with an arm's own coefficients (Li, Chu, Langford &
    /// Schapire 2010, algorithm 1). It covers the truth at a width of the noise times
    /// `sqrt(D ln t)` beside the length of the coefficients times the root of the penalty
    /// (Abbasi-Yadkori, Pal & Szepesvari 2011, theorem 2); with much less, an arm that was unlucky
    /// once is not tried again.
    UpperBound(f64),
    /// The largest of numbers drawn from `N(m, (width s)^2)`: Thompson sampling (Agrawal & Goyal
    /// 2013, algorithm 1, where each arm has coefficients of its own).
    Thompson(f64),
}

impl Choice {
    fn width(self) -> f64 {
        match self {
            Self::UpperBound(width) | Self::Thompson(width) => width,
        }
    }

    fn check(self) -> Result<()> {
        let width = self.width();
        if width >= 0.0 && width.is_finite() {
            return Ok(());
        }
        Err(Error::parameter(format!(
            "the width of a choice is {width}; it is a number, 0 or more"
        )))
    }
}

/// Arms whose rewards are linear in the features of a row, each learned from the rows that it was
/// chosen for. With a half-life, an arm forgets by its own rows.
///
/// ```
/// use bochner::{seed::Seed, stream::{Bandit, Choice, Recursive}};
/// let mut bandit = Bandit::new(Recursive::default(), 1, 2, Choice::UpperBound(0.5), Seed(0))?;
/// for t in 0..200 {
///     let x = f64::from(t % 11) / 10.0;
///     let arm = bandit.choose(&[x])?;
///     // The first arm pays for small x, the second for large.
///     let reward = if arm == 0 { 1.0 - x } else { x };
///     bandit.learn(arm, &[x], reward)?;
/// }
/// assert_eq!([bandit.choose(&[0.1])?, bandit.choose(&[0.9])?], [0, 1]);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bandit {
    arms: Vec<RecursiveRidge>,
    choice: Choice,
    seed: Seed,
    rounds: u64,
}

impl Bandit {
    /// So many arms, of which nothing is known.
    ///
    /// Errors with [`Error::Parameter`] where there is no arm, and unless the width is finite and 0
    /// or more; as [`Recursive::start`] does, too.
    pub fn new(
        rule: Recursive,
        features: usize,
        arms: usize,
        choice: Choice,
        seed: Seed,
    ) -> Result<Self> {
        if arms == 0 {
            return Err(Error::parameter("a bandit has one arm or more"));
        }
        choice.check()?;
        Ok(Self {
            arms: vec![rule.start(features, 1)?; arms],
            choice,
            seed,
            rounds: 0,
        })
    }

    /// What is known of each arm.
    pub fn arms(&self) -> &[RecursiveRidge] {
        &self.arms
    }

    /// The arm for a row `[D]`; the first of those that are level. An arm that never was chosen,
    /// beside an intercept, goes first. Errors with [`Error::Shape`] and [`Error::Parameter`] as
    /// [`RecursiveRidge::predict`] does.
    pub fn choose(&mut self, z_d: &[f64]) -> Result<usize> {
        let scores = self.scores(z_d)?;
        self.rounds += 1;
        let best = (0..scores.len())
            .rev()
            .max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        Ok(best.expect("an arm"))
    }

    /// What the next choice goes by, of each arm.
    fn scores(&self, z_d: &[f64]) -> Result<Vec<f64>> {
        let mut draws = self.seed.stream(Stream::Arms, self.rounds);
        let of_arm = |arm: &RecursiveRidge| {
            let drawn = match self.choice {
                Choice::UpperBound(width) => width,
                Choice::Thompson(width) => width * draws.normal(),
            };
            let spread = arm.spread(z_d)?;
            Ok(if spread.is_infinite() {
                spread
            } else {
                arm.predict(z_d)?[0] + drawn * spread.sqrt()
            })
        };
        self.arms.iter().map(of_arm).collect()
    }

    /// Learns the reward of the arm that was chosen for a row. Errors as [`RecursiveRidge::learn`]
    /// does, and with [`Error::Parameter`] on an arm that is not there.
    pub fn learn(&mut self, arm: usize, z_d: &[f64], reward: f64) -> Result<()> {
        let arms = self.arms.len();
        let Some(arm) = self.arms.get_mut(arm) else {
            return Err(Error::parameter(format!("arm {arm} of a bandit of {arms}")));
        };
        arm.learn(z_d, &[reward], 1.0)
    }

    /// Writes what it knows to a file, whole or not at all, to go on from by [`Self::load`].
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

    /// What [`Self::to_bytes`] gave. Errors with [`Error::Format`] on other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(&Store::from_bytes(bytes, KIND)?)
    }

    fn store(&self) -> Store {
        let mut store = Store::default();
        let name = match self.choice {
            Choice::UpperBound(_) => "upper bound",
            Choice::Thompson(_) => "thompson",
        };
        store.set("choice", name);
        store.set("width", self.choice.width());
        store.set("seed", self.seed.0);
        store.set("rounds", self.rounds);
        store.set("arms", self.arms.len());
        for (k, arm) in self.arms.iter().enumerate() {
            store.nest(&format!("arm.{k}"), arm.store());
        }
        store
    }

    fn read(store: &Store) -> Result<Self> {
        let width = store.get("width")?;
        let choice = match store.text("choice")? {
            "upper bound" => Choice::UpperBound(width),
            "thompson" => Choice::Thompson(width),
            other => return Err(Error::format(format!("a choice by {other:?}"))),
        };
        let arms: usize = store.get("arms")?;
        let arm = |k| RecursiveRidge::read(&store.nested(&format!("arm.{k}")));
        let arms = (0..arms).map(arm).collect::<Result<Vec<_>>>()?;
        choice.check()?;
        let Some(first) = arms.first() else {
            return Err(Error::format("a bandit without arms"));
        };
        let alike = |arm: &RecursiveRidge| arm.features() == first.features() && arm.targets() == 1;
        let rounds: u64 = store.get("rounds")?;
        // Each row that an arm learned was chosen for in a round, of which nobody sees as many.
        if !arms.iter().all(alike) || rounds > 1 << 53 {
            return Err(Error::format(format!(
                "a bandit of {rounds} rounds whose arms are not of one reward and the same features"
            )));
        }
        Ok(Self {
            arms,
            choice,
            seed: Seed(store.get("seed")?),
            rounds,
        })
    }
}
