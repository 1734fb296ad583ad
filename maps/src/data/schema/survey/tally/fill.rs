//! What stands for the gaps of a column.

use super::{DateParts, Fill, Kind, Missing, Reservoir, Tally};
use crate::error::Result;

impl Tally {
    pub(super) fn fill(self, kind: &Kind, missing: Missing) -> Result<Option<Fill>> {
        let some = missing == Missing::Indicator && self.missing.is_some();
        let indicator = some && *kind != Kind::Empty;
        let median = missing == Missing::Median;
        let values = match kind {
            _ if missing == Missing::Error => return Ok(None),
            Kind::Empty => Vec::new(),
            Kind::Number | Kind::Boolean => vec![match self.sample {
                Some(sample) => middle(values_of(sample)?),
                None => self.mean,
            }],
            Kind::Date(parts) => match self.sample {
                Some(sample) => medians(&values_of(sample)?, *parts),
                None => {
                    let means = self.means.iter().flat_map(|means| means.select(*parts));
                    std::iter::once(self.mean).chain(means).collect()
                }
            },
            Kind::Categories(all) if indicator => vec![0.0; all.len()],
            Kind::Hashed(count) if indicator => vec![0.0; *count],
            _ => self.levels.shares(median),
        };
        Ok(Some(Fill {
            values,
            indicator,
            missed: self.missing.is_some(),
        }))
    }
}

/// The values of one column.
fn values_of(sample: Reservoir) -> Result<Vec<f64>> {
    Ok(sample.finish()?.0.into_iter().collect())
}

/// The median of values; of an even number of them the mean of the middle two.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let [below, above] = [(values.len() - 1) / 2, values.len() / 2];
    values[below] / 2.0 + values[above] / 2.0
}

/// The medians of the columns that dates become.
fn medians(dates: &[f64], parts: DateParts) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = dates
        .iter()
        .map(|&days| parts.columns(days).collect())
        .collect();
    let column = |k: usize| rows.iter().map(|row| row[k]).collect();
    let own = std::iter::once(middle(dates.to_vec()));
    own.chain((0..parts.width()).map(|k| middle(column(k))))
        .collect()
}
