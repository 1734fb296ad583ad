//! Weights of classes.

use crate::{
    Error, Result,
    data::{Chunk, ChunkSource, Schema},
    error::Remedy,
    features::FeatureMap,
    flow::{RowNeeds, Run, for_each_chunk},
    learn::{Fit, FitData, Usual},
    model::{LinearModel, Targets},
    settings::Settings,
};
use ndarray::Array1;
use std::fmt;

/// How classes are weighted, for classifiers that support weights of rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ClassWeights {
    /// All rows have weight 1.
    #[default]
    Equal,
    /// A row of class c has weight `n / (K n_c)`, so that all classes have the same total weight.
    Balanced,
    /// One weight for each class, in the order of the classes.
    Of(Vec<f64>),
}

/// The spelling of `fit --class-weights`.
impl fmt::Display for ClassWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => f.write_str("equal"),
            Self::Balanced => f.write_str("balanced"),
            Self::Of(weight_k) => {
                let all: Vec<_> = weight_k.iter().map(|w| format!("{w:?}")).collect();
                f.write_str(&all.join(","))
            }
        }
    }
}

impl ClassWeights {
    /// Weight of each class; `None` if all are 1. Balanced weights take a pass over the labels.
    pub(in crate::learn) fn resolve(
        &self,
        labels: &[f64],
        source: &mut dyn ChunkSource,
        run: &Run,
    ) -> Result<Option<Vec<f64>>> {
        match self {
            Self::Equal => Ok(None),
            Self::Of(weight_k) => {
                let fine = |w: &f64| *w > 0.0 && w.is_finite();
                if weight_k.len() == labels.len() && weight_k.iter().all(fine) {
                    return Ok(Some(weight_k.clone()));
                }
                Err(Error::parameter(format!(
                    "the class weights are {weight_k:?}; give one positive number for each of the \
                     classes {labels:?}"
                )))
            }
            Self::Balanced => {
                let mut count_k = vec![0.0; labels.len()];
                let chunk = RowNeeds::read(source.columns() + source.targets()).rows_of(run)?;
                for_each_chunk(source, chunk, |chunk| {
                    let weights = chunk.weights.as_ref();
                    for (i, label) in chunk.y.iter().enumerate() {
                        if let Some(class) = labels.iter().position(|l| l == label) {
                            count_k[class] += weights.map_or(1.0, |w| w[i]);
                        }
                    }
                    Ok(())
                })?;
                let all: f64 = count_k.iter().sum();
                let classes = labels.len() as f64;
                // A class without rows may have any weight.
                let weight = |&count: &f64| {
                    if count > 0.0 {
                        all / (classes * count)
                    } else {
                        1.0
                    }
                };
                Ok(Some(count_k.iter().map(weight).collect()))
            }
        }
    }
}

/// Multiplies the weights of rows (1 if there are none) by class weights.
pub(in crate::learn) fn weigh(chunk: &mut Chunk, labels: &[f64], weight_k: &[f64]) {
    let given = chunk.weights.take();
    let mut weights = given.unwrap_or_else(|| Array1::ones(chunk.y.nrows()));
    for (w, label) in weights.iter_mut().zip(&chunk.y) {
        // A label that is no class is rejected later, where classes are encoded.
        let class = labels.iter().position(|l| l == label);
        *w *= class.map_or(1.0, |class| weight_k[class]);
    }
    chunk.weights = Some(weights);
}

/// Source that multiplies the weights of rows by class weights.
struct Weighing<'a> {
    inner: &'a mut dyn ChunkSource,
    labels: &'a [f64],
    weight_k: Vec<f64>,
}

impl ChunkSource for Weighing<'_> {
    fn columns(&self) -> usize {
        self.inner.columns()
    }
    fn targets(&self) -> usize {
        self.inner.targets()
    }
    fn is_weighted(&self) -> bool {
        true
    }
    fn groups(&self) -> Option<std::sync::Arc<[u32]>> {
        self.inner.groups()
    }
    fn rows(&self) -> Option<usize> {
        self.inner.rows()
    }
    fn column_names(&self) -> Option<Vec<String>> {
        self.inner.column_names()
    }
    fn target_names(&self) -> Option<Vec<String>> {
        self.inner.target_names()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let mut chunk = self.inner.next_chunk(max_rows)?;
        if let Some(chunk) = &mut chunk {
            weigh(chunk, self.labels, &self.weight_k);
        }
        Ok(chunk)
    }
    fn rewind(&mut self) -> Result<()> {
        self.inner.rewind()
    }
    fn schema(&self) -> Option<&Schema> {
        self.inner.schema()
    }
    fn is_checked(&self) -> bool {
        self.inner.is_checked()
    }
}

/// A classifier with class weights, which are multiplied by the weights of rows. The classifier
/// must support weights of rows.
#[derive(Debug)]
pub struct WithClassWeights<'a>(pub &'a dyn Fit, pub &'a ClassWeights);

impl Fit for WithClassWeights<'_> {
    fn settings(&self) -> Settings {
        self.0.settings().text("class-weights", self.1)
    }

    fn takes_weights(&self) -> bool {
        self.0.takes_weights()
    }

    fn usual(&self) -> Usual {
        self.0.usual()
    }

    fn square_bytes(&self, features: usize) -> u32 {
        self.0.square_bytes(features)
    }

    fn row_bytes(&self, outputs: usize) -> usize {
        self.0.row_bytes(outputs)
    }

    fn solves_few_rows(&self) -> bool {
        self.0.solves_few_rows()
    }

    /// Errors as the classifier does, with [`Error::Unsupported`] on real targets and on a
    /// classifier without support for weights, and with [`Error::Parameter`] unless there is a
    /// positive number for each class.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let Targets::Classes(labels) = &data.targets else {
            let problem = "class weights are of classes, and the targets are amounts";
            let error = Error::unsupported(problem);
            return Err(error
                .help(Remedy::words("leave class weights out"))
                .help(Remedy::words("fit labels")));
        };
        if !self.0.takes_weights() {
            let problem = "this learner takes no weights, of rows or of classes";
            return Err(Error::unsupported(problem));
        }
        let labels = labels.clone();
        let Some(weight_k) = self.1.resolve(&labels, data.source, data.run)? else {
            return self.0.fit(map, data);
        };
        data.source.rewind()?;
        let mut source = Weighing {
            inner: data.source,
            labels: &labels,
            weight_k,
        };
        let data = FitData {
            source: &mut source,
            survey: data.survey,
            targets: data.targets,
            kernel: data.kernel,
            bandwidth: data.bandwidth,
            start: data.start,
            seed: data.seed,
            run: data.run,
        };
        self.0.fit(map, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        features::{Affine, Bandwidth, Fourier, KernelColumns, MapBuilder, MapData},
        kernels::{Gaussian, Kernel},
        model::{FromLabel, Model},
        models::{
            BoostingClassifier, FalkonClassifier, GreedyClassifier, LassoClassifier,
            RidgeClassifier,
        },
        seed::{Seed, Stream},
    };
    use ndarray::Array2;
    use std::sync::Arc;

    /// Builder of a map that does not depend on the rows, whose weighted means would change it.
    #[derive(Debug)]
    struct Fixed;

    impl MapBuilder for Fixed {
        fn kernel(&self) -> Option<Arc<dyn Kernel>> {
            Some(Arc::new(Gaussian))
        }

        fn build_from(&self, _: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
            let map = Fourier::new(Gaussian).features(40);
            Ok(Box::new(map.build(Affine::identity(2))?))
        }
    }

    /// Overlapping rows with random weights: 60 of the first class, 20 of the second, 10 of the
    /// third.
    fn rows() -> (Array2<f64>, Vec<&'static str>, Array1<f64>) {
        let mut draws = Seed(3).stream(Stream::Data, 0);
        let class = |i: usize| usize::from(i >= 60) + usize::from(i >= 80);
        let x = Array2::from_shape_fn((90, 2), |(i, j)| {
            let centre = if j == 0 { class(i) as f64 } else { 0.0 };
            centre + draws.normal()
        });
        let names = (0..90).map(|i| ["a", "b", "c"][class(i)]).collect();
        (
            x,
            names,
            Array1::from_shape_fn(90, |i| 1.0 + (i % 3) as f64),
        )
    }

    fn scores<L: FromLabel>(model: &Model<Vec<L>>, x: &Array2<f64>) -> Array2<f64> {
        model.loaded().expect("loads").scores(x).expect("scores")
    }

    /// Class weights multiply the weights of rows in every classifier that supports them; balanced
    /// classes have equal total weights.
    #[test]
    fn classes_weigh_as_their_rows_do() {
        let (x, names, row_n) = rows();
        let class = |i: usize| {
            ["a", "b", "c"]
                .iter()
                .position(|n| *n == names[i])
                .expect("one")
        };
        let by_hand = |of: [f64; 3]| Array1::from_shape_fn(90, |i| row_n[i] * of[class(i)]);
        let sum = |k: usize| -> f64 { (0..90).filter(|&i| class(i) == k).map(|i| row_n[i]).sum() };
        let all: f64 = row_n.sum();
        let balanced = [0, 1, 2].map(|k| all / (3.0 * sum(k)));
        macro_rules! check {
            ($learner:expr, $name:literal) => {
                let learner = $learner
                    .bandwidth(Bandwidth::Sigma(1.0))
                    .device(&Device::cpu());
                let plain = scores(&learner.fit((&x, &names, &row_n)).expect("fits"), &x);
                for (weights, of) in [
                    (ClassWeights::Of(vec![1.0, 3.0, 0.5]), [1.0, 3.0, 0.5]),
                    (ClassWeights::Balanced, balanced),
                ] {
                    let own = learner.clone().class_weights(weights);
                    let own = scores(&own.fit((&x, &names, &row_n)).expect("fits"), &x);
                    let hand = learner.fit((&x, &names, &by_hand(of))).expect("fits");
                    let worst =
                        |other: &Array2<f64>| (&own - other).fold(0.0, |m: f64, v| m.max(v.abs()));
                    let off = worst(&scores(&hand, &x));
                    // Landmarks are moved to the means of the rows, where rounding differs.
                    let most = if $name == "falkon" { 1e-3 } else { 1e-9 };
                    assert!(off < most, "{}: {off:e}", $name);
                    assert!(worst(&plain) > 0.02, "{}: {}", $name, worst(&plain));
                }
            };
        }
        check!(RidgeClassifier::on(Fixed).lambda(1e-3), "ridge");
        check!(LassoClassifier::on(Fixed).l1(1e-3), "lasso");
        check!(GreedyClassifier::on(Fixed).steps(6), "greedy");
        let boosting = BoostingClassifier::on(Fixed).block(10).stages(30);
        check!(boosting.held_out(0.0), "boosting");
        let columns = KernelColumns::new(Gaussian).landmarks(15);
        check!(FalkonClassifier::on(columns).lambda(1e-3), "falkon");
    }

    #[test]
    fn what_has_no_class_weights_says_so() {
        let (x, names, _) = rows();
        let cpu = Device::cpu();
        let map = || Fourier::new(Gaussian).features(20);
        let ridge = || RidgeClassifier::on(map()).device(&cpu);
        let two = ridge().class_weights(ClassWeights::Of(vec![1.0, 2.0]));
        let zero = ridge().class_weights(ClassWeights::Of(vec![1.0, 0.0, 2.0]));
        let searched = ridge().class_weights(ClassWeights::Balanced);
        let searched = searched.search(crate::learn::Search::default());
        for (error, says) in [
            (two.fit((&x, &names)).err(), "one positive number for each"),
            (zero.fit((&x, &names)).err(), "one positive number for each"),
            (searched.fit((&x, &names)).err(), "a search"),
            (two.start((&x, &names)).err(), "of all rows"),
        ] {
            let message = error.expect(says).to_string();
            assert!(
                message.contains(says) && !message.contains('\n'),
                "{message}"
            );
        }
        let greedy = GreedyClassifier::on(map()).device(&cpu);
        let greedy = greedy.class_weights(ClassWeights::Balanced);
        let message = greedy.start((&x, &names)).expect_err("sums").to_string();
        assert!(message.contains("of all rows"), "{message}");
        // The parts by themselves reject real targets, and a learner without support for weights.
        let numbers = crate::models::KernelRidge::on(KernelColumns::new(Gaussian)).device(&cpu);
        let y = x.column(0).to_owned();
        let model = numbers.fit((&x, &y)).expect("fits");
        assert_eq!(model.predict(&x).expect("predicts").len(), 90);
        let without = crate::learn::KernelIcaOptions::default();
        let weights = ClassWeights::Balanced;
        let with = WithClassWeights(&without, &weights);
        assert!(!with.takes_weights());
    }
}
