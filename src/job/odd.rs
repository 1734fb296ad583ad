//! Suspicious cells: numbers that stand for missing values, and typing errors.

mod close_rows;
mod gap_codes;

use crate::{
    Result,
    data::{ChunkSource, KeptRows, Kind, Schema, Survey, date_text},
    features::FeatureMap,
    model::Targets,
};
use gap_codes::{GapCodes, no_date};

/// Least number of rows with a code for a missing value: a single one may be a value.
const OFTEN: usize = 2;

/// Distance of a typing error from the centre, in ranges of the inner 98 % of the rows. None of
/// 10^6 log-normal values with standard deviation 3 of the logarithm is that far away.
const SLIP: f64 = 1e4;
/// Least distance of a typing error from the mean, in standard deviations.
const DEVIATIONS: f64 = 2.5;
/// Least number of rows for a warning.
const ENOUGH: usize = 20;

/// Rows that are read if the survey kept none, and the bytes that they may take.
const FIRST: (usize, usize) = (4096, 4 << 20);

/// Warns about columns and targets with numbers that may stand for missing values, and with typing
/// errors, in the rows that the survey kept or in the first rows of each source. Rewinds the
/// sources. Errors as they do.
pub fn warn_of_odd_cells(survey: &Survey, sources: &mut [&mut dyn ChunkSource]) -> Result<()> {
    warn_of_odd_rows(survey, sources, (None, None))
}

/// Warns as [`warn_of_odd_cells`] does, except for labels, and about columns whose values collapse
/// in the single precision of a map.
pub(super) fn warn_of_odd_rows(
    survey: &Survey,
    sources: &mut [&mut dyn ChunkSource],
    (targets, map): (Option<&Targets>, Option<&dyn FeatureMap>),
) -> Result<()> {
    let first;
    let rows = match &survey.deciding {
        Some(rows) => rows,
        None => {
            first = first_rows(sources)?;
            &first
        }
    };
    let schema = sources.first().and_then(|source| source.schema());
    let are_labels = matches!(targets, Some(Targets::Classes(_)));
    let close = map.map_or_else(Vec::new, |map| close_rows::warnings(survey, rows, map));
    for warning in (warnings(survey, rows, schema, are_labels).into_iter()).chain(close) {
        log::warn!("{warning}");
    }
    Ok(())
}

fn first_rows(sources: &mut [&mut dyn ChunkSource]) -> Result<KeptRows> {
    let size = (sources.first()).map_or((1, 0), |source| (source.columns(), source.targets()));
    let (most, bytes) = FIRST;
    let most = most.min(bytes / KeptRows::row_bytes(size));
    let mut rows = KeptRows::new(most * sources.len(), size);
    for source in sources {
        let mut left = most;
        while left > 0
            && let Some(chunk) = source.next_chunk(left)?
        {
            left = left.saturating_sub(chunk.x.nrows());
            rows.look_at(&chunk);
        }
        source.rewind()?;
    }
    Ok(rows)
}

fn warnings(
    survey: &Survey,
    rows: &KeptRows,
    schema: Option<&Schema>,
    are_labels: bool,
) -> Vec<String> {
    let days = days(schema);
    let features = (0..survey.mean.len()).filter(|&j| {
        let ends = [survey.min[j], survey.max[j]];
        is_suspect(
            ends,
            (survey.mean[j], survey.variance[j]),
            days.contains(&j),
        )
    });
    let features = features.filter_map(|j| {
        let says = said(rows.feature(j), days.contains(&j))?;
        Some(format!("{}: {says}", survey.column(j)))
    });
    let targets = survey.targets.iter().enumerate();
    let targets = targets.filter(|(_, target)| {
        let ends = [target.min, target.max].map(|end| as_written(survey, end));
        let may =
            survey.rescale.is_some() || is_suspect(ends, (target.mean, target.variance), false);
        may && !are_labels
    });
    let targets = targets.filter_map(|(k, target)| {
        let values = rows.target(k).into_iter();
        let values = values.map(|value| as_written(survey, value)).collect();
        // Labels have no typing errors.
        let is_label = target.whole && target.distinct.is_some();
        let values = sorted(values);
        let gaps = gaps(&values, false).map(|says| says + WITHOUT_TARGET);
        let says = gaps.or_else(|| slips(&values).filter(|_| !is_label))?;
        let which = match survey.targets.len() {
            1 => "the target".to_owned(),
            _ => format!("target {k} (counted from 0)"),
        };
        Some(format!("{which}: {says}"))
    });
    features.chain(targets).collect()
}

/// Remedy for targets that stand for missing values.
const WITHOUT_TARGET: &str =
    ", with --drop-rows-without-target (drop_rows_without_target=) beside it";

/// Returns a target on its original scale, rounded to twelve digits because of logarithms.
fn as_written(survey: &Survey, value: f64) -> f64 {
    let Some(rescale) = &survey.rescale else {
        return value;
    };
    let amount = rescale.amount(value);
    format!("{amount:.11e}").parse().unwrap_or(amount)
}

/// Returns the columns that are dates.
fn days(schema: Option<&Schema>) -> Vec<usize> {
    let Some(schema) = schema else {
        return Vec::new();
    };
    let fields = schema.features().iter().enumerate();
    let dates = fields.filter(|(_, field)| matches!(field.kind(), Kind::Date(_)));
    dates.map(|(k, _)| schema.columns_of(k).start).collect()
}

/// Whether the extremes of a column warrant a look at all its values.
fn is_suspect(ends: [f64; 2], (mean, variance): (f64, f64), is_date: bool) -> bool {
    let most = DEVIATIONS * variance.sqrt();
    let is_far = |end: f64| (end - mean).abs() > most || gap_codes::may_be(end, is_date);
    ends.into_iter().any(is_far)
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Returns the warning about the values of a column, if any.
fn said(values: Vec<f64>, is_date: bool) -> Option<String> {
    let sorted = sorted(values);
    gaps(&sorted, is_date).or_else(|| slips(&sorted))
}

/// Returns the warning about codes for missing values.
fn gaps(sorted: &[f64], is_date: bool) -> Option<String> {
    let count = sorted.len();
    if count < ENOUGH {
        return None;
    }
    let GapCodes { codes, others } =
        gap_codes::found(sorted, is_date).or_else(|| beyond(sorted))?;
    let [first, last] = others.map(|end| {
        if is_date {
            date_text(end)
        } else {
            end.to_string()
        }
    });
    let rows = codes
        .iter()
        .map(|(code, rows)| format!("{} in {rows}", spelled(*code, is_date)));
    let rows = rows.collect::<Vec<_>>().join(", ");
    let list = codes.iter().map(|(code, _)| spelled(*code, is_date));
    let list = list.collect::<Vec<_>>().join(",");
    let them = if codes.len() > 1 { "them" } else { "it" };
    Some(format!(
        "{rows} of {count} rows, apart from all others ({first} to {last}), may stand for no \
         value: --na {list} (na=) takes {them} so"
    ))
}

/// Returns an extreme value such as 1e20 that is far beyond all others.
fn beyond(sorted: &[f64]) -> Option<GapCodes> {
    let count = sorted.len();
    [sorted[0], sorted[count - 1]].into_iter().find_map(|none| {
        let others: Vec<f64> = sorted.iter().copied().filter(|v| *v != none).collect();
        let ends = [*others.first()?, *others.last()?];
        let inner = |share: f64| others[((others.len() - 1) as f64 * share).round() as usize];
        let (gap, rows) = ((none - ends[1]).max(ends[0] - none), count - others.len());
        let far = SLIP * (inner(0.99) - inner(0.01));
        (rows >= OFTEN && gap > far && far > 0.0).then(|| GapCodes {
            codes: vec![(none, rows)],
            others: ends,
        })
    })
}

/// Returns the warning about a typing error.
fn slips(sorted: &[f64]) -> Option<String> {
    let count = sorted.len();
    if count < ENOUGH {
        return None;
    }
    let at = |share: f64| sorted[((count - 1) as f64 * share).round() as usize];
    let (low, middle, high) = (at(0.01), at(0.5), at(0.99));
    let farthest = [sorted[0], sorted[count - 1]];
    let farthest = farthest.into_iter().max_by(|a, b| {
        let distance = |value: &f64| (value - middle).abs();
        distance(a).total_cmp(&distance(b))
    })?;
    let often = sorted.iter().filter(|v| **v == farthest).count();
    ((farthest - middle).abs() > SLIP * (high - low) && high > low).then(|| {
        format!(
            "holds {farthest:e} in {often} of {count} rows, and 98 % of them lie in {low} to \
             {high}: if it is a slip, correct it or leave the rows out; it moves scales and fits"
        )
    })
}

/// Formats a value as it stands in files.
fn spelled(value: f64, is_date: bool) -> String {
    match no_date(value).filter(|_| is_date) {
        Some(date) => date.to_owned(),
        None if value.abs() < 1e12 => value.to_string(),
        None => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MemorySource;
    use crate::seed::{Seed, Stream};
    use ndarray::{Array1, Array2};

    fn normal(rows: usize) -> Array1<f64> {
        let mut draws = Seed(4).stream(Stream::Data, 0);
        Array1::from_shape_simple_fn(rows, || draws.normal())
    }

    #[test]
    fn numbers_for_no_value_are_told_of() {
        for none in [-999.0, 9999.0, -99.0, -32768.0] {
            let mut values = normal(300);
            assert_eq!(said(values.to_vec(), false), None);
            values.iter_mut().step_by(9).for_each(|v| *v = none);
            let found = said(values.to_vec(), false).expect("far and often");
            assert!(found.contains(&format!("--na {none} ")), "{found}");
            // Once it may be a value, and among others of its size it is one.
            let mut values = normal(300);
            values[7] = none;
            assert_eq!(said(values.to_vec(), false), None);
            let mut values = Array1::linspace(-none.abs(), none.abs(), 300);
            values.iter_mut().step_by(9).for_each(|v| *v = none);
            assert_eq!(said(values.to_vec(), false), None);
        }
    }

    /// Without rows that were kept to decide by the first ones are looked at, of learners without
    /// targets, too.
    #[test]
    fn rows_that_nobody_kept_are_looked_at() {
        let mut x = Array2::from_shape_fn((300, 2), |(i, j)| normal(300)[(i + j) % 300]);
        x.column_mut(1)
            .iter_mut()
            .step_by(9)
            .for_each(|v| *v = -999.0);
        let mut source = MemorySource::new(x, None).expect("rows");
        let survey = Survey::new(&mut source, 0, 0).expect("a survey");
        let rows = first_rows(&mut [&mut source]).expect("rows");
        let found = warnings(&survey, &rows, None, false);
        assert!(
            found.len() == 1 && found[0].contains("--na -999"),
            "{found:?}"
        );
        assert!(source.next_chunk(300).expect("reads").is_some(), "rewound");
    }

    /// A class has any number, and a target of amounts holds such numbers for no value.
    #[test]
    fn labels_of_classes_are_no_amounts() {
        let x = normal(300).insert_axis(ndarray::Axis(1));
        let label = |i| if i % 9 == 0 { 9999.0 } else { (i % 4) as f64 };
        let y = Array2::from_shape_fn((300, 1), |(i, _)| label(i));
        let mut source = MemorySource::new(x, Some(y)).expect("rows");
        let survey = Survey::new(&mut source, 0, 0).expect("a survey");
        let rows = first_rows(&mut [&mut source]).expect("rows");
        assert_eq!(warnings(&survey, &rows, None, false).len(), 1);
        assert!(warnings(&survey, &rows, None, true).is_empty());
    }

    #[test]
    fn days_that_stand_for_no_date_are_told_of() {
        let own = normal(120).mapv(|v| 18_700.0 + 400.0 * v);
        for (day, date) in [
            (2_932_896.0, "9999-12-31"),
            (47_481.0, "2099-12-31"),
            (10_957.0, "2000-01-01"),
            (0.0, "1970-01-01"),
        ] {
            let mut days = own.clone();
            days[7] = day;
            let found = said(days.to_vec(), true).expect("far");
            let wanted = format!("{date} in 1 of 120 rows, apart from all others (20");
            assert!(found.contains(&wanted), "{found}");
            // A number is no day, and a day is one among others.
            let found = said(days.to_vec(), false).unwrap_or_default();
            assert!(!found.contains(date), "{found}");
            let days = own.mapv(|v| v - own[7] + day);
            assert_eq!(said(days.to_vec(), true), None, "{date}");
        }
    }

    /// What stands for no value without being of nines, as in files of climate models.
    #[test]
    fn fill_values_are_told_of() {
        for (none, step) in [(1e20, 50), (-1e30, 10), (9.96921e36, 10)] {
            let mut values = normal(500);
            values.iter_mut().step_by(step).for_each(|v| *v = none);
            let (mean, variance) = (values.mean().expect("rows"), values.var(0.0));
            assert!(
                is_suspect([values[1], none], (mean, variance), false),
                "{none}"
            );
            let found = said(values.to_vec(), false).expect("far and often");
            assert!(found.contains(&format!("--na {none:e} ")), "{found}");
        }
    }

    #[test]
    fn slips_are_told_of_and_long_tails_are_not() {
        let mut values = normal(600);
        (values[100], values[400]) = (1e12, 1e12);
        let found = said(values.to_vec(), false).expect("a slip");
        assert!(found.contains("1e12 in 2 of 600"), "{found}");
        assert_eq!(
            said(normal(4000).mapv(|v| (3.0 * v).exp()).to_vec(), false),
            None
        );
        let counts = Array1::from_shape_fn(600, |i| f64::from(u8::from(i == 3)));
        assert_eq!(said(counts.to_vec(), false), None);
    }
}
