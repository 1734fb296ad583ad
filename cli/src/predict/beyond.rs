//! Rows that lie far outside of those that a model was fitted on.

use crate::report::{counted, six_digits};
use bochner::{
    Result,
    data::{Chunk, ChunkSource, Column, Kind, Rows},
    models::{LinearModel, Range},
};

/// Columns that are named, at most.
const NAMED: usize = 3;

/// Rows that are scored are of the law of those that were fitted, as a rule: they are told of where
/// they are outside by so many times what lies between the ends.
const WITH_SCORES: f64 = 10.0;

/// A source that counts such rows on their way to a model.
pub(crate) struct Watched<S> {
    source: S,
    rows: u64,
    columns: Vec<Seen>,
}

/// A column of numbers or dates.
struct Seen {
    /// Its place among the columns of the model.
    at: usize,
    name: String,
    is_date: bool,
    ends: Range,
    /// By how many times what lies between them rows are outside that count, at least.
    least: f64,
    /// Rows that are far outside, and the value that is farthest.
    far: u64,
    farthest: Option<f64>,
}

impl<S> Watched<S> {
    pub(crate) fn new(source: S, model: &LinearModel) -> Self {
        Self {
            source,
            rows: 0,
            columns: columns(model, 0.0),
        }
    }

    /// As [`Self::new`], of rows that are scored.
    pub(crate) fn with_scores(source: S, model: &LinearModel) -> Self {
        Self {
            source,
            rows: 0,
            columns: columns(model, WITH_SCORES),
        }
    }

    fn look_at(&mut self, x: &Rows) {
        self.rows += x.nrows() as u64;
        for seen in &mut self.columns {
            match x {
                Rows::F32(x) => x
                    .column(seen.at)
                    .iter()
                    .for_each(|v| seen.look_at(f64::from(*v))),
                Rows::F64(x) => x.column(seen.at).iter().for_each(|v| seen.look_at(*v)),
            }
        }
    }

    /// What is said of such rows: of the columns that most of them are far outside of.
    pub(crate) fn note(&self) -> Option<String> {
        let mut far: Vec<&Seen> = self.columns.iter().filter(|seen| seen.far > 0).collect();
        far.sort_by_key(|seen| std::cmp::Reverse(seen.far));
        let named = far.iter().take(NAMED).map(|seen| seen.said(self.rows));
        let named: Vec<String> = named.collect();
        let more = match far.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {}", counted(more as u64, "more column")),
        };
        (!far.is_empty()).then(|| {
            format!(
                "far outside of what the fit saw: {}{more}; predictions there rest on no row",
                named.join(", ")
            )
        })
    }
}

/// The columns of `model` whose ranges are known, but for those that text became.
fn columns(model: &LinearModel, least: f64) -> Vec<Seen> {
    let Some(ranges) = &model.ranges else {
        return Vec::new();
    };
    let seen = |at: usize, is_date| Seen {
        at,
        name: match &model.column_names {
            Some(names) => names[at].clone(),
            None => format!("column {at} (counted from 0)"),
        },
        is_date,
        ends: ranges.of_column(at),
        least,
        far: 0,
        farthest: None,
    };
    let Some(schema) = &model.schema else {
        return (0..ranges.columns()).map(|at| seen(at, false)).collect();
    };
    let mut end = 0;
    let fields = schema.features().iter().filter_map(|field| {
        let at = end;
        end += field.width();
        match field.kind() {
            Kind::Number => Some(seen(at, false)),
            Kind::Date(_) => Some(seen(at, true)),
            _ => None,
        }
    });
    fields.collect()
}

impl Seen {
    fn look_at(&mut self, value: f64) {
        let Range { min, max } = self.ends;
        let distance = |value: f64| (value - max).max(min - value);
        if !self.ends.is_far(value) || distance(value) < self.least * (max - min) {
            return;
        }
        self.far += 1;
        if self
            .farthest
            .is_none_or(|most| distance(value) > distance(most))
        {
            self.farthest = Some(value);
        }
    }

    fn said(&self, rows: u64) -> String {
        let text = |value: f64| {
            if self.is_date {
                Column::Dates(vec![value]).cells().concat()
            } else {
                six_digits(value)
            }
        };
        let share = 100.0 * self.far as f64 / rows as f64;
        let farthest = text(self.farthest.unwrap_or(f64::NAN));
        format!(
            "{} in {share:.1} % of rows, as {farthest} (the fit saw {} to {})",
            self.name,
            text(self.ends.min),
            text(self.ends.max)
        )
    }
}

impl<S: ChunkSource> ChunkSource for Watched<S> {
    bochner::as_its_source!(self => self.source);
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let chunk = self.source.next_chunk(max_rows)?;
        if let Some(chunk) = &chunk {
            self.look_at(&chunk.x);
        }
        Ok(chunk)
    }
    fn rewind(&mut self) -> Result<()> {
        self.source.rewind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner::{data::MemorySource, prelude::*};
    use ndarray::{Array2, array};

    #[test]
    fn rows_far_outside_are_told_of_with_their_columns() {
        let x = Array2::from_shape_fn((40, 3), |(i, j)| (i * (j + 1)) as f64);
        let y = x.column(0).to_owned();
        let model = Ridge::on(Fourier::new(Gaussian))
            .lambda(0.1)
            .fit((&x, &y))
            .expect("fits");
        let note = |rows: Array2<f64>| {
            let source = MemorySource::new(rows, None).expect("rows");
            let mut watched = Watched::new(source, model.linear());
            while watched.next_chunk(1).expect("rows").is_some() {}
            watched.note()
        };
        let scored = |value: f64| {
            let source = MemorySource::new(array![[value, 0.0, 0.0]], None).expect("rows");
            let mut watched = Watched::with_scores(source, model.linear());
            while watched.next_chunk(1).expect("rows").is_some() {}
            watched.note().is_some()
        };
        assert!(!scored(400.0) && scored(450.0));
        let near = array![[0.0, 78.0, 0.0], [50.0, -10.0, 3.0]];
        assert_eq!(note(near.clone()), None);
        let mut far = near;
        (far[[0, 0]], far[[1, 1]], far[[0, 1]]) = (1e6, -500.0, 118.0);
        assert_eq!(
            note(far).as_deref(),
            Some(
                "far outside of what the fit saw: column 1 (counted from 0) in 100.0 % of rows, as \
                 -500.000 (the fit saw 0 to 78.0000), column 0 (counted from 0) in 50.0 % of rows, \
                 as 1.00000e6 (the fit saw 0 to 39.0000); predictions there rest on no row"
            )
        );
    }

    #[test]
    fn dates_far_outside_are_told_of_as_dates() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let rows = (1..=28).map(|day| format!("{day:02}.02.2024,{day}\n"));
        std::fs::write(at("t.csv"), format!("day,y\n{}", rows.collect::<String>()))
            .expect("writes");
        std::fs::write(at("new.csv"), "day\n05.03.2024\n31.12.2030\n").expect("writes");
        let model = Ridge::on(Fourier::new(Gaussian).features(20))
            .device(&Device::cpu())
            .fit(DataFile::at(at("t.csv")).target("y"))
            .expect("fits");
        let source = model.open(at("new.csv")).expect("opens");
        let mut watched = Watched::new(source, model.linear());
        while watched.next_chunk(9).expect("rows").is_some() {}
        let said = watched.note().expect("one is far");
        let wanted = "day in 50.0 % of rows, as 2030-12-31 (the fit saw 2024-02-01 to 2024-02-28)";
        assert!(said.contains(wanted), "{said}");
    }
}
