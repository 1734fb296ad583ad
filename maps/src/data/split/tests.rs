//! Which rows are in which part.

use super::*;
use crate::data::MemorySource;
use crate::data::parting::hash;

/// Fold k is the rows whose hash leaves k, as [`Split::fold`] says.
#[test]
fn folds_are_the_remainders_of_the_hash() {
    let x = Array2::from_shape_fn((200, 1), |(i, _)| i as f64);
    for (k, folds) in [(0, 2), (1, 2), (0, 5), (3, 5), (4, 5)] {
        let source = MemorySource::new(&x, None).expect("rows");
        let mut fold = Split::fold(source, (k, folds), 9).expect("has rows");
        let chunk = fold.next_chunk(1000).expect("reads").expect("rows");
        let own = (0..200).filter(|&i| hash(9, i) % folds as u64 == k as u64);
        let own: Vec<f64> = own.map(|i| i as f64).collect();
        assert_eq!(chunk.x.into_f64().column(0).to_vec(), own, "{k} of {folds}");
    }
    let source = MemorySource::new(&x, None).expect("rows");
    assert!(matches!(
        Split::fold(source, (5, 5), 9),
        Err(Error::Parameter(_))
    ));
}

#[test]
fn known_answers() {
    // The first outputs of SplitMix64 from state 0, which mix leaves as it is.
    let outputs = [
        0xe220_a839_7b1d_cdaf,
        0x6e78_9e6a_a1b9_65f4,
        0x06c4_5d18_8009_454f,
    ];
    for (row, output) in outputs.into_iter().enumerate() {
        assert_eq!(hash(0, row as u64), output);
    }
    assert_ne!(hash(1, 0), hash(0, 1));
}
