use crate::{assert_says, opened, read_in_every_way};
use bochner::Result;
use bochner::data::{Chunk, ChunkSource, MemorySource, Part, Rows, Split, Survey};
use ndarray::{Array1, Array2, ShapeBuilder, array, s};

fn numbered(rows: usize) -> MemorySource {
    let x = Array2::from_shape_fn((rows, 2), |(i, j)| (i * 2 + j) as f32);
    let y = Array2::from_shape_fn((rows, 1), |(i, _)| i as f64);
    opened(MemorySource::new(x, Some(y)))
}

#[test]
fn memory_takes_any_layout() {
    let x = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let mut by_columns = Array2::zeros((2, 3).f());
    by_columns.assign(&x);
    let expected = Rows::F64(x.clone());
    let reversed = x.slice(s![..;-1, ..]);
    for rows in [
        Rows::from(&x),
        Rows::from(by_columns.clone()),
        Rows::from(by_columns.view()),
        Rows::F64(by_columns.clone()),
    ] {
        let mut source = opened(MemorySource::new(rows, None));
        let read = read_in_every_way(&mut source);
        assert_eq!((read.x, read.y.dim()), (expected.clone(), (2, 0)));
    }
    let read = read_in_every_way(&mut opened(MemorySource::new(
        reversed,
        Some(array![[1.0], [2.0]]),
    )));
    assert_eq!(
        (read.x, read.y),
        (
            Rows::F64(array![[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]),
            array![[1.0], [2.0]]
        )
    );
}

#[test]
fn memory_refuses() {
    let x = || array![[1.0_f32, 2.0], [3.0, 4.0]];
    assert_says(
        MemorySource::new(Array2::<f32>::zeros((0, 2)), None),
        &["[0, 2]", "no rows"],
    );
    assert_says(
        MemorySource::new(Array2::<f32>::zeros((2, 0)), None),
        &["no columns"],
    );
    assert_says(
        MemorySource::new(x(), Some(array![[1.0]])),
        &["2 rows", "y has 1"],
    );
    let mut bad = x();
    bad[(1, 0)] = f32::INFINITY;
    assert_says(
        MemorySource::new(bad, None),
        &["X: row 1, column 0 (counted from 0) is infinite"],
    );
    assert_says(
        MemorySource::new(x(), Some(array![[1.0], [f64::NAN]])),
        &["y: row 1, column 0", "NaN"],
    );
    assert_says(numbered(3).next_chunk(0), &["0 rows"]);
}

#[test]
fn split_parts_are_complementary_and_independent_of_chunks() {
    for (fraction, seed) in [(0.5, 0), (0.2, 1), (0.05, 2)] {
        let part = |part| {
            let mut split = opened(Split::new(numbered(2000), part, fraction, seed));
            let read = read_in_every_way(&mut split);
            assert_eq!(split.rows(), Some(read.y.nrows()));
            assert_eq!(
                read.x.into_f64().column(0),
                read.y.column(0).mapv(|i| i * 2.0)
            );
            read.y.column(0).to_vec()
        };
        let (train, test) = (part(Part::Train), part(Part::Test));
        assert!(train.is_sorted() && test.is_sorted());
        let mut all = [train, test.clone()].concat();
        all.sort_by(f64::total_cmp);
        assert_eq!(all, (0..2000).map(f64::from).collect::<Vec<_>>());
        // Within four standard deviations of the binomial count.
        let (mean, deviation) = (
            2000.0 * fraction,
            (2000.0 * fraction * (1.0 - fraction)).sqrt(),
        );
        assert!(
            (test.len() as f64 - mean).abs() < 4.0 * deviation,
            "{} test rows",
            test.len()
        );
    }
}

/// With enough rows that a fraction 3 per cent off exceeds the noise.
#[test]
fn a_split_takes_the_fraction_that_it_is_told() {
    for (fraction, seed) in [(0.2, 4), (0.5, 5)] {
        let rows = 200_000;
        let split = opened(Split::new(numbered(rows), Part::Test, fraction, seed));
        let taken = split.rows().expect("known") as f64;
        let mean = rows as f64 * fraction;
        let allowed = 4.0 * (mean * (1.0 - fraction)).sqrt();
        assert!(allowed < 0.02 * mean, "says nothing");
        assert!((taken - mean).abs() < allowed, "{taken} of {mean}");
    }
}

#[test]
fn split_golden_rows() {
    // A split determines the meaning of a reported accuracy: it must stay the same in every version
    // and on every platform.
    let mut split = opened(Split::new(numbered(40), Part::Test, 0.25, 42));
    let rows = read_in_every_way(&mut split).y.column(0).to_vec();
    assert_eq!(rows, GOLDEN);
}
/// From the formula in [`Split`]'s documentation, computed independently.
const GOLDEN: [f64; 16] = [
    1.0, 2.0, 3.0, 5.0, 7.0, 9.0, 13.0, 14.0, 16.0, 17.0, 18.0, 21.0, 26.0, 29.0, 30.0, 32.0,
];

#[test]
fn split_fills_its_chunks() {
    let mut split = opened(Split::new(numbered(10_000), Part::Test, 0.05, 3));
    let rows = split.next_chunk(100).unwrap().unwrap().x.nrows();
    assert!((51..=100).contains(&rows), "{rows}");
}

#[test]
fn split_refuses() {
    for fraction in [0.0, 1.0, -0.5, f64::NAN] {
        assert_says(
            Split::new(numbered(4), Part::Test, fraction, 0),
            &["fraction", "between 0 and 1"],
        );
    }
    assert_says(
        Split::new(numbered(4), Part::Test, 1e-9, 0),
        &["test part has no rows"],
    );
}

/// A user-defined source: returns one chunk `left` times, with arbitrary declared properties.
#[derive(Debug)]
struct Own {
    chunk: Chunk,
    targets: usize,
    rows: Option<usize>,
    left: usize,
}

/// One row of two columns, and `y_rows` rows of y.
fn own(y_rows: usize, left: usize) -> Own {
    Own {
        chunk: Chunk {
            x: Rows::F32(array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
            y: Array2::zeros((y_rows, 1)),
            weights: None,
        },
        targets: 1,
        rows: None,
        left,
    }
}

impl ChunkSource for Own {
    fn columns(&self) -> usize {
        2
    }
    fn targets(&self) -> usize {
        self.targets
    }
    fn rows(&self) -> Option<usize> {
        self.rows
    }
    fn column_names(&self) -> Option<Vec<String>> {
        Some(vec!["age".into(), "height".into()])
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let mut chunk = self.chunk.clone();
        if max_rows < chunk.x.nrows() {
            chunk.x = chunk.x.slice(0..max_rows);
            chunk.y = chunk.y.slice(s![..max_rows, ..]).to_owned();
        }
        Ok(Some(chunk))
    }
    fn rewind(&mut self) -> Result<()> {
        Ok(())
    }
}

#[test]
fn chunks_of_another_shape_than_promised_are_refused() {
    let no_rows = |mut source: Own| {
        source.chunk.x = Rows::F32(Array2::zeros((0, 2)));
        source
    };
    let three_targets = |mut source: Own| {
        source.targets = 3;
        source
    };
    for (source, words) in [
        (own(2, 9), &["x [3, 2]", "y (2, 1)", "mend the source"][..]),
        (own(4, 9), &["x [3, 2]", "y (4, 1)"]),
        (no_rows(own(0, 9)), &["x [0, 2]", "y (0, 1)"]),
        (three_targets(own(3, 9)), &["y (3, 1)", "3 targets"]),
    ] {
        let again = || Own {
            chunk: source.chunk.clone(),
            ..source
        };
        assert_says(Survey::new(&mut again(), 2, 0), words);
        for part in [Part::Train, Part::Test] {
            assert_says(
                opened(Split::new(again(), part, 0.5, 0)).next_chunk(100),
                words,
            );
        }
    }
}

#[test]
fn weights_stay_with_their_rows() {
    let x = Array2::from_shape_fn((200, 1), |(i, _)| i as f32);
    let weights = Array1::from_shape_fn(200, |i| 1.0 + i as f64);
    let source = MemorySource::new(x, None).unwrap();
    let source = source.with_weights(weights).unwrap();
    for part in [Part::Train, Part::Test] {
        let rows = read_in_every_way(&mut opened(Split::new(source.clone(), part, 0.3, 1)));
        let weights = rows.weights.expect("weights");
        assert!(weights.len() > 30);
        assert_eq!(weights - 1.0, rows.x.into_f64().column(0));
    }
    // Undeclared weights, and invalid ones.
    let mut unasked = own(3, 9);
    unasked.chunk.weights = Some(Array1::ones(3));
    assert_says(
        Survey::new(&mut unasked, 2, 0),
        &["has 3 weights", "promises none"],
    );
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let weights = array![1.0, weight];
        let source = MemorySource::new(array![[0.0], [1.0]], None).unwrap();
        assert_says(
            source.with_weights(weights),
            &["weights: row 1", "not negative"],
        );
    }
}

#[test]
fn a_survey_names_the_row_and_the_column_of_what_is_not_finite() {
    let survey = |x: f32, y: f64| {
        let mut source = own(3, 1);
        source.chunk.x = Rows::F32(array![[1.0, 2.0], [3.0, x], [5.0, 6.0]]);
        source.chunk.y[(2, 0)] = y;
        Survey::new(&mut source, 2, 0)
    };
    assert_eq!(survey(4.0, 0.0).unwrap().column(1), "column 'height'");
    assert_says(
        survey(f32::NAN, 0.0),
        &["row 1, column 'height' is NaN", "remove the row"],
    );
    assert_says(
        survey(f32::NEG_INFINITY, 0.0),
        &["row 1", "'height'", "infinite"],
    );
    assert_says(survey(4.0, f64::NAN), &["y: row 2, column 0", "NaN"]);
    // Row numbers count from the start of the source, not of the chunk.
    let mut late = own(3, 5);
    late.chunk.x = Rows::F32(array![[1.0, 2.0]]);
    late.chunk.y = array![[f64::INFINITY]];
    let good = MemorySource::new(array![[0.0_f32, 1.0]], Some(array![[0.0]])).unwrap();
    assert_says(
        Survey::new(&mut After(good, late), 2, 0),
        &["y: row 1, column 0"],
    );
}

/// Two sources in sequence.
#[derive(Debug)]
struct After(MemorySource, Own);

impl ChunkSource for After {
    fn columns(&self) -> usize {
        2
    }
    fn targets(&self) -> usize {
        1
    }
    fn rows(&self) -> Option<usize> {
        None
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        match self.0.next_chunk(max_rows)? {
            None => self.1.next_chunk(max_rows),
            some => Ok(some),
        }
    }
    fn rewind(&mut self) -> Result<()> {
        self.0.rewind()
    }
}

#[test]
fn a_split_does_not_count_rows_without_end() {
    let endless = || Own {
        rows: Some(usize::MAX),
        ..own(3, usize::MAX)
    };
    for part in [Part::Train, Part::Test] {
        let mut split = opened(Split::new(endless(), part, 0.3, 1));
        assert_eq!(split.rows(), None);
        let rows = split.next_chunk(100).unwrap().expect("rows").x.nrows();
        assert!((51..=100).contains(&rows), "{rows}");
    }
    let mut unknown = opened(Split::new(own(3, 50), Part::Test, 0.3, 1));
    assert_eq!(unknown.rows(), None);
    assert!(unknown.next_chunk(100).unwrap().is_some());
}
