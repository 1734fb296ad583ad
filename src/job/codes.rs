//! Whole numbers that are codes, as those of shops are: rows that share one are alike, and rows of
//! numbers beside each other are not. A fit that takes them for amounts finds little.

use super::ranks::ranks;
use crate::{
    data::{Kind, Schema, Survey},
    model::LinearModel,
    normal::Targets,
};
use ndarray::aview1;

/// Different numbers, at least, and rows beyond the first of each.
const ENOUGH: (usize, usize) = (20, 40);
/// Standard errors by which numbers that tell nothing do not differ from chance.
const SURE: f64 = 5.0;
/// Numbers beside each other are alike where their rows vary together by more than this share of
/// what rows of one number do.
const ALIKE: f64 = 0.5;
/// What codes have to explain beyond the fit, of the variance of the targets.
const MORE: f64 = 0.2;
/// Numbers in a column that as names would be a column each.
const FEW: f64 = 64.0;

/// What the rows that share a number of a column say.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Told {
    /// The share of the variance of the target that the numbers explain as names would.
    r2: f64,
    /// How many different numbers there are, as chance finds one twice.
    numbers: f64,
}

/// Warns of the column of codes that would explain most, where the fit explains far less: of one
/// target of amounts or of two classes, and columns that have names to ask for them by.
pub(super) fn warn(model: &LinearModel, survey: &Survey, schema: Option<&Schema>) {
    if let Some(warning) = warning(model, survey, schema) {
        log::warn!("{warning}");
    }
}

fn warning(model: &LinearModel, survey: &Survey, schema: Option<&Schema>) -> Option<String> {
    let (rows, names) = (survey.deciding.as_ref()?, survey.names.as_ref()?);
    let fitted = *model.facts.get("held_out_r2")?;
    let orders = match &model.targets {
        Targets::Real { columns, .. } => *columns == 1,
        Targets::Classes(labels) => labels.len() == 2,
    };
    if !orders || 1.0 - fitted < MORE {
        return None;
    }
    let y = rows.target(0);
    let may = |j: &usize| survey.min[*j].fract() == 0.0 && !survey.binary[*j];
    let told = numbers(schema, names.len()).filter(may).filter_map(|j| {
        let told = told(&rows.feature(j), &y, survey.rows as f64)?;
        Some((j, told))
    });
    let (j, told) = told.max_by(|(_, a), (_, b)| a.r2.total_cmp(&b.r2))?;
    let name = &names[j];
    let ask = if told.numbers <= FEW {
        format!("--categorical {name:?} (categorical=)")
    } else {
        format!("--by-target {name:?} (by_target=)")
    };
    // Without figures, which differ between folds of the same rows.
    (told.r2 > fitted + MORE).then(|| {
        format!(
            "{}: whole numbers that look like codes: rows of one number are alike and those of \
             numbers beside each other are not, and as names they would explain far more of the \
             target than this fit does; {ask} takes them so",
            survey.column(j)
        )
    })
}

/// The columns that are numbers as they stand, of so many.
fn numbers(schema: Option<&Schema>, columns: usize) -> Box<dyn Iterator<Item = usize> + '_> {
    let Some(schema) = schema else {
        return Box::new(0..columns);
    };
    let fields = schema.features().iter().enumerate();
    let of = fields.filter(|(_, field)| *field.kind() == Kind::Number);
    Box::new(of.map(|(k, _)| schema.columns_of(k).start))
}

/// What whole numbers `x` tell as codes of the target `y` of a sample of so many rows: by the
/// variances of a one-way layout of random effects (Searle, Casella & McCulloch 1992, "Variance
/// Components", section 3.6), the part between numbers tau2 and that within them sigma2. With k
/// rows of each, their means explain `tau2 / (tau2 + sigma2) k / (k + sigma2 / tau2)`.
///
/// Targets are their ranks, for a few of a long tail would be variance that nothing explains.
///
/// `None` of other numbers, of those of which rows of one are no more alike than chance has it, and
/// of those whose neighbours are alike: the product of the means of two neighbours, less that of
/// all, is on average what numbers vary by together.
fn told(x: &[f64], y: &[f64], rows: f64) -> Option<Told> {
    if x.iter().any(|value| value.fract() != 0.0) {
        return None;
    }
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_unstable_by(|&a, &b| x[a].total_cmp(&x[b]));
    let y = ranks(aview1(y));
    let all = x.len() as f64;
    let mean = y.sum() / all;
    // Of each number its rows, the mean of their targets about that of all, and their squares
    // about their own.
    let groups: Vec<(f64, f64, f64)> = order
        .chunk_by(|&a, &b| x[a] == x[b])
        .map(|rows| {
            let count = rows.len() as f64;
            let own = rows.iter().map(|&i| y[i] - mean).sum::<f64>() / count;
            let squares = rows.iter().map(|&i| (y[i] - mean - own).powi(2)).sum();
            (count, own, squares)
        })
        .collect();
    if groups.len() < ENOUGH.0 || x.len() - groups.len() < ENOUGH.1 {
        return None;
    }
    let sum = |of: fn(&(f64, f64, f64)) -> f64| groups.iter().map(of).sum::<f64>();
    let (free, left) = (groups.len() as f64 - 1.0, all - groups.len() as f64);
    let (between, within) = (sum(|g| g.0 * g.1 * g.1), sum(|g| g.2) / left);
    let chance = 1.0 + SURE * (2.0 / free + 2.0 / left).sqrt();
    if between / free <= chance * within {
        return None;
    }
    let effects = (between - free * within) / (all - sum(|g| g.0 * g.0) / all);
    let middle = sum(|g| g.1) / groups.len() as f64;
    let beside = groups
        .windows(2)
        .map(|two| (two[0].1 - middle) * (two[1].1 - middle));
    if beside.sum::<f64>() / free > ALIKE * effects {
        return None;
    }
    let pairs = sum(|g| g.0 * (g.0 - 1.0)) / 2.0;
    let numbers = all * (all - 1.0) / 2.0 / pairs;
    let each = rows / numbers;
    Some(Told {
        r2: effects / (effects + within) * each / (each + within / effects),
        numbers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device, Run,
        data::MemorySource,
        features::Identity,
        job::{Job, Meaning},
        learn::RidgeOptions,
        seed::{Seed, Stream},
    };
    use ndarray::{Array2, Axis};
    use std::sync::Arc;

    /// So many rows of a number drawn among `numbers`, with a target of it and noise of deviation
    /// 1.
    fn drawn(
        (rows, numbers): (usize, usize),
        of: impl Fn(usize) -> f64,
        number: impl Fn(usize) -> f64,
    ) -> Option<Told> {
        let mut draws = Seed(7).stream(Stream::Data, 0);
        let drawn = (0..rows).map(|_| {
            let k = (draws.uniform() * numbers as f64) as usize;
            (number(k), of(k) + draws.normal())
        });
        let (x, y): (Vec<f64>, Vec<f64>) = drawn.unzip();
        told(&x, &y, 10.0 * rows as f64)
    }

    /// What a number says by itself and not by its size.
    fn effect(k: usize) -> f64 {
        2.0 * (7.3 * (k * k % 1009) as f64).sin()
    }

    #[test]
    fn codes_tell_and_amounts_do_not() {
        let shop = |k: usize| 1000.0 + 7.0 * k as f64;
        let size = |k: usize| k as f64;
        // Effects of variance 2 beside noise of 1.
        let told = drawn((4000, 700), effect, shop).expect("codes");
        assert!((told.r2 - 0.655).abs() < 0.09, "{told:?}");
        assert!((told.numbers / 700.0 - 1.0).abs() < 0.1, "{told:?}");
        assert!(drawn((400, 30), effect, size).is_some());
        // Ages, years, prices and counts: a trend, a wave, a step, and nothing.
        for numbers in [60, 300] {
            let share = |k: usize| k as f64 / numbers as f64;
            assert_eq!(drawn((4000, numbers), |k| 5.0 * share(k), size), None);
            let wave = |k: usize| 2.0 * (9.0 * share(k)).sin();
            assert_eq!(drawn((4000, numbers), wave, size), None);
            let step = |k: usize| if share(k) > 0.8 { 4.0 } else { 0.0 };
            assert_eq!(drawn((4000, numbers), step, size), None);
            assert_eq!(drawn((4000, numbers), |_| 0.0, size), None);
        }
        // Another number in each row, few numbers, and fractions.
        assert_eq!(drawn((4000, 10_000_000), effect, size), None);
        assert_eq!(drawn((4000, 12), effect, size), None);
        assert_eq!(drawn((4000, 700), effect, |k| k as f64 / 8.0), None);
    }

    /// Numbers that are nearly all different and amounts of which few are nearly all the variance:
    /// chance alone puts these where numbers stand alone.
    #[test]
    fn long_tails_are_no_codes() {
        for seed in 0..20 {
            let mut draws = Seed(seed).stream(Stream::Data, 0);
            let rows = (0..4000).map(|_| {
                let price = (draws.uniform() * 14_000.0).floor();
                (price, (3.0 * draws.normal()).exp())
            });
            let (x, y): (Vec<f64>, Vec<f64>) = rows.unzip();
            assert_eq!(told(&x, &y, 40_000.0), None, "{seed}");
        }
    }

    #[test]
    fn poor_fits_to_codes_are_told_how_to_take_them() {
        let mut draws = Seed(3).stream(Stream::Data, 0);
        let shops = Array2::from_shape_simple_fn((900, 2), || (draws.uniform() * 90.0).floor());
        let y = shops.column(1).mapv(|shop| effect(shop as usize));
        let mut source = MemorySource::new(shops, Some(y.insert_axis(Axis(1)))).expect("rows");
        let job = Job::of(RidgeOptions::default(), Arc::new(Identity));
        let run = Run::on(&Device::cpu());
        let survey = Survey::deciding(&mut source, (0, 900), 0, &|_| {});
        let mut survey = survey.expect("a survey");
        survey.names = Some(vec!["age".into(), "shop".into()]);
        let fitted = job.any().fit(&mut source, Meaning::Amounts, &run);
        let mut model = fitted.expect("fits").model;
        let said = warning(&model, &survey, None).expect("codes");
        assert!(
            said.starts_with("column 'shop': ") && said.contains("--by-target \"shop\""),
            "{said}"
        );
        // Of three classes no order is told.
        for (labels, tells) in [(vec![0.0, 1.0], true), (vec![0.0, 1.0, 2.0], false)] {
            model.targets = Targets::Classes(labels);
            assert_eq!(warning(&model, &survey, None).is_some(), tells);
        }
        model.targets = Targets::Classes(vec![0.0, 1.0]);
        model.facts.insert("held_out_r2".into(), 0.9);
        assert_eq!(warning(&model, &survey, None), None);
    }
}
