//! Numeric columns that are codes, such as shop numbers: rows that share a code are alike, but rows
//! with neighbouring codes are not. A fit that treats them as numbers explains little.

use crate::{
    data::{KeptRows, Kind, Schema, Survey, kinds::told},
    model::{LinearModel, Targets},
};

/// Least share of the variance that codes explain beyond the fit, and the least share if it is half
/// of the unexplained variance.
const MORE: (f64, f64) = (0.2, 0.05);
/// Largest number of other columns that are regressed on.
const OTHERS: usize = 16;
/// Largest number of distinct codes.
const FEW: f64 = 64.0;

/// Warns about the column whose codes, as categories, would explain far more than the fit does: for
/// one numeric target or two classes, and columns with names.
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
    if !orders || 1.0 - fitted < MORE.1 {
        return None;
    }
    let y = rows.target(0);
    let may = |j: &usize| survey.min[*j].fract() == 0.0 && !survey.binary[*j];
    let told = numbers(schema, names.len()).filter(may).filter_map(|j| {
        let (left, share) = regress_on_others((rows, names.len()), (&y, j));
        let mut told = told(&rows.feature(j), &left, survey.rows as f64)?;
        told.r2 = 1.0 - share * (1.0 - told.r2);
        Some((j, told))
    });
    let (j, told) = told.max_by(|(_, a), (_, b)| a.r2.total_cmp(&b.r2))?;
    let name = &names[j];
    let ask = if told.numbers <= FEW {
        format!("--categorical {name:?} (categorical=)")
    } else {
        format!("--by-target {name:?} (by_target=)")
    };
    let more = told.r2 - fitted;
    let is_far = more > MORE.0 || (more > MORE.1 && 2.0 * more > 1.0 - fitted);
    // No figures in the text: they would differ between folds.
    is_far.then(|| {
        format!(
            "{}: whole numbers that look like codes: rows of one number are alike and those of \
             numbers beside each other are not, and as names they would explain far more of the \
             target than this fit does; {ask} takes them so",
            survey.column(j)
        )
    })
}

/// Returns the residual of the target after least squares on the first columns other than `j`, and
/// its share of the variance, by modified Gram-Schmidt orthogonalization (Golub
/// & Van Loan 2013, "Matrix Computations", section 5.2.8).
fn regress_on_others(
    (rows, columns): (&KeptRows, usize),
    (y, j): (&[f64], usize),
) -> (Vec<f64>, f64) {
    let others = (0..columns).filter(|&k| k != j).take(OTHERS);
    let mut left = centred(y.to_vec());
    let all = squares(&left);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for k in others {
        let mut own = centred(rows.feature(k));
        let size = squares(&own);
        basis.iter().for_each(|other| take_off(&mut own, other));
        // The remainder is rounding noise.
        if squares(&own) > 1e-9 * size {
            take_off(&mut left, &own);
            basis.push(own);
        }
    }
    let share = squares(&left) / all;
    (left, if share.is_finite() { share } else { 1.0 })
}

fn centred(mut values: Vec<f64>) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|value| *value -= mean);
    values
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

/// Subtracts the projection of values on others.
fn take_off(values: &mut [f64], others: &[f64]) {
    let product: f64 = values.iter().zip(others).map(|(a, b)| a * b).sum();
    let slope = product / squares(others);
    let both = values.iter_mut().zip(others);
    both.for_each(|(value, other)| *value -= slope * other);
}

/// Returns the columns that are plain numbers.
fn numbers(schema: Option<&Schema>, columns: usize) -> Box<dyn Iterator<Item = usize> + '_> {
    let Some(schema) = schema else {
        return Box::new(0..columns);
    };
    let fields = schema.features().iter().enumerate();
    let of = fields.filter(|(_, field)| *field.kind() == Kind::Number);
    Box::new(of.map(|(k, _)| schema.columns_of(k).start))
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
    use ndarray::{Array1, Array2, Axis};

    /// What a number says by itself and not by its size.
    fn effect(k: usize) -> f64 {
        2.0 * (7.3 * (k * k % 1009) as f64).sin()
    }

    #[test]
    fn poor_fits_to_codes_are_told_how_to_take_them() {
        let mut draws = Seed(3).stream(Stream::Data, 0);
        let shops = Array2::from_shape_simple_fn((900, 2), || (draws.uniform() * 90.0).floor());
        let y = shops.column(1).mapv(|shop| effect(shop as usize));
        let by_age = &y + &shops.column(0).mapv(|age| age / 13.0);
        let source = |y: Array1<f64>| {
            let y = y.insert_axis(Axis(1));
            MemorySource::new(shops.clone(), Some(y)).expect("rows")
        };
        let survey = |source: &mut MemorySource| {
            let survey = Survey::deciding(source, (0, 900), 0, &|_| {});
            let mut survey = survey.expect("a survey");
            survey.names = Some(vec!["age".into(), "shop".into()]);
            survey
        };
        let mut source_by_age = source(by_age);
        let mut source = source(y);
        let job = Job::new(RidgeOptions::default(), Identity);
        let run = Run::on(&Device::cpu());
        let survey_by_age = survey(&mut source_by_age);
        let survey = survey(&mut source);
        let fitted = job.any().fit(&mut source, Meaning::Amounts, &run);
        let mut model = fitted.expect("fits").model;
        let said = warning(&model, &survey, None).expect("codes");
        assert!(
            said.starts_with("column 'shop': ") && said.contains("--by-target \"shop\""),
            "{said}"
        );
        // Two thirds of the variance are told by age, and the rest by shops alone.
        model.facts.insert("held_out_r2".into(), 0.65);
        assert!(warning(&model, &survey_by_age, None).is_some());
        model.facts.insert("held_out_r2".into(), 0.2);
        // Of three classes no order is told.
        for (labels, tells) in [(vec![0.0, 1.0], true), (vec![0.0, 1.0, 2.0], false)] {
            model.targets = Targets::Classes(labels);
            assert_eq!(warning(&model, &survey, None).is_some(), tells);
        }
        model.targets = Targets::Classes(vec![0.0, 1.0]);
        // They explain all of it.
        for (fitted, tells) in [(0.78, true), (0.9, true), (0.96, false)] {
            model.facts.insert("held_out_r2".into(), fitted);
            assert_eq!(warning(&model, &survey, None).is_some(), tells, "{fitted}");
        }
    }
}
