//! What a page is about, above what was found: when, of which data, what for, by which job.

use crate::{
    report::{Report, counted},
    show,
};
use bochner::{
    data::{file_of, parts},
    models::LinearModel,
};
use indicatif::BinaryBytes;
use std::{
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// What a fit, or whoever takes its model, is about: the data, their rows and columns, what is
/// predicted, and what was asked for. Rows are those that the report has by now.
pub(crate) fn of_model(input: &Path, model: &LinearModel, report: &mut Report) {
    let columns = match &model.schema {
        Some(schema) => schema.features().len(),
        None => model.map.input_dim(),
    };
    let found = report.object();
    let rows = |key: &str| found[key].as_u64();
    let all = counted(rows("rows").unwrap_or_default(), "row");
    let test = rows("test_rows").map_or_else(String::new, |rows| {
        format!("; {} held out", counted(rows, "row"))
    });
    let columns = counted(columns as u64, "column");
    report.about("data", file(input));
    report.about("size", format!("{all} of {columns}{test}"));
    report.about("predicted", show::gives(model));
    if let Some(job) = &model.job {
        report.about("job", show::words(job));
    }
}

/// A file with its size and when it was changed; of a folder or a pattern the sum and the last.
pub(crate) fn file(path: &Path) -> String {
    if path == Path::new("-") {
        return "standard input".into();
    }
    let files = parts(path).unwrap_or_else(|_| vec![path.to_owned()]);
    let known = |file: &PathBuf| std::fs::metadata(file_of(file)).ok();
    let known: Vec<_> = files.iter().filter_map(known).collect();
    let bytes = BinaryBytes(known.iter().map(std::fs::Metadata::len).sum());
    let changed = known.iter().filter_map(|file| file.modified().ok()).max();
    let changed = changed.map_or_else(String::new, |at| format!(", changed {}", date(at)));
    let count = match files.len() {
        1 => String::new(),
        files => format!(" in {files} files"),
    };
    format!("{}, {bytes}{count}{changed}", path.display())
}

/// `2026-05-17 09:30 UTC`, by the Gregorian calendar: a year of 400 has 146,097 days, and years are
/// counted from March, so that a leap day is their last.
pub(super) fn date(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, minute) = (seconds / 86_400 + 719_468, seconds % 86_400 / 60);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    let year = 400 * era + year + u64::from(month <= 2);
    let (hour, minute) = (minute / 60, minute % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// As `date -u -d @SECONDS` has them.
    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_827_696, "2000-02-29 12:34 UTC"),
            (1_709_251_199, "2024-02-29 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
