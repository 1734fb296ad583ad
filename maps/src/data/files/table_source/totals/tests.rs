use super::*;
use ndarray::Array2;

/// What is found of rows of numbers, read one or all at a time.
fn found(rows: &[[f64; 3]]) -> Option<Found> {
    let of = |step: usize| {
        let mut totals = Totals::new(None, (2, 1));
        for rows in rows.chunks(step) {
            let of = |from: usize, count| {
                Array2::from_shape_fn((rows.len(), count), |(i, j)| rows[i][from + j])
            };
            let chunk = Chunk {
                x: Rows::F64(of(0, 2)),
                y: of(2, 1),
                weights: None,
            };
            totals.see(&chunk, None);
        }
        totals.found()
    };
    assert_eq!(of(1), of(rows.len()));
    of(1)
}

#[test]
fn last_rows_of_sums_and_means_are_found() {
    let rows = [
        [1.1, 20.5, 3.0],
        [2.2, 31.0, 5.0],
        [3.4, 27.2, 7.0],
        [4.1, 33.3, 9.0],
    ];
    let with = |last: [f64; 3]| found(&[&rows[..], &[last]].concat());
    assert_eq!(found(&rows), None);
    assert_eq!(with([10.8, 112.0, 24.0]), Some(Found::Sums(vec![0, 1, 2])));
    let on_top = |first: [f64; 3]| found(&[&[first], &rows[..]].concat());
    assert_eq!(
        on_top([10.8, 112.0, 24.0]),
        Some(Found::FirstSums(vec![0, 1, 2]))
    );
    assert_eq!(
        on_top([1.0, 112.0, 24.0]),
        Some(Found::FirstSums(vec![1, 2]))
    );
    assert_eq!(on_top([10.8, 112.6, 23.0]), None);
    // Beside a number of the row, and beside a mean.
    assert_eq!(with([5.0, 112.0, 24.0]), Some(Found::Sums(vec![1, 2])));
    assert_eq!(with([2.7, 112.0, 24.0]), Some(Found::Sums(vec![1, 2])));
    assert_eq!(with([5.0, 112.0, 8.0]), None);
    assert_eq!(with([10.8, 112.6, 8.0]), None);
    let more: Vec<_> = (0..40)
        .map(|i| [f64::from(i * i) / 7.0, f64::from(100 * i), f64::from(i)])
        .collect();
    let with = |last: [f64; 3]| found(&[&more[..], &[last]].concat());
    assert_eq!(
        with([73.357, 1950.0, 19.5]),
        Some(Found::Means(vec![0, 1, 2]))
    );
    assert_eq!(with([73.357, 1950.0, 19.0]), None);
    // Fewer than three rows add up to nothing, and what is the same in all rows has no mean.
    assert_eq!(
        found(&[[1.0, 2.0, 3.0], [2.0, 3.0, 4.0], [3.0, 5.0, 7.0]]),
        None
    );
    assert_eq!(found(&[[5.0, 2.0, 1.0]; 9]), None);
}

/// Spreadsheets sum what they keep and show it rounded: of 600 cells to two places the sum is off
/// by 0.07 in the mean. What is off by far more is a row like others, and so is what is off by
/// half of three whole numbers.
#[test]
fn totals_of_what_was_rounded_afterwards_are_found() {
    let kept: Vec<_> = (0..600)
        .map(|i| [37, 61, 83].map(|step| f64::from(i * step % 211) / 211.0 + 0.001))
        .collect();
    let total = kept
        .iter()
        .fold([0.0; 3], |sum, row| [0, 1, 2].map(|k| sum[k] + row[k]));
    let shown = |row: [f64; 3]| row.map(|v| (100.0 * v).round() / 100.0);
    let rows: Vec<_> = kept.iter().map(|row| shown(*row)).collect();
    let sum = rows.iter().map(|row| row[0]).sum::<f64>();
    assert!((sum - shown(total)[0]).abs() > 0.01, "{sum} {total:?}");
    let last = |row| found(&[&rows[..], &[row]].concat());
    let first = |row| found(&[&[row], &rows[..]].concat());
    let all = vec![0, 1, 2];
    assert_eq!(last(shown(total)), Some(Found::Sums(all.clone())));
    assert_eq!(first(shown(total)), Some(Found::FirstSums(all)));
    let off = total.map(|v| v + 0.6);
    assert_eq!((last(shown(off)), first(shown(off))), (None, None));
    let few = [
        [1.0, 2.0, 3.0],
        [2.0, 3.0, 4.0],
        [3.0, 5.0, 7.0],
        [5.0, 9.0, 13.0],
    ];
    assert_eq!(found(&few), None);
}

#[test]
fn no_more_columns_are_named_than_one_reads() {
    let says = |count: usize| {
        let names: Vec<String> = (0..count).map(|k| format!("c{k}")).collect();
        Found::Sums((0..count).collect()).says(&names)
    };
    let begins = "the last row has the sums of all others in c0, c1, c2";
    assert_eq!(says(3), begins);
    assert_eq!(says(900), format!("{begins} and 897 more columns"));
}

/// Counts of what is rare, each of which is there in the last row and in some above.
#[test]
fn rows_of_few_counts_are_no_sums() {
    let rows: Vec<_> = (0..30)
        .map(|i| [0, 10, 20].map(|k| f64::from(u8::from(i == k || i == 29))))
        .collect();
    assert_eq!(found(&rows), None);
}
