use super::*;
use crate::{
    Device, Run,
    data::MemorySource,
    features::{FeatureMap, Fourier, Standardize},
    job::Meaning,
    kernels::Gaussian,
    learn::{FitData, FitPenalised, KMeansOptions, Lambda, LogisticOptions, RidgeOptions, Search},
    model::LinearModel,
};
use ndarray::Array2;

fn job(learner: &dyn Fit) -> Job<&dyn Fit> {
    Job::new(learner, Fourier::new(Gaussian))
}

/// Asks `job` for something.
fn ask(job: &mut Job<&dyn Fit>, choice: Choice) {
    match choice {
        HalfLife => job.half_life = Some(50.0),
        ClassWeights => job.class_weights = learn::ClassWeights::Balanced,
        Probabilities => job.probabilities = true,
        Intervals => job.calibrate = Some(0.2),
        Choice::Search => job.search = Some(Search::default()),
        Leaves => job.leaves = Some(100),
        Rescaled => job.target_scale = TargetScale::Log,
        Line => job.linear = Linear::Yes,
        Choice::Additive => job.additive = features::Additive::Columns,
        Bent => job.preparation.standardize = Standardize::Robust,
        Weights | PenalisedIntercept | Parts | Folds => {}
    }
}

/// All pairs that stand in the table are refused, in either order of asking, with both names;
/// all others go.
#[test]
fn pairs_of_the_table_are_refused_and_no_others() {
    let all = [
        Weights,
        HalfLife,
        ClassWeights,
        PenalisedIntercept,
        Probabilities,
        Intervals,
        Choice::Search,
        Leaves,
        Rescaled,
        Line,
        Bent,
        Choice::Additive,
        Parts,
        Folds,
    ];
    let mut refusals = 0;
    for a in all {
        for b in all.into_iter().filter(|b| *b != a) {
            let asked = |choice| a == choice || b == choice;
            let ridge = RidgeOptions {
                penalised: asked(PenalisedIntercept),
                ..RidgeOptions::default()
            };
            let mut job = job(&ridge);
            ask(&mut job, a);
            ask(&mut job, b);
            let refused = job.refused(Around {
                weighted: asked(Weights),
                parts: asked(Parts),
                folds: asked(Folds),
            });
            let listed = APART
                .iter()
                .any(|&(x, y, _)| (x, y) == (a, b) || (y, x) == (a, b));
            assert_eq!(refused.is_some(), listed, "{a} {b}");
            if let Some(refused) = refused {
                let says = refused.to_string();
                assert!(says.contains(&a.to_string()) && says.contains(&b.to_string()));
                refusals += 1;
            }
        }
    }
    // Eighteen pairs, either way round: a rule that goes missing is seen, too.
    assert_eq!(refusals, 36);
}

/// Ridge regression by another name.
#[derive(Debug)]
struct Own(RidgeOptions);

impl Fit for Own {
    fn penalised(&self) -> Option<&dyn FitPenalised> {
        Some(self)
    }

    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let mut model = self.0.fit(map, data)?;
        model.learner = "own".into();
        Ok(model)
    }
}

impl FitPenalised for Own {
    fn lambda(&self) -> &Lambda {
        &self.0.lambda
    }

    fn intercept(&self) -> Intercept {
        Intercept::Free
    }

    fn with_lambda(&self, lambda: Lambda) -> Box<dyn FitPenalised> {
        Box::new(Self(RidgeOptions {
            lambda,
            ..self.0.clone()
        }))
    }
}

/// A search takes any learner that lets trials choose its penalty, and fits it then.
#[test]
fn a_search_takes_any_learner_with_a_penalty() {
    let x = Array2::from_shape_fn((60, 1), |(i, _)| i as f64 / 9.0);
    let mut rows = MemorySource::new(x.clone(), Some(x.mapv(f64::sin))).expect("rows");
    let own = Own(RidgeOptions {
        lambda: Lambda::Fixed(1.0),
        ..RidgeOptions::default()
    });
    let mut job = job(&own);
    job.search = Some(Search {
        lambda: true,
        ..Search::default()
    });
    let run = Run::on(&Device::cpu());
    let fitted = job.fit(&mut rows, Meaning::Amounts, &run).expect("fits");
    assert_eq!(fitted.model.learner, "own");
    let lambda = fitted.model.lambda;
    let found = fitted.found.expect("searched");
    assert_eq!(found.lambda, Lambda::Fixed(lambda));
}

/// What one learner takes and another does not.
#[test]
fn learners_refuse_what_is_not_theirs() {
    let (logistic, kmeans) = (LogisticOptions::default(), KMeansOptions::default());
    let mut searched = job(&logistic);
    searched.search = Some(Search::default());
    let refused = searched.refused(Around::default()).expect("refused");
    assert_eq!((refused.choice, refused.beside), (Choice::Search, None));
    let mut beside = job(&kmeans);
    beside.linear = Linear::Yes;
    let refused = beside.refused(Around::default()).expect("refused");
    assert_eq!((refused.choice, refused.beside), (Line, None));
    let parts = Around {
        parts: true,
        ..Around::default()
    };
    let refused = job(&kmeans).refused(parts).expect("refused");
    assert_eq!((refused.choice, refused.beside), (Parts, None));
    assert!(job(&kmeans).check_parts(false).is_ok());
    let unweighted = learn::KernelIcaOptions::default();
    assert!(job(&unweighted).check(true).is_err());
    assert!(check_weights(&unweighted, true).is_err());
    assert!(check_weights(&kmeans, true).is_ok());
}
