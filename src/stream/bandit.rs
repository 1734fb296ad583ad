//! Contextual bandits: for each row one of a few arms is chosen, and only its reward is observed.

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

/// How an arm is chosen, from its predicted reward `m` and the root `s` of its
/// [spread](RecursiveRidge::spread).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// The largest `m + width s`: LinUCB with separate coefficients for each arm (Li, Chu, Langford
    /// & Schapire 2010, algorithm 1). The bound holds for a width of the noise times `sqrt(D ln
    /// t)`, plus the length of the coefficients times the root of the penalty (Abbasi-Yadkori, Pal
    /// & Szepesvari 2011, theorem 2); with a much smaller width, an arm with a few bad rewards is
    /// not tried again.
    UpperBound(f64),
    /// The largest of samples from `N(m, (width s)^2)`: Thompson sampling (Agrawal & Goyal 2013,
    /// algorithm 1, with separate coefficients for each arm).
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
/// chosen for. With a half-life, the weights of an arm decrease with its own rows.
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
    /// Starts with `arms` arms without data.
    ///
    /// Errors with [`Error::Parameter`] for 0 arms, and unless the width is finite and >= 0; and as
    /// [`Recursive::start`] does.
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

    /// The regression of each arm.
    pub fn arms(&self) -> &[RecursiveRidge] {
        &self.arms
    }

    /// Chooses an arm for a row `[D]`; the first of equal ones. With an intercept, arms that were
    /// never chosen go first. Errors with [`Error::Shape`] and [`Error::Parameter`] as
    /// [`RecursiveRidge::predict`] does.
    pub fn choose(&mut self, z_d: &[f64]) -> Result<usize> {
        let scores = self.scores(z_d)?;
        self.rounds += 1;
        let best = (0..scores.len())
            .rev()
            .max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        Ok(best.expect("an arm"))
    }

    /// Score of each arm for the next choice.
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
    /// does, and with [`Error::Parameter`] on an invalid arm.
    pub fn learn(&mut self, arm: usize, z_d: &[f64], reward: f64) -> Result<()> {
        let arms = self.arms.len();
        let Some(arm) = self.arms.get_mut(arm) else {
            return Err(Error::parameter(format!("arm {arm} of a bandit of {arms}")));
        };
        arm.learn(z_d, &[reward], 1.0)
    }

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
        // An arm was chosen in a round for each of its rows, and rounds are bounded.
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
