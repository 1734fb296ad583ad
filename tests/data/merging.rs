//! However rows are split, and in whatever chunks they come, their sums are the same.

use bochner::{
    Device, Result, Run,
    data::{Chunk, ChunkSource, MemorySource, Survey, SurveyPart},
    features::{Affine, DenseFeatures, Fourier},
    kernels::Gaussian,
    seed::{Draws, Seed, Stream},
    solve::{NormalEquations, Targets},
};
use ndarray::{Array2, s};

const ROWS: usize = 700;

/// A number from `least` to `most`.
fn between(draws: &mut Draws, least: usize, most: usize) -> usize {
    least + (draws.uniform() * (most - least + 1) as f64) as usize
}

/// Rows in chunks of drawn sizes, of no more than is asked for.
struct Ragged<'d> {
    own: MemorySource,
    draws: &'d mut Draws,
}

impl ChunkSource for Ragged<'_> {
    fn columns(&self) -> usize {
        self.own.columns()
    }
    fn targets(&self) -> usize {
        self.own.targets()
    }
    fn rows(&self) -> Option<usize> {
        self.own.rows()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let rows = between(self.draws, 1, max_rows.min(97));
        self.own.next_chunk(rows)
    }
    fn rewind(&mut self) -> Result<()> {
        self.own.rewind()
    }
}

struct Case {
    x: Array2<f64>,
    y: Array2<f64>,
    map: DenseFeatures,
    targets: Targets,
}

impl Case {
    fn new() -> Self {
        let x = Array2::from_shape_fn((ROWS, 3), |(i, j)| {
            ((i * (7 + j) + 3 * j) % 101) as f64 / 25.0
        });
        let y = Array2::from_shape_fn((ROWS, 2), |(i, k)| x[[i, k]].sin() + x[[i, 1]]);
        let map = Fourier::new(Gaussian).features(12);
        Self {
            map: map.build(Affine::identity(3)).unwrap(),
            targets: Targets::Real {
                columns: 2,
                shift: vec![1.5, 2.5],
            },
            x,
            y,
        }
    }

    fn source(&self, from: usize, to: usize) -> MemorySource {
        let part = |rows: &Array2<f64>| rows.slice(s![from..to, ..]).to_owned();
        MemorySource::new(part(&self.x), Some(part(&self.y))).unwrap()
    }

    /// Sums of rows `from .. to` in ragged chunks, in a memory that is drawn.
    fn sums(&self, (from, to): (usize, usize), draws: &mut Draws) -> NormalEquations {
        let memory = between(draws, 4_000, 60_000) as u64;
        let own = self.source(from, to);
        let run = Run::on(&Device::cpu()).memory(memory);
        let mut source = Ragged { own, draws };
        NormalEquations::accumulate(&self.map, &mut source, &self.targets, run).unwrap()
    }
}

/// Ends of one to six pieces, none of them empty.
fn cuts(draws: &mut Draws) -> Vec<(usize, usize)> {
    let mut ends: Vec<_> = (0..between(draws, 0, 5))
        .map(|_| between(draws, 1, ROWS - 1))
        .chain([0, ROWS])
        .collect();
    ends.sort_unstable();
    ends.dedup();
    ends.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

fn assert_same(one: &NormalEquations, other: &NormalEquations, most: f64, what: &str) {
    assert_eq!(one.rows, other.rows, "{what}");
    for (a, b) in [(&one.gram_dd, &other.gram_dd), (&one.zty_dt, &other.zty_dt)] {
        let largest = a.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let off = (a - b).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(off <= most * largest, "{what}: off by {off} of {largest}");
    }
}

#[test]
fn any_split_and_any_chunks_give_the_same_sums() {
    let case = Case::new();
    let mut draws = Seed(11).stream(Stream::Sample, 0);
    let whole = case.sums((0, ROWS), &mut draws);
    // Against the formula, on the host.
    let mut features = Array2::<f64>::zeros((0, 12));
    let cpu = Device::cpu();
    bochner::features::featurize(&case.map, &mut case.source(0, ROWS), &cpu, |z| {
        let rows = z.mapv(f64::from);
        features.append(ndarray::Axis(0), rows.view()).unwrap();
        Ok(())
    })
    .unwrap();
    let gram = features.t().dot(&features);
    for ((i, j), sum) in whole.gram_dd.indexed_iter().filter(|((i, j), _)| j <= i) {
        assert!((sum - gram[[i, j]]).abs() < 1e-6 * gram[[i, i]], "{i}, {j}");
    }
    for trial in 0..60 {
        let pieces = cuts(&mut draws);
        let what = format!("trial {trial}, {pieces:?}");
        let parts: Vec<_> = (pieces.iter())
            .map(|&piece| case.sums(piece, &mut draws))
            .collect();
        let add = |parts: &mut dyn Iterator<Item = &NormalEquations>| {
            let mut sum = NormalEquations::zero(12, 2);
            parts.for_each(|part| sum.merge(part).unwrap());
            sum
        };
        let forth = add(&mut parts.iter());
        assert_same(&forth, &whole, 1e-6, &what);
        // In another order but for rounding of f64; through bytes, and in groups, as well.
        assert_same(&add(&mut parts.iter().rev()), &forth, 1e-14, &what);
        let bytes = parts.iter().map(|part| part.to_bytes().unwrap());
        let read: Vec<_> = bytes
            .map(|b| NormalEquations::from_bytes(&b).unwrap())
            .collect();
        assert_eq!(add(&mut read.iter()).gram_dd, forth.gram_dd, "{what}");
        let (left, right) = parts.split_at(parts.len() / 2);
        let groups = [add(&mut left.iter()), add(&mut right.iter())];
        assert_same(&add(&mut groups.iter()), &forth, 1e-14, &what);
        // What is taken away again leaves the others.
        let mut rest = forth.clone();
        rest.subtract(&parts[0]).unwrap();
        assert_same(&rest, &add(&mut parts[1..].iter()), 1e-12, &what);
    }
}

#[test]
fn any_split_and_any_chunks_give_the_same_survey() {
    let case = Case::new();
    let mut draws = Seed(12).stream(Stream::Sample, 0);
    let whole = Survey::of(&mut case.source(0, ROWS), 50, 3).unwrap();
    for trial in 0..60 {
        let own = case.source(0, ROWS);
        let mut ragged = Ragged {
            own,
            draws: &mut draws,
        };
        let again = Survey::of(&mut ragged, 50, 3).unwrap();
        assert_eq!(again.sample, whole.sample, "{trial}: other rows were drawn");
        let pieces = cuts(&mut draws);
        let mut parts = pieces.iter().map(|&(from, to)| {
            let mut source = case.source(from, to);
            SurveyPart::of(&mut source, from as u64, 50, 3).unwrap()
        });
        let mut sum = parts.next().unwrap();
        parts.for_each(|part| sum.merge(&part).unwrap());
        let merged = sum.finish().unwrap();
        assert_eq!(merged.rows, whole.rows);
        assert_eq!(merged.sample, whole.sample, "{trial}, {pieces:?}");
        for (a, b) in [
            (&merged.mean, &whole.mean),
            (&merged.variance, &whole.variance),
        ] {
            assert!(
                a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12),
                "{trial}"
            );
        }
    }
}
