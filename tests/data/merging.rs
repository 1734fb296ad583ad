//! Sums do not depend on how rows are split into parts or chunks.

use crate::cases;
use bochner::{
    Device, Result, Run,
    data::{Chunk, ChunkSource, MemorySource, Survey, SurveyPart},
    features::{Affine, DenseFeatures, Fourier},
    kernels::Gaussian,
    models::Targets,
    solve::NormalEquations,
};
use ndarray::{Array2, s};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
};
use std::sync::LazyLock;

const ROWS: usize = 700;

/// Rows in chunks of these sizes in turn, limited by the requested number.
struct Ragged<'s> {
    own: MemorySource,
    sizes: std::iter::Cycle<std::slice::Iter<'s, usize>>,
}

impl<'s> Ragged<'s> {
    fn new(own: MemorySource, sizes: &'s [usize]) -> Self {
        let sizes = sizes.iter().cycle();
        Self { own, sizes }
    }
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
        let size = self.sizes.next().expect("sizes without an end");
        self.own.next_chunk(max_rows.min(*size))
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

    /// Sums of rows `from .. to` in chunks of these sizes, with a memory budget.
    fn sums(&self, (from, to): (usize, usize), sizes: &[usize], memory: u64) -> NormalEquations {
        let run = Run::on(&Device::cpu()).memory(memory);
        let mut source = Ragged::new(self.source(from, to), sizes);
        NormalEquations::accumulate(&self.map, &mut source, &self.targets, run).unwrap()
    }
}

/// Boundaries of one to six nonempty pieces.
fn pieces() -> impl Strategy<Value = Vec<(usize, usize)>> {
    btree_set(1..ROWS, 0..6).prop_map(|inner| {
        let ends: Vec<_> = [0].into_iter().chain(inner).chain([ROWS]).collect();
        ends.windows(2).map(|pair| (pair[0], pair[1])).collect()
    })
}

/// Sizes of chunks.
fn sizes() -> impl Strategy<Value = Vec<usize>> {
    vec(1..=97_usize, 1..8)
}

fn sum<'a>(parts: impl IntoIterator<Item = &'a NormalEquations>) -> NormalEquations {
    let mut sum = NormalEquations::zero(12, 2);
    parts.into_iter().for_each(|part| sum.merge(part).unwrap());
    sum
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
fn sums_are_those_of_the_formula() {
    let case = Case::new();
    let whole = case.sums((0, ROWS), &[ROWS], 1 << 20);
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
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn any_split_and_any_chunks_give_the_same_sums(
        pieces in pieces(),
        sizes in sizes(),
        memory in 4_000..60_000_u64,
    ) {
        static CASE: LazyLock<(Case, NormalEquations)> = LazyLock::new(|| {
            let case = Case::new();
            let whole = case.sums((0, ROWS), &[ROWS], 1 << 20);
            (case, whole)
        });
        let (case, whole) = &*CASE;
        let sums = pieces.iter().map(|&piece| case.sums(piece, &sizes, memory));
        let parts: Vec<_> = sums.collect();
        let forth = sum(&parts);
        assert_same(&forth, whole, 1e-6, "the whole");
        // Another order only changes the rounding of f64; also through bytes, and in groups.
        assert_same(&sum(parts.iter().rev()), &forth, 1e-14, "backwards");
        let bytes = parts.iter().map(|part| part.to_bytes().unwrap());
        let read: Vec<_> = bytes
            .map(|b| NormalEquations::from_bytes(&b).unwrap())
            .collect();
        assert_eq!(sum(&read).gram_dd, forth.gram_dd, "through bytes");
        let (left, right) = parts.split_at(parts.len() / 2);
        assert_same(&sum(&[sum(left), sum(right)]), &forth, 1e-14, "in groups");
        // Subtracting a part leaves the others.
        let mut rest = forth.clone();
        rest.subtract(&parts[0]).unwrap();
        assert_same(&rest, &sum(&parts[1..]), 1e-12, "without the first");
    }

    #[test]
    fn any_split_and_any_chunks_give_the_same_survey(pieces in pieces(), sizes in sizes()) {
        static CASE: LazyLock<(Case, Survey)> = LazyLock::new(|| {
            let case = Case::new();
            let whole = Survey::new(&mut case.source(0, ROWS), 50, 3).unwrap();
            (case, whole)
        });
        let (case, whole) = &*CASE;
        let mut ragged = Ragged::new(case.source(0, ROWS), &sizes);
        let again = Survey::new(&mut ragged, 50, 3).unwrap();
        assert_eq!(again.sample, whole.sample, "other rows were drawn");
        let mut parts = pieces.iter().map(|&(from, to)| {
            let mut source = case.source(from, to);
            SurveyPart::new(&mut source, from as u64, 50, 3).unwrap()
        });
        let mut sum = parts.next().unwrap();
        parts.for_each(|part| sum.merge(&part).unwrap());
        let merged = sum.finish().unwrap();
        assert_eq!(merged.rows, whole.rows);
        assert_eq!(merged.sample, whole.sample);
        for (a, b) in [
            (&merged.mean, &whole.mean),
            (&merged.variance, &whole.variance),
        ] {
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}
