use super::*;
use crate::{
    Device,
    data::MemorySource,
    features::{Affine, Identity},
    model::Targets,
    seed::{Seed, Stream},
};
use ndarray::Array2;

/// Sums of rows whose targets are one of twenty columns plus noise of the same size.
fn sums(rows: usize, draw: u64) -> NormalEquations {
    let mut draws = Seed(8).stream(Stream::Data, draw);
    let x = Array2::from_shape_simple_fn((rows, 20), || draws.normal());
    let y = Array2::from_shape_fn((rows, 1), |(i, _)| x[[i, 4]] + draws.normal());
    let map = Identity.build(Affine::identity(20)).expect("a map");
    let mut source = MemorySource::new(x, Some(y)).expect("rows");
    let targets = Targets::Real {
        columns: 1,
        shift: vec![0.0],
    };
    NormalEquations::of_part(
        &map,
        &mut source,
        &targets,
        &Device::cpu(),
        Resume::default(),
    )
    .expect("sums")
}

/// All rows are fitted with exactly the number of stages chosen on held-out rows.
#[test]
fn all_rows_get_the_stages_that_rows_held_out_chose() {
    fn check(learner: &impl Staged, most: usize) {
        let (fitted, held_out) = (sums(60, 0), sums(40, 1));
        let chosen = learner.grow(&fitted, Some(&held_out)).expect("grows");
        assert!((1..most).contains(&chosen.stages), "{}", chosen.stages);
        let all = HeldOutSums {
            fitted,
            held_out: Some(held_out),
        };
        let (solved, rows) = all.solve(learner).expect("solves");
        assert_eq!((solved.stages, rows), (chosen.stages, 100));
    }
    let greedy = GreedyOptions {
        steps: 20,
        ..GreedyOptions::default()
    };
    let boosting = BoostingOptions {
        block: 2,
        shrinkage: 0.3,
        stages: 100,
        ..BoostingOptions::default()
    };
    check(&greedy, 20);
    check(&boosting, 100);
}
