//! Tests of several hold-out sets for few rows.

use super::{super::trials::Extent, *};
use crate::data::ChunkSource;

/// The error of a trial on few rows is that of the hold-out rows of five splits, each predicted by
/// a model of its own training rows. The error of the first split alone is different.
#[test]
fn few_rows_are_held_out_in_several_ways() {
    let x = rows(300, 2, 5);
    let noise = rows(300, 1, 6);
    let y: Array1<f64> = (0..300)
        .map(|i| (3.0 * x[[i, 0]]).sin() + 0.3 * noise[[i, 0]])
        .collect();
    let mut table = Table::new(&x, &y, false);
    let run = Run::on(&Device::cpu());
    let mut sample = Sample::parted(table.data(1.0), 8400, true).expect("reads");
    assert_eq!(sample.splits, 5);
    let tried = sample
        .run(&plan(60), &[1e-3], Extent::Sample)
        .expect("runs");
    assert_eq!(tried.models.len(), 5);
    let mut each = Vec::new();
    for (split, model) in tried.models.iter().enumerate() {
        let (mut squares, mut count) = (0.0, 0.0);
        let mut predictor = model.on(&run).expect("loads");
        let take = &mut |held_out: &mut dyn ChunkSource| {
            while let Some(chunk) = held_out.next_chunk(1000)? {
                let off = predictor.scores(&chunk.x)? - &chunk.y;
                squares += off.mapv(|e| e * e).sum();
                count += off.len() as f64;
            }
            Ok(())
        };
        sample
            .with_held_out((Extent::Sample, split), take)
            .expect("predicts");
        assert!((30.0..90.0).contains(&count), "{count}");
        each.push((squares, count));
    }
    let mean = |of: &[(f64, f64)]| {
        let (squares, count) = of.iter().fold((0.0, 0.0), |(s, c), (a, b)| (s + a, c + b));
        squares / count / sample.variances()[0]
    };
    assert!((mean(&each) / tried.squared - 1.0).abs() < 1e-9, "{each:?}");
    assert!(
        (mean(&each[..1]) / tried.squared - 1.0).abs() > 0.01,
        "{each:?}"
    );
    // Models of different training rows differ.
    assert_ne!(tried.models[0].coefficients, tried.models[1].coefficients);
    drop(sample);
    // A full search has one hold-out set, and so has a brief search with more than 1,000 rows.
    let full = Sample::parted(table.data(1.0), 8400, false).expect("reads");
    assert_eq!(full.splits, 1);
    drop(full);
    let (x, y) = (
        rows(1001, 2, 5),
        Array1::from_iter((0..1001).map(f64::from)),
    );
    let mut table = Table::new(&x, &y, false);
    let sample = Sample::parted(table.data(1.0), 8400, true).expect("reads");
    assert_eq!(sample.splits, 1);
}
