//! Numbers that stand for missing values: 999, -9, 99.9, or 9 on a scale from 1 to 5.

use crate::order::ascending;

/// Least distance of a code from the other values, in their ranges.
const APART: f64 = 2.0;
/// Least number of rows with a code: a single one may be a value.
const OFTEN: usize = 2;
/// Least number of rows with a single-digit code.
const OFTEN_OF_ONE_DIGIT: usize = 5;
/// Least number of distinct other values if a code is not far from them: two may be classes.
const KINDS: usize = 3;
/// Largest answer on a scale on which 9 means no answer.
const SCALE: f64 = 6.0;
/// Largest number of codes at one end of a column: refused, unknown, not asked.
const MOST: usize = 3;
/// Codes besides repeated digits: the limits of 16-bit and 32-bit integers.
const ENDS: [f64; 6] = [
    32_767.0,
    32_768.0,
    65_535.0,
    2_147_483_647.0,
    2_147_483_648.0,
    4_294_967_295.0,
];
/// Dates that stand for missing dates: ends of calendars, and epochs of programs and spreadsheets.
const NO_DATES: [(f64, &str); 8] = [
    (2_932_896.0, "9999-12-31"),
    (376_199.0, "2999-12-31"),
    (47_481.0, "2099-12-31"),
    (10_957.0, "2000-01-01"),
    (0.0, "1970-01-01"),
    (-25_569.0, "1899-12-30"),
    (-25_567.0, "1900-01-01"),
    (-719_162.0, "0001-01-01"),
];

/// Returns the name of a day that stands for a missing date.
pub(super) fn no_date(value: f64) -> Option<&'static str> {
    let found = NO_DATES.iter().find(|(day, _)| *day == value);
    found.map(|(_, text)| *text)
}

/// Whether a number consists of nines (-999, 9999, 99.9), eights or sevens, or is -1 or another
/// code for a missing value; for dates, whether the day stands for a missing date.
pub(super) fn may_be(value: f64, is_date: bool) -> bool {
    if is_date {
        return no_date(value).is_some();
    }
    let size = value.abs();
    let nines = 10_f64.powi((size + 1.0).log10().round() as i32);
    let ones = (nines - 1.0) / 9.0;
    let is_of = |size: f64, digit: f64| size >= 7.0 && size == digit * ones;
    let is_whole = [7.0, 8.0, 9.0].into_iter().any(|digit| is_of(size, digit));
    is_whole || is_decimal(size) || value == -1.0 || ENDS.contains(&size)
}

/// Whether a number consists of nines with one decimal, such as 99.9.
fn is_decimal(size: f64) -> bool {
    (2..=9).any(|digits| size == 10_f64.powi(digits) - 0.1)
}

/// Values at one end of a column, with their numbers of rows.
type Codes = [(f64, usize)];

/// Codes of a column with their numbers of rows, and the range of the other values.
#[derive(Debug, PartialEq)]
pub(super) struct GapCodes {
    pub(super) codes: Vec<(f64, usize)>,
    pub(super) others: [f64; 2],
}

/// Returns the codes among sorted values or days.
pub(super) fn found(sorted: &[f64], is_date: bool) -> Option<GapCodes> {
    let low = ends(sorted.chunk_by(|a, b| a == b), is_date);
    let high = ends(sorted.chunk_by(|a, b| a == b).rev(), is_date);
    let pairs = (0..=low.len())
        .rev()
        .flat_map(|l| (0..=high.len()).rev().map(move |h| (l, h)));
    let pairs: Vec<(usize, usize)> = pairs.filter(|(l, h)| l + h > 0).collect();
    let sum = |i: usize| pairs[i].0 + pairs[i].1;
    let most_first = ascending(pairs.len(), &|i, j| sum(j).cmp(&sum(i)));
    most_first.into_iter().find_map(|i| {
        let (l, h) = pairs[i];
        let (low, high) = (&low[..l], &high[..h]);
        let rows = |codes: &[(f64, usize)]| codes.iter().map(|(_, rows)| rows).sum::<usize>();
        let others = sorted.get(rows(low)..sorted.len() - rows(high))?;
        let ends = [*others.first()?, *others.last()?];
        let is_far = are_far((low, high), ends, is_date) && ends[0] < ends[1];
        let is_decimal = low
            .iter()
            .chain(high)
            .any(|(value, _)| is_decimal(value.abs()));
        let is_far = is_far && !(is_decimal && are_prices(others));
        (is_far || (!is_date && are_no_answers(low, high, others))).then(|| GapCodes {
            codes: low.iter().chain(high).copied().collect(),
            others: ends,
        })
    })
}

/// Whether clearly more than a tenth of the values with one decimal end in .9, as prices do.
fn are_prices(values: &[f64]) -> bool {
    let is_price = |value: &&f64| {
        let tenths = (*value * 10.0).round();
        tenths % 10.0 == 9.0 && (*value * 10.0 - tenths).abs() < 1e-6
    };
    3 * values.iter().filter(is_price).count() > values.len()
}

/// Returns the possible codes at one end.
fn ends<'a>(alike: impl Iterator<Item = &'a [f64]>, is_date: bool) -> Vec<(f64, usize)> {
    let all = alike.map(|rows| (rows[0], rows.len()));
    all.take(MOST)
        .take_while(|(value, _)| may_be(*value, is_date))
        .collect()
}

/// Whether all codes are far from the other values.
fn are_far((low, high): (&Codes, &Codes), [first, last]: [f64; 2], is_date: bool) -> bool {
    let far = APART * (last - first);
    let has_nine = high.first().is_some_and(|(value, _)| *value == 9.0);
    let fits = |&(value, rows): &(f64, usize)| {
        let least = if is_date {
            1
        } else if value.abs() < 10.0 {
            OFTEN_OF_ONE_DIGIT
        } else {
            OFTEN
        };
        // Without 9 there are no others of a single digit.
        let is_code = is_date || !(0.0..10.0).contains(&value) || has_nine;
        is_code && rows >= least && (first - value).max(value - last) > far
    };
    low.iter().chain(high).all(fits)
}

/// Whether they are no answers beside others that are: negative ones where nothing else is, or 9,
/// and 8, above a scale that ends at 6 or below.
fn are_no_answers(low: &[(f64, usize)], high: &[(f64, usize)], others: &[f64]) -> bool {
    let mut kinds = others.chunk_by(|a, b| a == b);
    let (Some(&first), Some(&last)) = (others.first(), others.last()) else {
        return false;
    };
    if kinds.nth(KINDS - 1).is_none() {
        return false;
    }
    let is_negative = |&(value, rows): &(f64, usize)| {
        let least = if value == -1.0 {
            OFTEN_OF_ONE_DIGIT
        } else {
            OFTEN
        };
        // 0 may lie between -1 and others.
        value < 0.0 && rows >= least && first >= if value == -1.0 { 1.0 } else { 0.0 }
    };
    let is_above = |&(value, rows): &(f64, usize)| {
        matches!(value, 8.0 | 9.0) && rows >= OFTEN_OF_ONE_DIGIT.max(others.len() / 100)
    };
    let has_nine = high.is_empty() || high[0].0 == 9.0;
    let is_scale = || last <= SCALE && others.iter().all(|value| value.fract() == 0.0);
    low.iter().all(is_negative)
        && high.iter().all(is_above)
        && has_nine
        && (high.is_empty() || is_scale())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let found = found(&sorted, false);
        found.map_or(Vec::new(), |found| {
            found.codes.iter().map(|(v, _)| *v).collect()
        })
    }

    /// Values of a body mass index, and codes so often among them.
    fn among(values: &[f64], none: &[(f64, usize)]) -> Vec<f64> {
        let own = (0..300).map(|i| values[i % values.len()]);
        let none = none
            .iter()
            .flat_map(|&(code, rows)| std::iter::repeat_n(code, rows));
        codes(own.chain(none))
    }

    #[test]
    fn codes_for_no_value_are_found_alone_and_together() {
        let mass: Vec<f64> = (0..100).map(|i| 13.5 + 0.2 * f64::from(i)).collect();
        let scale = [1.0, 2.0, 3.0, 4.0, 5.0];
        let prices: Vec<f64> = (0..10).map(|i| 9.9 + f64::from(i)).collect();
        let count: Vec<f64> = (0..7).map(f64::from).collect();
        for (values, none, wanted) in [
            (
                &mass[..],
                &[(999.0, 9), (888.0, 5)][..],
                &[999.0, 888.0][..],
            ),
            (&mass, &[(999.0, 9), (-999.0, 5)], &[-999.0, 999.0]),
            (&mass, &[(-9.0, 9)], &[-9.0]),
            (&mass, &[(-9.0, 9), (-8.0, 2)], &[-9.0, -8.0]),
            (&mass, &[(-1.0, 9)], &[-1.0]),
            (&mass, &[(99.9, 9)], &[99.9]),
            (&mass, &[(999.9, 9)], &[999.9]),
            (&mass, &[(777.0, 2)], &[777.0]),
            (&scale, &[(9.0, 9)], &[9.0]),
            (&scale, &[(9.0, 9), (8.0, 9)], &[9.0, 8.0]),
            (&scale, &[(-1.0, 9)], &[-1.0]),
            (&scale, &[(99.0, 25)], &[99.0]),
            // Once a code may be a value.
            (&mass, &[(999.0, 1)], &[]),
            (&mass, &[(-9.0, 1)], &[]),
            (&scale, &[(9.0, 4)], &[]),
            (&mass, &[(-1.0, 4)], &[]),
            // Values of their own.
            (&[4.0, 5.0, 6.0, 3.0], &[(8.0, 9)], &[]),
            (
                &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
                &[(8.0, 9), (9.0, 9)],
                &[],
            ),
            (&count, &[(-1.0, 9)], &[]),
            (&count, &[(7.0, 9), (9.0, 2)], &[]),
            (&[1.5, 2.5, 3.5, 4.5], &[(9.0, 9)], &[]),
            (&[-3.0, 2.0, 5.0, 8.5], &[(-9.0, 9)], &[]),
            (&[1.0], &[(-1.0, 150)], &[]),
            (&[1.0, 2.0], &[(9.0, 9)], &[9.0]),
            (&[1.0, 2.0], &[(8.0, 9)], &[]),
            (&[1.0, 2.0], &[(9.0, 4)], &[]),
            (&mass, &[(66.0, 9)], &[]),
            (&mass, &[(77.0, 9)], &[77.0]),
            (&mass, &[(99.0, 9)], &[99.0]),
            (&mass, &[(50.0, 9)], &[]),
            (&mass, &[(99.99, 9)], &[]),
            (&prices, &[(99.9, 9)], &[]),
        ] {
            assert_eq!(
                among(values, none),
                wanted,
                "{none:?} among {:?}",
                &values[..3.min(values.len())]
            );
        }
    }
}
