use super::*;
use crate::data::{MemorySource, Split};
use ndarray::Array2;
use std::{collections::HashSet, sync::Arc};

/// Rows whose only feature is their number, with these targets.
fn rows(targets: &[f64]) -> MemorySource {
    let n = targets.len();
    let x = Array2::from_shape_fn((n, 1), |(i, _)| i as f64);
    let y = Array2::from_shape_vec((n, 1), targets.to_vec()).expect("a column");
    MemorySource::new(x, Some(y)).expect("rows")
}

/// The numbers of the rows of a part, read in chunks of so many.
fn part(folds: &Folds, all: usize, (k, part): (usize, Part), chunk: usize) -> Vec<usize> {
    let mut source = folds.part(rows(&vec![0.0; all]), k, part).expect("a fold");
    let mut found = Vec::new();
    while let Some(chunk) = source.next_chunk(chunk).expect("reads") {
        found.extend(chunk.x.into_f64().iter().map(|&row| row as usize));
    }
    assert_eq!(source.rows(), Some(found.len()));
    found
}

/// How many rows each fold holds out, where every row is held out once and else learnt from, in
/// chunks of any size.
fn parted(folds: &Folds, all: usize) -> Vec<usize> {
    let mut seen = vec![0; all];
    let sizes = (0..folds.count()).map(|k| {
        let test = part(folds, all, (k, Part::Test), 100);
        let train = part(folds, all, (k, Part::Train), 100);
        assert_eq!(part(folds, all, (k, Part::Test), 1), test);
        assert_eq!(part(folds, all, (k, Part::Train), 7), train);
        test.iter().for_each(|&row| seen[row] += 1);
        let both: HashSet<_> = test.iter().chain(&train).collect();
        assert_eq!((both.len(), test.len() + train.len()), (all, all));
        test.len()
    });
    let sizes: Vec<usize> = sizes.collect();
    assert!(seen.iter().all(|&count| count == 1), "{seen:?}");
    sizes
}

fn spread(sizes: &[usize]) -> usize {
    sizes.iter().max().unwrap_or(&0) - sizes.iter().min().unwrap_or(&0)
}

#[test]
fn every_row_is_held_out_once_and_folds_are_even() {
    for (all, count) in [(10, 5), (103, 5), (64, 3), (7, 7)] {
        let folds = Folds::dealt(&mut rows(&vec![0.5; all]), count, Seed(4)).expect("folds");
        assert!(spread(&parted(&folds, all)) <= 1, "{all} {count}");
    }
    // The same folds of the same seed everywhere, and others of another.
    let of = |seed| {
        Folds::dealt(&mut rows(&[0.0; 12]), 4, Seed(seed))
            .expect("folds")
            .of_row
    };
    assert_eq!(of(0).to_vec(), KNOWN);
    assert_ne!(of(1), of(0));
}

/// What seed 0 deals 12 rows into 4 folds.
const KNOWN: [u16; 12] = [0, 2, 1, 3, 1, 3, 2, 0, 2, 3, 1, 0];

#[test]
fn classes_are_spread_evenly_and_so_are_all_rows() {
    // Sorted by class, as files often are: 41, 9, 22 and 2 rows.
    let mut labels = vec![3.0; 41];
    labels.extend([[-1.0; 9].as_slice(), &[0.0; 11], &[-0.0; 11], &[7.0; 2]].concat());
    let folds = Folds::stratified(&mut rows(&labels), 4, Seed(1)).expect("folds");
    assert!(spread(&parted(&folds, labels.len())) <= 1);
    for class in [3.0, -1.0, 0.0, 7.0] {
        let of = |k| {
            let test = part(&folds, labels.len(), (k, Part::Test), 100);
            test.iter().filter(|&&row| labels[row] == class).count()
        };
        let sizes: Vec<usize> = (0..4).map(of).collect();
        assert!(spread(&sizes) <= 1, "{class}: {sizes:?}");
    }
}

#[test]
fn a_group_is_never_on_both_sides() {
    let groups: Vec<u32> = (0..200_u32).map(|i| i * i % 23).collect();
    let folds = Folds::of_groups(&groups, 4, Seed(2)).expect("folds");
    let sizes = parted(&folds, groups.len());
    assert!(
        sizes.iter().all(|size| (40..=60).contains(size)),
        "{sizes:?}"
    );
    for k in 0..4 {
        let of = |which| -> HashSet<u32> {
            let rows = part(&folds, groups.len(), (k, which), 100);
            rows.into_iter().map(|row| groups[row]).collect()
        };
        assert!(of(Part::Train).is_disjoint(&of(Part::Test)));
    }
    // Of 1 to 12 rows, the small ones first.
    let groups: Vec<u32> = (1..13).flat_map(|size| vec![size; size as usize]).collect();
    let folds = Folds::of_groups(&groups, 3, Seed(2)).expect("folds");
    assert_eq!(parted(&folds, groups.len()), [26, 26, 26]);
}

#[test]
fn what_comes_later_is_predicted_from_what_came_before() {
    // Out of order, seven rows a time, some of them on the border of a block of fifteen.
    let times: Vec<f64> = (0..60).map(|i| f64::from(i * 7 % 60 / 7)).collect();
    let folds = Folds::in_time(&times, 3).expect("folds");
    let of = |k, which| -> Vec<f64> {
        let rows = part(&folds, times.len(), (k, which), 100);
        rows.into_iter().map(|row| times[row]).collect()
    };
    for k in 0..3 {
        let (train, test) = (of(k, Part::Train), of(k, Part::Test));
        let last = train.iter().copied().fold(f64::MIN, f64::max);
        assert!(test.iter().all(|&time| time > last), "{k}: {last} {test:?}");
        // A fold knows all that came before the rows that it predicts.
        let first = test.iter().copied().fold(f64::MAX, f64::min);
        assert_eq!(
            train.len(),
            times.iter().filter(|&&time| time < first).count()
        );
    }
    let last = Folds::last(&mut rows(&[0.0; 11]), 0.2).expect("a fold");
    assert_eq!(
        part(&last, 11, (0, Part::Train), 4),
        (0..9).collect::<Vec<_>>()
    );
    assert_eq!(part(&last, 11, (0, Part::Test), 4), [9, 10]);
}

#[test]
fn folds_that_cannot_be_are_refused_with_what_helps() {
    let mut few = rows(&[0.0, 1.0, 1.0, 1.0]);
    let refused = [
        Folds::dealt(&mut few, 1, Seed(0)),
        Folds::dealt(&mut few, 5, Seed(0)),
        Folds::of_groups(&["a", "b", "a"], 3, Seed(0)),
        Folds::in_time(&[1.0, 1.0, 1.0, 2.0], 2),
        Folds::in_time(&[1.0, f64::NAN, 2.0], 2),
        Folds::last(&mut few, 0.01),
        Folds::last(&mut few, 1.0),
    ];
    let said = [
        "with 1 fold nothing is learnt from",
        "5 folds are asked for, and 4 are the most of 4 rows; use fewer folds",
        "3 folds are asked for, and 2 are the most of 2 groups; use fewer folds",
        "2 folds in time take 3 blocks",
        "the time of row 1",
        "the last 0.01 of 4 rows",
        "the last 1 of 4 rows",
    ];
    for (refused, said) in refused.into_iter().zip(said) {
        let error = refused.expect_err(said).to_string();
        assert!(error.starts_with(said), "{error}");
    }
    // A class of fewer rows than folds is no error.
    assert!(Folds::stratified(&mut few, 3, Seed(0)).is_ok());
    // Folds of other rows are one.
    let folds = Folds::dealt(&mut few, 2, Seed(0)).expect("folds");
    for other in [3, 5] {
        let mut test = folds
            .part(rows(&vec![0.0; other]), 0, Part::Test)
            .expect("a fold");
        let mut read = || -> Result<()> {
            while test.next_chunk(2)?.is_some() {}
            Ok(())
        };
        let error = read().expect_err("other rows").to_string();
        assert!(error.starts_with("folds were made of 4 rows"), "{error}");
    }
    assert!(folds.part(rows(&[0.0; 4]), 2, Part::Test).is_err());
}

/// Parts of folds know which of their rows belong together, so that what a part is parted into are
/// whole groups again, and of times the latest.
#[test]
fn parts_of_folds_are_parted_by_whole_groups() {
    let patients: Vec<usize> = (0..60).map(|row| row % 12).collect();
    let of_patients = Folds::of_groups(&patients, 4, Seed(3)).expect("folds");
    let times: Vec<f64> = (0..60).map(|row| f64::from(59 - row)).collect();
    let in_time = Folds::in_time(&times, 5).expect("folds");
    for (folds, k) in [(&of_patients, 1), (&in_time, 3)] {
        let open = || {
            folds
                .part(rows(&[0.0; 60]), k, Part::Train)
                .expect("a fold")
        };
        let read = |mut source: Box<dyn ChunkSource>| {
            let known = source.rows().expect("known");
            let chunk = source.next_chunk(60).expect("reads").expect("rows");
            assert_eq!(chunk.x.nrows(), known);
            let numbers = chunk.x.into_f64();
            numbers.iter().map(|&row| row as usize).collect::<Vec<_>>()
        };
        let held = read(Box::new(
            Split::new(open(), Part::Test, 0.3, 0).expect("a part"),
        ));
        let none = Arc::default();
        let rest = Split::by_contents(open(), Part::Train, 0.3, 9, &none);
        let rest = read(Box::new(rest));
        assert_eq!(held.len() + rest.len(), open().rows().expect("known"));
        assert!(held.len() > 9 && held.len() < 16, "{held:?}");
        if folds.is_ahead() {
            // Later rows come first.
            assert!(held.iter().max() < rest.iter().min())
        } else {
            assert!(held.iter().all(|&h| rest.iter().all(|&r| h % 12 != r % 12)))
        }
        let one = read(Box::new(Split::fold(open(), (2, 3), 0).expect("a fold")));
        assert!(one.iter().all(|row| held.contains(row)) || one.len() > held.len());
        let all = folds.all(rows(&[0.0; 60])).expect("as many");
        assert_eq!(all.groups().map(|groups| groups.len()), Some(60));
        assert!(folds.all(rows(&[0.0; 59])).is_err());
    }
}
