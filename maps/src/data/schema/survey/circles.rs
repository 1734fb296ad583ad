//! Which circles of dates tell something of the target.

use crate::data::{
    Table,
    schema::{
        Field, Kind, Missing, NoValue, Places, TableOptions, date,
        date_parts::DateParts,
        places::Answers,
        survey::target::{Row, Target},
    },
};
use crate::{error::Result, linalg::cholesky::Lower};
use ndarray::Array2;

/// Rows that tell.
const ENOUGH: f64 = 20.0;
/// How many times as much variance as chance a circle has to explain. Where targets are independent
/// of their dates, F on 2 and m degrees of freedom exceeds it with probability
/// `(1 + 2 F / m)^(-m/2)`: one in 660 at 20 rows, in 13,700 at 200 and in 22,000 at very many.
const LEAST_F: f64 = 10.0;
/// Columns before those of circles: a constant and the day.
const BASE: usize = 2;

/// Has those features that are dates also become sine and cosine of the circles that explain some
/// of the target beside a constant and the day, of those that they cover (`covered`), by the rows
/// `taken`: by the F test of both columns of a circle, for each column of the target. Gives which.
///
/// Errors as the table does.
pub(in crate::data::schema) fn learn(
    table: &mut dyn Table,
    from: (&Places, &NoValue),
    (features, covered): (&mut [Field], &[DateParts]),
    (options, target): (&TableOptions, Option<&Target>),
    taken: &Answers,
) -> Result<Vec<DateParts>> {
    let mut found = vec![DateParts::default(); features.len()];
    let may = |j: usize| match features[j].kind {
        Kind::Date(parts) => parts.width() == 0 && covered[j].width() > 0,
        _ => false,
    };
    let mine: Vec<usize> = (0..features.len()).filter(|&j| may(j)).collect();
    // Medians of circles are those of their values, which nobody kept.
    let decides = options.dates.is_none() && options.missing != Missing::Median;
    let Some(target) = target.filter(|_| decides && !mine.is_empty()) else {
        return Ok(found);
    };
    let mut all: Vec<Sums> = mine
        .iter()
        .map(|&j| Sums::new(covered[j], target.width()))
        .collect();
    let add = &mut |row: Row<'_>| {
        let field = &features[mine[row.feature]];
        let days = match field.date_format() {
            Some(format) => format.days(row.text),
            None => date::days(row.text),
        };
        if let Some(days) = days {
            all[row.feature].add(days, row.weight, row.targets);
        }
    };
    target.each_row(table, from, (&mine, taken), add)?;
    for (&j, sums) in mine.iter().zip(&all) {
        let parts = sums.telling();
        if parts.width() > 0 {
            features[j].kind = Kind::Date(parts);
            if let Some(fill) = &mut features[j].fill {
                fill.values.extend(sums.means(parts));
            }
        }
        found[j] = parts;
    }
    Ok(found)
}

/// Sums of one feature: of products of a constant, the day and its circles with each other and with
/// the target.
struct Sums {
    covered: DateParts,
    /// The first day, which is taken off the others.
    first: Option<f64>,
    rows: f64,
    products: Array2<f64>,
    with_targets: Array2<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn new(covered: DateParts, targets: usize) -> Self {
        let width = BASE + covered.width();
        Self {
            covered,
            first: None,
            rows: 0.0,
            products: Array2::zeros((width, width)),
            with_targets: Array2::zeros((width, targets)),
            squares: vec![0.0; targets],
        }
    }

    fn add(&mut self, days: f64, weight: f64, targets: &[f64]) {
        let first = *self.first.get_or_insert(days);
        let columns: Vec<f64> = [1.0, days - first]
            .into_iter()
            .chain(self.covered.columns(days))
            .collect();
        self.rows += 1.0;
        for (i, a) in columns.iter().enumerate() {
            for (j, b) in columns.iter().enumerate() {
                self.products[[i, j]] += weight * a * b;
            }
            for (k, y) in targets.iter().enumerate() {
                self.with_targets[[i, k]] += weight * a * y;
            }
        }
        for (sum, y) in self.squares.iter_mut().zip(targets) {
            *sum += weight * y * y;
        }
    }

    /// The squares of each target that these columns leave.
    fn left(&self, columns: &[usize]) -> Option<Vec<f64>> {
        let of = |i: usize, j: usize| self.products[[columns[i], columns[j]]];
        let own = Array2::from_shape_fn((columns.len(), columns.len()), |(i, j)| {
            // Dates that are all one have no slope.
            of(i, j) * if i == j { 1.0 + 1e-12 } else { 1.0 }
        });
        let mut factor = Lower::from_matrix(&own);
        if !factor.factor() {
            return None;
        }
        let with = self.with_targets.select(ndarray::Axis(0), columns);
        // With L^-1 b = t, b' A^-1 b is t't.
        let mut found = with;
        factor.solve(&mut found);
        let explained = found.mapv(|v| v * v).sum_axis(ndarray::Axis(0));
        Some(
            self.squares
                .iter()
                .zip(explained)
                .map(|(y, z)| y - z)
                .collect(),
        )
    }

    /// The circles that explain more than chance.
    fn telling(&self) -> DateParts {
        let names = self.covered.circles().enumerate();
        let tells = |circle: usize| {
            let own = BASE + 2 * circle;
            let (without, with) = (self.left(&[0, 1])?, self.left(&[0, 1, own, own + 1])?);
            let free = self.rows - (BASE + 2) as f64;
            let more = without.iter().zip(&with).any(|(without, with)| {
                let by_chance = with.max(0.0) / free;
                (without - with) / 2.0 > LEAST_F * by_chance && *without > 0.0
            });
            (more && self.rows >= ENOUGH).then_some(())
        };
        let telling: Vec<&str> = names
            .filter(|(circle, _)| tells(*circle).is_some())
            .map(|(_, name)| name)
            .collect();
        DateParts::of_circles(&telling).unwrap_or_default()
    }

    /// The means of the columns of these circles.
    fn means(&self, parts: DateParts) -> Vec<f64> {
        let own: Vec<&str> = parts.circles().collect();
        let circles = self.covered.circles().enumerate();
        let mine = circles.filter(|(_, name)| own.contains(name));
        let columns = mine.flat_map(|(circle, _)| [BASE + 2 * circle, BASE + 2 * circle + 1]);
        let mean = |column| self.products[[0, column]] / self.products[[0, 0]];
        columns.map(mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    const WEEK_AND_YEAR: DateParts = DateParts {
        year: true,
        week: true,
        time: false,
    };

    fn sums(target: impl Fn(f64) -> f64, noise: f64, seed: u64) -> Sums {
        let mut draws = Seed(seed).stream(Stream::Data, 0);
        let mut sums = Sums::new(WEEK_AND_YEAR, 1);
        for i in 0..200 {
            let day = 18_000.0 + f64::from(i * 37 % 800);
            sums.add(day, 1.0, &[target(day) + noise * draws.normal()]);
        }
        sums
    }

    /// A season and weekdays are found, each by itself, and a trend is neither.
    #[test]
    fn circles_that_tell_something_are_found() {
        let week = DateParts {
            week: true,
            ..DateParts::default()
        };
        let year = DateParts {
            year: true,
            ..DateParts::default()
        };
        let weekend = |day: f64| f64::from(u8::from((day - 4.0).rem_euclid(7.0) >= 5.0));
        let season = |day: f64| (std::f64::consts::TAU * day / 365.25).sin();
        assert_eq!(sums(weekend, 0.3, 1).telling(), week);
        assert_eq!(sums(season, 0.5, 2).telling(), year);
        assert_eq!(
            sums(|day| season(day) + weekend(day), 0.3, 3).telling(),
            WEEK_AND_YEAR
        );
        assert_eq!(
            sums(|day| day / 100.0, 0.3, 4).telling(),
            DateParts::default()
        );
        // Noise is none, of two hundred draws.
        let found = (0..200).filter(|&seed| sums(|_| 0.0, 1.0, 10 + seed).telling().width() > 0);
        assert_eq!(found.count(), 0);
    }

    /// What stands for gaps is the mean of the columns.
    #[test]
    fn means_are_those_of_the_circles() {
        let sums = sums(|_| 0.0, 1.0, 0);
        let days: Vec<f64> = (0..200)
            .map(|i| 18_000.0 + f64::from(i * 37 % 800))
            .collect();
        let week = DateParts {
            week: true,
            ..DateParts::default()
        };
        let found = sums.means(week);
        let mean = |k: usize| {
            let column = days
                .iter()
                .map(|&day| week.columns(day).nth(k).expect("a column"));
            column.sum::<f64>() / 200.0
        };
        assert_eq!(found.len(), 2);
        assert!((found[0] - mean(0)).abs() < 1e-12 && (found[1] - mean(1)).abs() < 1e-12);
    }
}
