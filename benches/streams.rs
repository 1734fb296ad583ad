//! A row of a stream: predicted, and then learned, by `bochner::stream` and by recursive least
//! squares as textbooks have it. Rounds are interleaved, so that ratios hold on a busy machine too;
//! times are of a clock on the wall. `cargo bench --bench streams [features]`.
//!
//! The textbook keeps the whole inverse and changes each of its D^2 numbers with every row: 16 D^2
//! bytes are read and written after 8 D^2 bytes were read for the gain. A stream reads 4 D^2 bytes
//! for it, and adds what 64 rows change at once; with a half-life it computes the inverse anew by
//! D^3 operations once in that many rows.

use bochner::{
    Result,
    stream::{Recursive, RecursiveRidge},
};
use ndarray::{Array1, Array2, ArrayView1, Axis};
use std::time::Instant;

const PENALTY: f64 = 1e-2;
/// Rows before the first that counts.
const BEFORE: usize = 4_000;
/// Rows of a round: whole turns of each half-life.
const ROWS: usize = 2_000;
const ROUNDS: usize = 7;

/// Who learns rows.
enum Learner {
    Ours(Box<RecursiveRidge>),
    Textbook(Textbook),
}

impl Learner {
    /// What was predicted, before the row is learned.
    fn row(&mut self, z_d: &[f64], y: f64) -> Result<f64> {
        match self {
            Self::Ours(stream) => {
                let predicted = stream.predict(z_d)?[0];
                stream.learn(z_d, &[y], 1.0)?;
                Ok(predicted)
            }
            Self::Textbook(stream) => Ok(stream.row(z_d.into(), y)),
        }
    }
}

/// Recursive least squares by the whole inverse (Haykin 2002, table 9.1).
struct Textbook {
    keep: f64,
    inverse_dd: Array2<f64>,
    beta_d: Array1<f64>,
}

impl Textbook {
    fn new(features: usize, half_life: f64) -> Self {
        Self {
            keep: (-1.0 / half_life).exp2(),
            inverse_dd: Array2::from_diag_elem(features, 1.0 / PENALTY),
            beta_d: Array1::zeros(features),
        }
    }

    fn row(&mut self, z_d: ArrayView1<'_, f64>, y: f64) -> f64 {
        let predicted = self.beta_d.dot(&z_d);
        let gain_d = self.inverse_dd.dot(&z_d);
        let share = 1.0 / (self.keep + z_d.dot(&gain_d));
        self.beta_d.scaled_add(share * (y - predicted), &gain_d);
        for (mut row, &by) in self.inverse_dd.axis_iter_mut(Axis(0)).zip(&gain_d) {
            row.zip_mut_with(&gain_d, |value, &gain| {
                *value = (*value - by * share * gain) / self.keep;
            });
        }
        predicted
    }
}

/// Rows whose numbers go nowhere in particular, with targets that are a line of theirs and noise.
struct Rows {
    state: u64,
    line_d: Vec<f64>,
}

impl Rows {
    fn new(features: usize) -> Self {
        let mut rows = Self {
            state: 1,
            line_d: Vec::new(),
        };
        rows.line_d = (0..features).map(|_| rows.number()).collect();
        rows
    }

    /// Between -1 and 1.
    fn number(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005);
        self.state = self.state.wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn next(&mut self) -> (Vec<f64>, f64) {
        let z_d: Vec<f64> = (0..self.line_d.len()).map(|_| self.number()).collect();
        let line: f64 = z_d.iter().zip(&self.line_d).map(|(z, by)| z * by).sum();
        (z_d, line + self.number())
    }
}

fn main() -> Result<()> {
    // Cargo hands the programs of benchmarks an option of its own.
    let features = std::env::args().nth(1).and_then(|given| given.parse().ok());
    let features = features.unwrap_or(500);
    let mut learners = Vec::new();
    for (name, half_life) in [
        ("all rows kept", f64::INFINITY),
        ("half-life 1,000", 1_000.0),
        ("half-life 400", 400.0),
    ] {
        let rule = Recursive {
            penalty: PENALTY,
            half_life,
            ..Recursive::default()
        };
        learners.push((name, Learner::Ours(Box::new(rule.start(features, 1)?))));
    }
    let textbook = Textbook::new(features, 400.0);
    learners.push(("textbook, 400", Learner::Textbook(textbook)));
    let mut rows = Rows::new(features);
    for _ in 0..BEFORE {
        let (z_d, y) = rows.next();
        for (_, learner) in &mut learners {
            learner.row(&z_d, y)?;
        }
    }
    let mut means = vec![Vec::new(); learners.len()];
    let mut each = vec![Vec::new(); learners.len()];
    let mut squares = vec![0.0; learners.len()];
    for _ in 0..ROUNDS {
        let round: Vec<_> = (0..ROWS).map(|_| rows.next()).collect();
        for (of, (_, learner)) in learners.iter_mut().enumerate() {
            let begin = Instant::now();
            for (z_d, y) in &round {
                let start = Instant::now();
                squares[of] += (learner.row(z_d, *y)? - y).powi(2);
                each[of].push(start.elapsed().as_secs_f64() * 1e6);
            }
            means[of].push(begin.elapsed().as_secs_f64() * 1e6 / ROWS as f64);
        }
    }
    print(features, &learners, &mut means, &mut each, &squares);
    Ok(())
}

fn print(
    features: usize,
    learners: &[(&str, Learner)],
    means: &mut [Vec<f64>],
    each: &mut [Vec<f64>],
    squares: &[f64],
) {
    println!(
        "{features} features, microseconds of a row: mean of the best round, of the middle, of the"
    );
    println!("worst; median row, and the worst of {}", ROUNDS * ROWS);
    for times in means.iter_mut().chain(each.iter_mut()) {
        times.sort_by(f64::total_cmp);
    }
    let middle = |times: &[f64]| times[times.len() / 2];
    let textbook = middle(&means[means.len() - 1]);
    for (of, (name, _)) in learners.iter().enumerate() {
        let (mean, rows) = (&means[of], &each[of]);
        println!(
            "{name:<16} {:>7.1} {:>7.1} {:>7.1} | {:>7.1} {:>8.1} | {:>5.2} times as fast, error {:.4}",
            mean[0],
            middle(mean),
            mean[ROUNDS - 1],
            middle(rows),
            rows[rows.len() - 1],
            textbook / middle(mean),
            (squares[of] / (ROUNDS * ROWS) as f64).sqrt(),
        );
    }
}
