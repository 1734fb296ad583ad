//! Preparation and bandwidth chosen by rows left out, before anything is drawn.

use super::Job;
use crate::{
    Error, Result,
    data::{ChunkSource, KeptRows, Survey, median_distance},
    features::{Bandwidth, MapBuilder, Scaling, Standardize},
    kernels::{Domain, Kernel, gram},
    models::Fit,
    normal::Targets,
    solve::CentredLeftOut,
};
use ndarray::{Array2, Axis};
use std::fmt;

/// Rows that decide at most.
const ROWS: usize = 512;
/// Fewer say nothing.
const LEAST_ROWS: usize = 20;
/// Rows that all candidates are looked at on, and those that are left of them: a decomposition of
/// four times as many rows takes 64 times as long.
const ROUNDS: [(usize, usize); 3] = [(128, 5), (256, 2), (ROWS, 1)];
/// Lengthscales, in medians of the distances.
const MULTIPLES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Penalties, over the number of rows: from 1e-8 to 10, two in ten.
const PENALTIES: usize = 19;
/// Targets or classes that are looked at, at most.
const MOST_OUTPUTS: usize = 32;
/// What is less than this share better than the usual is not better.
const NEAR: f64 = 0.01;

/// A preparation of columns with a lengthscale, and how well it did.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// How columns are prepared.
    pub standardize: Standardize,
    /// How wide the kernel is after that: a rule, or a number.
    pub bandwidth: Bandwidth,
    /// The lengthscale over the median distance of the rows; `None` for a rule.
    pub multiple: Option<f64>,
    /// The least mean squared error of rows left out, over the variance of the targets; infinite
    /// where there was none.
    pub error: f64,
    /// Of how many rows that is.
    pub rows: usize,
}

/// What was looked at, and what was chosen: by exact leave-one-out errors of kernel ridge
/// regression with an intercept, on rows whose contents have the smallest hashes.
///
/// The same rows give the same choice in any order, in chunks of any size, in parts and on any
/// device. What is asked for by no option is a candidate, too, and counts where nothing is better
/// by one per cent.
#[derive(Debug, Clone, PartialEq)]
pub struct Race {
    /// How many rows decided.
    pub rows: usize,
    /// The usual, then the others.
    pub candidates: Vec<Candidate>,
    /// Which was chosen.
    pub chosen: usize,
}

impl Race {
    /// What was chosen.
    pub fn chosen(&self) -> &Candidate {
        &self.candidates[self.chosen]
    }

    /// What would have been taken without looking: gamma by scale.
    pub fn usual(&self) -> &Candidate {
        &self.candidates[0]
    }
}

/// Whether the columns and the bandwidth of a map may be chosen so: it is made of a kernel of
/// differences and takes every number.
fn suits(map: &dyn MapBuilder) -> bool {
    let of_differences = |kernel: &dyn Kernel| kernel.is_shift_invariant();
    map.kernel()
        .is_some_and(|kernel| of_differences(kernel.as_ref()))
        && map.is_shift_invariant()
        && map.domain() == Domain::Any
}

impl Job<&dyn Fit> {
    /// Whether preparation and bandwidth are left to the rows: the bandwidth is
    /// [`Bandwidth::Chosen`], columns are left to [`Standardize::Auto`], and nothing else chooses.
    pub fn races(&self) -> bool {
        self.bandwidth() == Bandwidth::Chosen
            && self.preparation.standardize == Standardize::Auto
            && self.search.is_none()
            && self.leaves.is_none()
            && suits(self.preparation.map.as_ref())
    }

    /// Rows that [`Self::settled`] looks at, of a source with so many targets.
    pub fn deciding_rows(&self, targets: usize) -> usize {
        if self.races() && targets > 0 { ROWS } else { 0 }
    }

    /// The same job with preparation and bandwidth as the rows decide, and what was looked at:
    /// `None` where they are given, or there is nothing to decide by. Then a bandwidth that was to
    /// be chosen is [`Bandwidth::Scale`].
    ///
    /// Errors with [`Error::Numerical`] on kernel values that are not finite.
    pub fn settled(&self, survey: &Survey, targets: &Targets) -> Result<(Self, Option<Race>)> {
        let mut job = self.clone();
        if self.bandwidth() != Bandwidth::Chosen {
            return Ok((job, None));
        }
        let race = match &survey.deciding {
            Some(kept) if self.races() => race(&self.preparation.map, survey, kept, targets)?,
            _ => None,
        };
        job.preparation.bandwidth = Some(Bandwidth::Scale);
        if let Some(race) = &race {
            let chosen = race.chosen();
            job.preparation.bandwidth = Some(chosen.bandwidth.clone());
            job.preparation.standardize = chosen.standardize;
        }
        Ok((job, race))
    }
}

/// Rows that decide: their columns, and their targets, centred.
struct Deciding {
    x_md: Array2<f64>,
    y_mt: Array2<f64>,
}

impl Deciding {
    /// None where too few rows differ, or no target varies.
    fn of(kept: &KeptRows, targets: &Targets) -> Result<Option<Self>> {
        let Some(chunk) = kept.source().next_chunk(ROWS)? else {
            return Ok(None);
        };
        let x_md = chunk.x.into_f64();
        let m = x_md.nrows();
        if m < LEAST_ROWS {
            return Ok(None);
        }
        let y_mt = match targets {
            Targets::Classes(labels) => {
                let here = |label: &&f64| chunk.y.column(0).iter().any(|y| y == *label);
                let labels: Vec<f64> = labels.iter().filter(here).copied().collect();
                let t = labels.len().min(MOST_OUTPUTS);
                Array2::from_shape_fn((m, t), |(i, k)| {
                    if chunk.y[[i, 0]] == labels[k] {
                        1.0
                    } else {
                        -1.0
                    }
                })
            }
            Targets::Real { columns, .. } => {
                let t = (*columns).min(MOST_OUTPUTS);
                chunk.y.slice(ndarray::s![.., ..t]).to_owned()
            }
        };
        let middle_t = y_mt.sum_axis(Axis(0)) / m as f64;
        let mut y_mt = y_mt - &middle_t;
        if let Targets::Real { .. } = targets {
            for mut y in y_mt.columns_mut() {
                let deviation = (y.dot(&y) / m as f64).sqrt();
                // One that does not vary is 0 already.
                if deviation > 0.0 {
                    y /= deviation;
                }
            }
        }
        let varies = y_mt.iter().any(|&y| y != 0.0) && y_mt.iter().all(|y| y.is_finite());
        Ok(varies.then_some(Self { x_md, y_mt }))
    }

    /// The least error of the first `rows` rows left out in turn, over their variance.
    fn error(
        &self,
        rows: usize,
        kernel: &dyn Kernel,
        (scaling, lengthscale): (&Scaling, f64),
    ) -> Result<f64> {
        let first = ndarray::s![..rows, ..];
        let x = self.x_md.slice(first).to_owned();
        let u = scaling.input(&[lengthscale])?.apply(&x.into())?;
        let k = gram(kernel, u.view());
        let y = self.y_mt.slice(first);
        let path = CentredLeftOut::of(&k, y)?;
        let middle = y.sum_axis(Axis(0)) / rows as f64;
        let square = |a: &Array2<f64>| a.iter().map(|v| v * v).sum::<f64>();
        let spread = square(&(&y - &middle));
        let errors = (0..PENALTIES).filter_map(|k| {
            let penalty = rows as f64 * 10_f64.powf(k as f64 / 2.0 - 8.0);
            path.errors(penalty).map(|e| square(&e) / spread)
        });
        Ok(errors
            .filter(|e| e.is_finite())
            .fold(f64::INFINITY, f64::min))
    }
}

/// To four digits: rounding of means that rows in another order have is then not seen.
fn rounded(value: f64) -> f64 {
    let text = format!("{value:.3e}");
    text.parse().unwrap_or(value)
}

fn race(
    map: &dyn MapBuilder,
    survey: &Survey,
    kept: &KeptRows,
    targets: &Targets,
) -> Result<Option<Race>> {
    let (Some(kernel), Some(rows)) = (map.kernel(), Deciding::of(kept, targets)?) else {
        return Ok(None);
    };
    let kernel = kernel.as_ref();
    let decide = |standardize: Standardize| standardize.decide(survey, true);
    let scalings = [Standardize::Auto, Standardize::No, Standardize::Yes].map(decide);
    let of = |standardize: Standardize| match standardize {
        Standardize::Auto => &scalings[0],
        Standardize::No => &scalings[1],
        Standardize::Yes => &scalings[2],
    };
    let candidate = |standardize, bandwidth, multiple| Candidate {
        standardize,
        bandwidth,
        multiple,
        error: f64::INFINITY,
        rows: 0,
    };
    let mut candidates = vec![candidate(Standardize::Auto, Bandwidth::Scale, None)];
    for standardize in [Standardize::No, Standardize::Yes] {
        let u_md = of(standardize).apply(&rows.x_md)?;
        // Where most rows are alike there is none.
        let Ok(median) = median_distance(u_md.view(), kernel.norm()) else {
            continue;
        };
        candidates.extend(MULTIPLES.map(|multiple| {
            let sigma = Bandwidth::Sigma(rounded(multiple * median));
            candidate(standardize, sigma, Some(multiple))
        }));
    }
    let all = rows.x_md.nrows();
    let mut left: Vec<usize> = (0..candidates.len()).collect();
    for (most, stay) in ROUNDS {
        let looked_at = most.min(all);
        for &i in &left {
            let Candidate {
                standardize,
                bandwidth,
                ..
            } = &candidates[i];
            let scaling = of(*standardize);
            let error = match bandwidth.lengthscales(kernel, survey, scaling).as_deref() {
                Ok(&[lengthscale]) => rows.error(looked_at, kernel, (scaling, lengthscale)),
                _ => Ok(f64::INFINITY),
            };
            candidates[i].error = match error {
                // Columns that a scale takes out of the range of f32.
                Err(Error::Parameter(_) | Error::Numerical(_)) => f64::INFINITY,
                error => error?,
            };
            candidates[i].rows = looked_at;
        }
        // The usual, which is the first, is compared with the last.
        left[1..].sort_by(|&a, &b| candidates[a].error.total_cmp(&candidates[b].error));
        if most >= all {
            break;
        }
        left.truncate(stay + 1);
    }
    let better = |i: usize| candidates[i].error < (1.0 - NEAR) * candidates[0].error;
    let chosen = left.get(1).copied().filter(|&i| better(i)).unwrap_or(0);
    Ok(Some(Race {
        rows: candidates[chosen].rows,
        candidates,
        chosen,
    }))
}

/// `chosen on 512 rows: standardised, sigma 0.85 (0.5 medians); leave-one-out R2 0.930; gamma by
/// scale 0.460`.
impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (chosen, usual) = (self.chosen(), self.usual());
        write!(f, "chosen on {} rows: ", self.rows)?;
        match chosen.multiple {
            None => f.write_str("gamma by scale")?,
            Some(multiple) => {
                let columns = match chosen.standardize {
                    Standardize::Yes => "standardised",
                    _ => "columns as they are",
                };
                write!(f, "{columns}, {} ({multiple} medians)", chosen.bandwidth)?;
            }
        }
        write!(f, "; leave-one-out R2 {:.3}", 1.0 - chosen.error)?;
        match self.chosen {
            0 => Ok(()),
            _ => write!(f, "; gamma by scale {:.3}", 1.0 - usual.error),
        }
    }
}
