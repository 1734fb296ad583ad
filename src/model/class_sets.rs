//! Conformal prediction sets of classes.

use super::conformal::{rank_at_level, thinned};
use crate::{
    Error, Result,
    error::Remedy,
    model::{CalibratedOn, LinearModel, Targets},
    store::Store,
};
use ndarray::{Array2, ArrayView1};

/// Maximum number of scores kept.
const MOST: usize = 1024;

const SCORES: &str = "class_sets";
const ON: &str = "class_sets_on";

/// Calibration of prediction sets: adaptive prediction sets (Romano, Sesia & Candès 2020,
/// "Classification with valid and adaptive coverage").
///
/// The score of a row is the total probability of the classes more likely than the right one, `s =
/// sum_{j: p_j > p_y} p_j`: without the random share of the class itself, so that the same row
/// always has the same set, and none is empty. A set of level p has all classes whose score is at
/// most the `ceil((m + 1) p)`-th smallest of m unseen rows. If rows are exchangeable with a
/// calibration set, it contains the right class at least with this probability; with leave-one-out
/// scores approximately, or more often (Barber, Candès, Ramdas & Tibshirani 2021). If the most
/// likely class alone is right more often than p, sets have one class and a higher coverage than
/// requested.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassSets {
    /// Ascending.
    score_m: Vec<f64>,
    /// Source of the rows.
    on: CalibratedOn,
}

impl ClassSets {
    /// From probabilities `[m, classes]` of unseen rows, their classes and weights.
    #[cfg_attr(
        not(feature = "learn"),
        expect(dead_code, reason = "what fits makes it")
    )]
    pub(crate) fn of_rows(
        p_mt: &Array2<f64>,
        class_m: &[usize],
        weight_m: &[f64],
        on: CalibratedOn,
    ) -> Self {
        let rows = p_mt.rows().into_iter().zip(class_m);
        let score_m: Vec<f64> = rows.map(|(p_t, &class)| likelier(p_t, class)).collect();
        Self {
            score_m: thinned(&score_m, weight_m, MOST),
            on,
        }
    }

    /// Number of calibration rows, or of scores kept of them.
    pub fn rows(&self) -> usize {
        self.score_m.len()
    }

    /// Source of these rows.
    pub fn on(&self) -> CalibratedOn {
        self.on
    }

    /// Which classes are in the set of each row, from their probabilities `[n, classes]`. Errors
    /// with [`Error::Parameter`] unless the level is between 0 and 1, and low enough for the number
    /// of calibration rows.
    pub fn sets(&self, p_nt: &Array2<f64>, level: f64) -> Result<Array2<bool>> {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::parameter(format!(
                "the level of a set is {level}; it must lie between 0 and 1, both excluded"
            )));
        }
        let most = self.score_m[rank_at_level(self.rows(), level, "scored row")?];
        let is_in = |(i, k): (usize, usize)| likelier(p_nt.row(i), k) <= most;
        Ok(Array2::from_shape_fn(p_nt.dim(), is_in))
    }

    pub(crate) fn write(&self, store: &mut Store) {
        store.put_vector(SCORES, &self.score_m);
        self.on.write(ON, store);
    }

    pub(crate) fn read(store: &Store) -> Result<Option<Self>> {
        if !store.has(SCORES) {
            return Ok(None);
        }
        let scores = store.f64(SCORES)?;
        let score_m: Vec<f64> = scores.iter().copied().collect();
        let sound = |pair: &[f64]| pair[0] <= pair[1];
        let known = score_m.iter().all(|score| (0.0..=1.0).contains(score));
        if score_m.is_empty() || !known || !score_m.windows(2).all(sound) {
            return Err(Error::format(
                "the scores that sets of classes go by are not shares in ascending order",
            ));
        }
        Ok(Some(Self {
            score_m,
            on: CalibratedOn::read(ON, store)?,
        }))
    }
}

/// Total probability of the classes more likely than this one.
fn likelier(p_t: ArrayView1<'_, f64>, class: usize) -> f64 {
    let others = p_t.iter().filter(|p| **p > p_t[class]);
    others.sum::<f64>().min(1.0)
}

impl LinearModel {
    /// Which classes are in the set of each row that contains the right one with probability
    /// `level`, `[n, classes]`, from its probabilities ([`ClassSets`]).
    ///
    /// Errors with [`Error::Unsupported`] if the model has no [`ClassSets`], with [`Error::Shape`]
    /// if the number of columns is not the number of classes, and with [`Error::Parameter`] unless
    /// the level is between 0 and 1, and low enough for the number of calibration rows.
    pub fn sets_of(&self, p_nt: &Array2<f64>, level: f64) -> Result<Array2<bool>> {
        let Some(sets) = &self.class_sets else {
            return Err(self.has_no_sets());
        };
        if p_nt.ncols() != self.targets.outputs() {
            return Err(Error::shape(format!(
                "probabilities of {} classes, the model has {}",
                p_nt.ncols(),
                self.targets.outputs()
            )));
        }
        sets.sets(p_nt, level)
    }

    fn has_no_sets(&self) -> Error {
        if let Targets::Real { .. } = self.targets {
            let problem = "a regression predicts amounts, of which there are no sets";
            let remedy = "ask for intervals";
            return Error::unsupported(problem).help(Remedy::words(remedy));
        }
        let problem = format!(
            "this model of {} has no sets of classes: its fit left out no rows to go by",
            self.learner
        );
        let remedy = "fit ridge regression, or any classifier with probabilities";
        Error::unsupported(problem).help(Remedy::words(remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn of(scores: &[f64]) -> ClassSets {
        ClassSets {
            score_m: scores.to_vec(),
            on: CalibratedOn::LeftOut,
        }
    }

    /// Scores and sets by their definitions, with ties.
    #[test]
    fn sets_take_classes_in_their_order() {
        let p = array![[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]];
        let class = [0, 0, 1];
        let found = ClassSets::of_rows(&p, &class, &[1.0; 3], CalibratedOn::LeftOut);
        let expected = [0.0, 0.5, 0.9];
        assert!(
            found
                .score_m
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
        // The second smallest of three for level one half.
        let sets = found.sets(&p, 0.5).expect("reaches");
        let expected = array![
            [true, true, false],
            [false, true, false],
            [true, true, true]
        ];
        assert_eq!(sets, expected);
        // The most likely class is in every set.
        let sure = of(&[0.0; 9]).sets(&p, 0.9).expect("reaches");
        let expected = array![
            [true, false, false],
            [false, true, false],
            [false, false, true]
        ];
        assert_eq!(sure, expected);
        let message = of(&[0.0; 8])
            .sets(&p, 0.9)
            .expect_err("too high")
            .to_string();
        assert!(message.contains("it takes 9"), "{message}");
        for bad in [0.0, 1.0, f64::NAN, -2.0] {
            assert!(matches!(found.sets(&p, bad), Err(Error::Parameter(_))));
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let sets = of(&[0.0, 0.25, 0.5]);
        let mut store = Store::default();
        sets.write(&mut store);
        assert_eq!(ClassSets::read(&store).expect("reads"), Some(sets));
        assert_eq!(ClassSets::read(&Store::default()).expect("reads"), None);
        for bad in [&[0.5, 0.25][..], &[-0.1], &[f64::NAN], &[0.0, 1.5]] {
            let mut store = Store::default();
            of(bad).write(&mut store);
            assert!(ClassSets::read(&store).is_err(), "{bad:?}");
        }
    }
}
