//! Two-sample test by maximum mean discrepancy.

use super::{Null, Outcome, Pooled, WeightedChiSquares, labels::Assignments, sums::Products};
use crate::{
    Error, Result,
    data::{ChunkSource, MemorySource, ToRows},
    door::{Learner, RowsAlone},
    features::{Branch, Destination, FeatureMap, Featurizer},
    flow::Run,
    learn::Usual,
    seed::Seed,
    solve::Block,
    text::counted,
};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};

/// The two-sample test by maximum mean discrepancy (Gretton et al. 2012), with mean embeddings in
/// the features of a map: MMD^2 = |mean z(a) - mean z(b)|^2, in time linear in rows and one pass
/// over each sample.
///
/// It detects every difference of distributions that the kernel detects: of means, variances,
/// shapes and dependences. By default the p-value uses 500 permutations.
///
/// ```
/// use bochner::{hypothesis::TwoSample, prelude::*};
/// let value = |(i, j): (usize, usize)| ((7 * i + 3 * j) % 23) as f64 / 23.0;
/// let old = ndarray::Array2::from_shape_fn((120, 2), value);
/// let new = ndarray::Array2::from_shape_fn((80, 2), value) + 0.3;
/// let test = TwoSample::on(Fourier::new(Gaussian).features(64)).device(&Device::cpu());
/// assert!(test.test(&old, &new)?.outcome.rejects(0.01));
/// assert!(!test.test(&old, &old)?.outcome.rejects(0.01));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type TwoSample = Learner<TwoSampleOptions, RowsAlone>;

/// Options of [`TwoSample`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoSampleOptions {
    /// How the p-value is computed, by default with 500 permutations.
    pub null: Null,
    /// The seed of the permutations.
    pub seed: Seed,
}

impl Default for TwoSampleOptions {
    fn default() -> Self {
        Self {
            null: Null::Permutation(500),
            seed: Seed(0),
        }
    }
}

/// Result of a two-sample test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoSampleOutcome {
    /// Statistic and p-value; the statistic is n m / (n + m) times [`Self::biased`].
    pub outcome: Outcome,
    /// |mean z(a) - mean z(b)|^2: the squared distance of the mean embeddings, never negative,
    /// biased by about 1/n + 1/m.
    pub biased: f64,
    /// The same without the products of a row with itself: unbiased, so it can be negative (Gretton
    /// et al. 2012, eq. 3).
    pub unbiased: f64,
    /// Rows of each sample, n and m.
    pub rows: [u64; 2],
}

impl TwoSample {
    /// Sets how the p-value is computed.
    pub fn null(mut self, null: Null) -> Self {
        self.job.learner.null = null;
        self
    }

    /// Tests whether the rows of `a` and of `b` come from one distribution.
    ///
    /// Errors if they have different columns, values that are not finite, or fewer than two rows;
    /// if the map cannot be drawn or its features cannot be stored; on 0 permutations.
    pub fn test(&self, a: impl ToRows, b: impl ToRows) -> Result<TwoSampleOutcome> {
        let mut a = MemorySource::new(a.to_rows(), None)?;
        let mut b = MemorySource::new(b.to_rows(), None)?;
        self.test_sources(&mut a, &mut b)
    }

    /// As [`Self::test`], for sources of any size. Their targets are ignored. Tables of text are
    /// read as [`Alike`](crate::data::Alike) does.
    pub fn test_sources(
        &self,
        a: &mut dyn ChunkSource,
        b: &mut dyn ChunkSource,
    ) -> Result<TwoSampleOutcome> {
        self.job.learner.null.check()?;
        let mut pooled = Pooled::new(a, b)?;
        let run = self.settings.run()?;
        let preparation = &self.job.preparation;
        let usual = Usual::default();
        let bandwidth = preparation.bandwidth_or(usual.bandwidth.clone());
        let rows = preparation.sample_rows(&bandwidth);
        let mut survey = preparation.survey(&mut pooled, rows, &run)?;
        if let Some(schema) = pooled.schema() {
            schema.keep_scales_of_texts(&mut survey);
        }
        let drawn = preparation.draw_of(&survey, &mut pooled, usual, &run)?;
        let own = TwoSampleOptions {
            seed: preparation.seed.unwrap_or(self.job.learner.seed),
            ..self.job.learner
        };
        own.test(drawn.map.as_ref(), &mut pooled, &run)
    }
}

impl TwoSampleOptions {
    /// Tests with the features of a drawn map. `run` is a `&Device` or a [`Run`].
    ///
    /// Takes n D (B + 2) operations and memory for D (B + 2) numbers with B permutations; n D^2 and
    /// D^2 with [`Null::Asymptotic`], whose weights are the eigenvalues of the features' covariance
    /// within the samples. Features are computed on the device, sums on the host in f64. Reordering
    /// the rows of a sample keeps the statistic, but draws other permutations.
    ///
    /// Errors as [`TwoSample::test`] does.
    pub fn test(
        &self,
        map: &dyn FeatureMap,
        samples: &mut Pooled<'_>,
        run: impl Into<Run>,
    ) -> Result<TwoSampleOutcome> {
        self.null.check()?;
        let run = run.into();
        let rows = match samples.counts() {
            Some(rows) => rows,
            None => count(samples)?,
        };
        for (which, rows) in ["first", "second"].into_iter().zip(rows) {
            if rows < 2 {
                return Err(Error::shape(format!(
                    "the {which} sample has {}; a two-sample test needs at least 2 in each",
                    counted(rows as usize, "row")
                )));
            }
        }
        samples.rewind()?;
        let branches = vec![Branch::features(map)?];
        let mut featurizer = Featurizer::new(branches, 0, Destination::Host, &run)?;
        let mut sums = match self.null {
            Null::Permutation(count) => Sums::Labelled(Labelled::new(
                Assignments::new(count, rows, self.seed),
                count,
                map.output_dim(),
            )),
            Null::Asymptotic => {
                Sums::Products(Box::new([(); 2].map(|()| Products::new(map.output_dim()))))
            }
        };
        let mut at = 0;
        let seen = featurizer.on_host(
            samples,
            |_, _| (),
            |z, ()| {
                // Chunks, and so their features, contain rows of one sample only.
                let sample = usize::from(at >= rows[0]);
                at += z[0].nrows() as u64;
                if at > rows[0] + rows[1] {
                    return Ok(());
                }
                sums.add(sample, z[0]);
                Ok(())
            },
        )?;
        if seen != rows[0] + rows[1] {
            return Err(Error::shape(format!(
                "the samples had {} rows and now have {seen}; they must not change during a test",
                rows[0] + rows[1]
            )));
        }
        sums.finish(rows)
    }
}

/// Counts the rows of each sample by reading them.
fn count(samples: &mut Pooled<'_>) -> Result<[u64; 2]> {
    samples.rewind()?;
    while samples.next_chunk(1 << 14)?.is_some() {}
    samples
        .counts()
        .ok_or_else(|| Error::shape("the samples ended before their rows were counted"))
}

/// Sums of a test.
enum Sums {
    Labelled(Labelled),
    Products(Box<[Products; 2]>),
}

/// Sums of features over the rows that each permutation assigns to the first sample.
struct Labelled {
    assignments: Assignments,
    /// Row 0: the first sample; row 1: all rows; then every permutation. `[B + 2, D]`.
    sums: Array2<f64>,
    /// Sum of |z|^2 over each sample.
    squares: [f64; 2],
}

/// Rows whose labels are drawn at a time.
const ROWS: usize = 1024;

impl Labelled {
    fn new(assignments: Assignments, count: usize, columns: usize) -> Self {
        Self {
            assignments,
            sums: Array2::zeros((count + 2, columns)),
            squares: [0.0; 2],
        }
    }

    fn add(&mut self, sample: usize, z_nd: ArrayView2<'_, f32>) {
        for z in z_nd.axis_chunks_iter(Axis(0), ROWS) {
            self.squares[sample] += z.iter().map(|&z| f64::from(z).powi(2)).sum::<f64>();
            let mut labels = Array2::zeros((self.sums.nrows(), z.nrows()));
            let first = if sample == 0 { 1.0 } else { 0.0 };
            labels.row_mut(0).fill(first);
            labels.row_mut(1).fill(1.0);
            self.assignments.write(2, &mut labels);
            Block::new(z, 0, 1.0).add_transposed(labels.view(), self.sums.view_mut());
        }
    }
}

impl Sums {
    fn add(&mut self, sample: usize, z_nd: ArrayView2<'_, f32>) {
        match self {
            Self::Labelled(sums) => sums.add(sample, z_nd),
            Self::Products(sums) => sums[sample].add(&[z_nd]),
        }
    }

    fn finish(self, rows: [u64; 2]) -> Result<TwoSampleOutcome> {
        let [n, m] = rows.map(|rows| rows as f64);
        let factor = n * m / (n + m);
        Ok(match self {
            Self::Labelled(Labelled { sums, squares, .. }) => {
                let all = sums.row(1);
                let distance = |first: ArrayView1<'_, f64>| -> f64 {
                    let terms = first.iter().zip(all);
                    terms.map(|(f, a)| (f / n - (a - f) / m).powi(2)).sum()
                };
                let biased = distance(sums.row(0));
                let others = sums.slice(s![2.., ..]);
                let others = others.rows().into_iter().map(|row| factor * distance(row));
                let others: Vec<f64> = others.collect();
                let lengths = [sums.row(0).to_owned(), &sums.row(1) - &sums.row(0)];
                TwoSampleOutcome {
                    outcome: Outcome::among(factor * biased, &others),
                    biased,
                    unbiased: unbiased(biased, rows, lengths.map(|sum| sum.dot(&sum)), squares),
                    rows,
                }
            }
            Self::Products(sums) => {
                let [a, b] = *sums;
                let apart = a.mean() - b.mean();
                let biased = apart.dot(&apart);
                let dof = n + m - 2.0;
                let within = (a.scatter() + b.scatter()) / dof;
                let law = WeightedChiSquares::of_covariance(&within).of_sample(dof)?;
                let statistic = factor * biased;
                let lengths = [
                    n * n * a.mean().dot(&a.mean()),
                    m * m * b.mean().dot(&b.mean()),
                ];
                let squares = [a.squares(), b.squares()];
                TwoSampleOutcome {
                    outcome: Outcome {
                        statistic,
                        p_value: law.tail_of_ratio(statistic, dof),
                        null: Null::Asymptotic,
                    },
                    biased,
                    unbiased: unbiased(biased, rows, lengths, squares),
                    rows,
                }
            }
        })
    }
}

/// MMD^2 without the products of a row with itself, from the squared `lengths` of the samples' sums
/// and the sums of the rows' `squares`: sum_(i != j) k/(n (n - 1)) instead of sum_(i, j) k/n^2 for
/// each sample.
fn unbiased(biased: f64, rows: [u64; 2], lengths: [f64; 2], squares: [f64; 2]) -> f64 {
    let parts = rows.into_iter().zip(lengths).zip(squares);
    let change = parts.map(|((rows, length), squares)| {
        let n = rows as f64;
        (length - squares) / (n * (n - 1.0)) - length / (n * n)
    });
    biased + change.sum::<f64>()
}
