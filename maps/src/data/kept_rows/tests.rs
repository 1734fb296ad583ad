use super::*;
use crate::{data::MemorySource, store::Store};
use ndarray::{Array1, s};

/// Rows of which some are twice there, and some are mostly zeros.
fn chunk(rows: std::ops::Range<usize>) -> Chunk {
    let (n, from) = (rows.len(), rows.start);
    let at = |i: usize| (from + i) / 2 * 2 + usize::from((from + i) % 6 == 1);
    let x = Array2::from_shape_fn((n, 3), |(i, j)| match (at(i) + j) % 3 {
        0 => 0.0,
        _ => (at(i) * (j + 1)) as f64,
    });
    Chunk {
        x: Rows::F64(x),
        y: Array2::from_shape_fn((n, 1), |(i, _)| at(i) as f64 / 7.0),
        weights: Some(Array1::from_shape_fn(n, |i| (at(i) % 5) as f64)),
    }
}

fn kept(ranges: &[std::ops::Range<usize>], most: usize) -> KeptRows {
    let mut kept = KeptRows::new(most, (3, 1));
    for range in ranges {
        kept.look_at(&chunk(range.clone()));
    }
    kept
}

/// The same rows are kept of the same data however it is cut and merged.
#[test]
fn what_is_kept_is_of_the_rows_alone() {
    for most in [7, 50, 1000] {
        let all = kept(&[0..300], most);
        assert_eq!(kept(&[200..300, 0..90, 90..200], most), all);
        let mut merged = kept(&[100..130], most);
        for part in [130..300, 0..1, 1..100] {
            merged.merge(&kept(&[part], most)).expect("alike");
        }
        assert_eq!(merged, all);
        assert_eq!(all.len(), most.min(all.len()));
        assert_eq!(all.are_all(), most == 1000);
        assert_eq!(all.first(5).rows, kept(&[0..300], 5).rows);
    }
    // 300 rows but for those of weight 0.
    let all = kept(&[0..300], 1000);
    let weights = chunk(0..300).weights.expect("weights");
    let counted = weights.iter().filter(|w| **w > 0.0).count();
    let total = |of: fn(&Kept) -> f64| all.rows.values().map(of).sum::<f64>();
    assert_eq!(total(|row| row.count as f64), counted as f64);
    assert_eq!(total(|row| row.weight), weights.sum());
    assert!(all.len() < counted, "some are twice there");
}

/// A part with room left over and one without: what the full one let go is kept of neither.
#[test]
fn unlike_parts_merge_to_a_sample_of_all() {
    let all = kept(&[0..300], 50);
    let (few, many) = (kept(&[0..30], 50), kept(&[30..300], 50));
    assert!(few.are_all() && !many.are_all());
    for (first, second) in [(&few, &many), (&many, &few)] {
        let mut merged = first.clone();
        merged.merge(second).expect("alike");
        assert_eq!(merged, all);
    }
}

/// A row that the other part would have let go makes no room for those behind what it let go.
#[test]
fn a_single_row_merges_to_a_sample_of_all() {
    let many = kept(&[30..300], 50);
    for i in 0..30 {
        let mut merged = kept(&[i..i + 1], 50);
        merged.merge(&many).expect("alike");
        assert_eq!(merged, kept(&[i..i + 1, 30..300], 50), "{i}");
    }
}

/// What is forgotten is as if it had never been there, as far as hashes were kept.
#[test]
fn what_is_forgotten_is_gone() {
    let mut all = kept(&[0..300], 1000);
    all.subtract(&kept(&[100..200], 1000)).expect("was there");
    assert_eq!(all, kept(&[0..100, 200..300], 1000));
    assert!(all.subtract(&kept(&[100..200], 1000)).is_err());
    let (mut few, other) = (kept(&[0..300], 40), kept(&[100..200], 40));
    few.subtract(&other).expect("was there");
    let rest = kept(&[0..100, 200..300], 40);
    let below = rest.rows.range(..few.end);
    assert!(few.rows.iter().eq(below), "all that lie below");
    assert!(few.merge(&kept(&[0..9], 41)).is_err());
}

/// Each of many different rows is kept as often as any other.
#[test]
fn rows_are_kept_alike() {
    let rows = 20_000;
    let x = Array2::from_shape_fn((rows, 2), |(i, j)| (i * (j + 1)) as f64);
    let y = Array2::zeros((rows, 1));
    let mut all = KeptRows::new(2000, (2, 1));
    let chunk = Chunk {
        x: Rows::F64(x),
        y,
        weights: None,
    };
    all.look_at(&chunk);
    assert_eq!(all.len(), 2000);
    // Tenths of the rows: 200 of each but for a deviation of 13.
    let mut tenths = [0; 10];
    for row in all.rows.values() {
        tenths[row.values.first().map_or(0, |v| *v as usize) * 10 / rows] += 1;
    }
    assert!(tenths.iter().all(|n| (145..255).contains(n)), "{tenths:?}");
}

#[test]
fn a_file_and_a_source_bring_every_bit_back() {
    let all = kept(&[0..300], 50);
    let mut store = Store::default();
    all.write(&mut store);
    let bytes = store.to_bytes("test").expect("writes");
    let store = Store::from_bytes(&bytes, "test").expect("reads");
    assert_eq!(KeptRows::read(&store).expect("reads"), all);
    let mut source = all.source();
    let held = MemorySource::from_source(&mut source).expect("rows");
    let mut again = KeptRows::new(50, (3, 1));
    let mut held = held;
    let mut held = Keeping::new(&mut held, 50);
    while held.next_chunk(7).expect("reads").is_some() {}
    again.merge(&held.into_kept()).expect("alike");
    let hashes = |of: &KeptRows| of.rows.keys().copied().collect::<Vec<_>>();
    assert_eq!(hashes(&again), hashes(&all));
}

/// A feature and a target that change their values are another row.
#[test]
fn features_and_targets_are_told_apart() {
    let values = Array2::from_shape_vec((2, 1), vec![2.0, 3.0]).expect("two");
    let (x, y) = (values.clone(), values.slice(s![..;-1, ..]).to_owned());
    let mut kept = KeptRows::new(9, (1, 1));
    kept.look_at(&Chunk {
        x: Rows::F64(x),
        y,
        weights: None,
    });
    assert_eq!(kept.len(), 2);
    assert_eq!(kept.feature(0).len(), 2);
    let pairs = kept.feature(0).into_iter().zip(kept.target(0));
    assert!(pairs.into_iter().all(|(x, y)| x + y == 5.0));
}
