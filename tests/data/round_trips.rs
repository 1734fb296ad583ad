//! Round trips: any numbers and any text, in every format, in chunks of any size.

use crate::{cases, opened, place, read_all, table};
use bochner::data::{CsvWriter, NpyWriter, OpenOptions, open};
use ndarray::Array2;
use proptest::{collection::vec, num, prelude::*};
use std::{fmt::Write, fs, path::Path};

/// Rows of any finite numbers, including subnormal ones and both zeros.
fn numbers() -> impl Strategy<Value = Array2<f64>> {
    let number = num::f64::NORMAL | num::f64::SUBNORMAL | num::f64::ZERO;
    (1..40_usize, 1..6_usize).prop_flat_map(move |(rows, columns)| {
        let of_shape = move |values| Array2::from_shape_vec((rows, columns), values).unwrap();
        vec(number, rows * columns).prop_map(of_shape)
    })
}

/// The numbers of a file, without targets.
fn read(path: &Path, max_rows: usize) -> Array2<f64> {
    let mut source = opened(open(path, &OpenOptions::default()));
    opened(read_all(source.as_mut(), max_rows)).x.into_f64()
}

/// The same bits; a negative zero becomes a zero in text.
fn assert_same(read: &Array2<f64>, written: &Array2<f64>) {
    assert_eq!(read.dim(), written.dim());
    let bits = |rows: &Array2<f64>| rows.mapv(f64::to_bits);
    assert_eq!(bits(read), bits(written), "{read} for {written}");
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn numbers_in_binary(numbers in numbers(), max_rows in 1..50_usize) {
        let (_folder, path) = place("x.npy");
        let mut file = opened(NpyWriter::create(&path, numbers.ncols()));
        opened(file.write_rows(numbers.view()));
        opened(file.finish());
        assert_same(&read(&path, max_rows), &numbers);
        let single = numbers.mapv(|v| v as f32);
        let mut file = opened(NpyWriter::create(&path, numbers.ncols()));
        opened(file.write_rows(single.view()));
        opened(file.finish());
        if single.iter().all(|v| v.is_finite()) {
            assert_same(&read(&path, max_rows), &single.mapv(f64::from));
        }
    }

    #[test]
    fn numbers_in_text(numbers in numbers(), max_rows in 1..50_usize) {
        let (_folder, path) = place("x.csv");
        let names: Vec<_> = (0..numbers.ncols()).map(|j| format!("c{j}")).collect();
        let mut file = opened(CsvWriter::create(&path, &names));
        opened(file.write_rows(numbers.view()));
        opened(file.finish());
        assert_same(&read(&path, max_rows), &numbers);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn numbers_in_columns(numbers in numbers(), max_rows in 1..50_usize) {
        use bochner::data::{AtomicFile, ParquetWriter};
        let (_folder, path) = place("x.parquet");
        let names: Vec<_> = (0..numbers.ncols()).map(|j| format!("c{j}")).collect();
        let file = opened(AtomicFile::create(&path));
        let mut file = opened(ParquetWriter::numbers(file, &names));
        opened(file.write_rows(numbers.view()));
        opened(file.finish());
        assert_same(&read(&path, max_rows), &numbers);
    }

    /// Zeros are dropped, except in the last column, which determines the width.
    #[test]
    fn numbers_that_are_mostly_zeros(
        numbers in numbers(),
        kept in vec(any::<bool>(), 240),
        max_rows in 1..50_usize,
    ) {
        let last = numbers.ncols() - 1;
        let (mut text, mut wanted) = (String::new(), numbers);
        for (i, mut row) in wanted.rows_mut().into_iter().enumerate() {
            write!(text, "{}", i % 3).unwrap();
            for (j, value) in row.iter_mut().enumerate() {
                if kept[(5 * i + j) % kept.len()] || j == last {
                    write!(text, " {}:{value:e}", j + 1).unwrap();
                } else {
                    *value = 0.0;
                }
            }
            text.push('\n');
        }
        let (_folder, path) = place("x.libsvm");
        fs::write(&path, text).unwrap();
        assert_same(&read(&path, max_rows), &wanted);
    }

    /// Separators, quotes and line ends within fields; surrounding blanks are stripped.
    #[test]
    fn text_of_any_kind(
        fields in vec(["[a-z,;\"\n\r\t é?]{0,9}", "\\PC{0,9}"], 1..20),
        max_rows in 1..25_usize,
    ) {
        let fields = fields.iter().map(|row| row.each_ref().map(|field| field.trim()));
        let fields: Vec<[&str; 2]> = fields.collect();
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["first", "second"]).unwrap();
        for row in &fields {
            writer.write_record(row).unwrap();
        }
        let (_folder, table) = table::table(writer.into_inner().unwrap());
        let rows = opened(table::rows(&mut opened(table), max_rows));
        assert_eq!(rows, fields);
    }
}
