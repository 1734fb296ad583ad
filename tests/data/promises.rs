//! User-defined sources that violate their contract: every reader reports it in one line.

use bochner::{
    Device, Result,
    data::{Chunk, ChunkSource, Part, Rows, Split, Survey},
    features::{Affine, Fourier, featurize},
    kernels::Gaussian,
    models::{FitOptions, LinearModel, Solver, Targets},
};
use ndarray::Array2;

/// A user-defined source of two columns and a target, which returns these chunks regardless of its
/// contract.
#[derive(Clone)]
struct Own {
    chunks: Vec<Chunk>,
    next: usize,
}

impl Own {
    /// Two chunks of four rows, modified by `spoil`.
    fn new(spoil: impl Fn(&mut Vec<Chunk>)) -> Self {
        let chunk = |row0: usize| Chunk {
            x: Rows::F64(Array2::from_shape_fn((4, 2), |(i, j)| {
                ((row0 + i) * (j + 1)) as f64
            })),
            y: Array2::from_shape_fn((4, 1), |(i, _)| (row0 + i) as f64),
            weights: None,
        };
        let mut chunks = vec![chunk(0), chunk(4)];
        spoil(&mut chunks);
        Self { chunks, next: 0 }
    }
}

impl ChunkSource for Own {
    fn columns(&self) -> usize {
        2
    }
    fn targets(&self) -> usize {
        1
    }
    fn rows(&self) -> Option<usize> {
        Some(8)
    }
    fn next_chunk(&mut self, _: usize) -> Result<Option<Chunk>> {
        self.next += 1;
        Ok(self.chunks.get(self.next - 1).cloned())
    }
    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }
}

fn x_of(chunk: &mut Chunk) -> &mut Array2<f64> {
    match &mut chunk.x {
        Rows::F64(x) => x,
        Rows::F32(_) => panic!("f64"),
    }
}

/// All functions that read chunks, on a possibly invalid source.
fn readers(source: &Own) -> Vec<(&'static str, Result<()>)> {
    let good = Own::new(|_| ());
    let survey = Survey::new(&mut good.clone(), 8, 0).expect("surveys");
    let map = || {
        let map = Fourier::new(Gaussian).features(4);
        Box::new(map.build(Affine::standardize(&survey)).expect("builds"))
    };
    let cpu = Device::cpu();
    let mut own = source.clone();
    let targets = || Targets::real(&survey);
    let options = FitOptions::on(&cpu);
    let fit = LinearModel::fit(map(), &mut own, targets(), &options);
    let iterative = FitOptions {
        solver: Solver::conjugate_gradients(),
        ..FitOptions::on(&cpu)
    };
    let iterative = LinearModel::fit(map(), &mut own, targets(), &iterative);
    let features = featurize(map().as_ref(), &mut own, &cpu, |_| Ok(()));
    let model = LinearModel::fit(map(), &mut good.clone(), targets(), &options);
    let model = model.expect("fits");
    let mut predictor = model.on(&cpu).expect("loads");
    let predicted = predictor.stream(&mut own, |_, _| Ok(()));
    own.rewind().expect("rewinds");
    let split = Split::new(own.clone(), Part::Train, 0.5, 3)
        .and_then(|mut split| Survey::new(&mut split, 8, 0));
    vec![
        ("survey", Survey::new(&mut own, 8, 0).map(drop)),
        ("fit", fit.map(drop)),
        ("fit_iterative", iterative.map(drop)),
        ("featurize", features.map(drop)),
        ("predict", predicted.map(drop)),
        ("split", split.map(drop)),
    ]
}

#[test]
fn a_source_that_breaks_its_promise_is_one_clear_line() {
    for (name, result) in readers(&Own::new(|_| ())) {
        result.unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    type Spoil = fn(&mut Vec<Chunk>);
    let cases: [(Spoil, &[&str]); 8] = [
        (
            |c| c[1].y = Array2::zeros((3, 1)),
            &["row 4 on", "[4, 2]", "(3, 1)"],
        ),
        (|c| c[0].y = Array2::zeros((5, 1)), &["row 0 on", "(5, 1)"]),
        (|c| c[0].y = Array2::zeros((4, 0)), &["1 targets", "(4, 0)"]),
        (
            |c| c[1].x = Rows::F32(Array2::zeros((4, 3))),
            &["[4, 3]", "2 columns"],
        ),
        (
            |c| {
                c[1].x = Rows::F64(Array2::zeros((0, 2)));
                c[1].y = Array2::zeros((0, 1));
            },
            &["row 4 on", "[0, 2]"],
        ),
        (
            |c| x_of(&mut c[1])[[2, 1]] = f64::NAN,
            &["X: row 6, column 1", "NaN"],
        ),
        (
            |c| x_of(&mut c[0])[[3, 0]] = f64::INFINITY,
            &["X: row 3, column 0", "infinite"],
        ),
        (
            |c| c[1].y[[0, 0]] = f64::NEG_INFINITY,
            &["y: row 4, column 0", "infinite"],
        ),
    ];
    for (spoil, parts) in cases {
        for (name, result) in readers(&Own::new(spoil)) {
            let error = result.expect_err(name).to_string();
            for part in parts {
                assert!(error.contains(part), "{name}: no {part:?} in {error:?}");
            }
            assert!(!error.contains('\n'), "{name}: {error}");
        }
    }
}
