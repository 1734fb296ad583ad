//! A linear part beside a map: `z(x) = [z_0(x), sqrt(w) u]`, whose kernel is
//! `k_0(x, y) + w u(x)'u(y)`.

use super::{Affine, FeatureMap, Identity, MapBuilder, MapData, Union, require_dense};
use crate::{
    Error, Result,
    data::Survey,
    kernels::{Domain, Kernel},
    sampling::Sampling,
    settings::Settings,
    text::spelled,
};
use std::{fmt, str::FromStr, sync::Arc};

/// Whether the columns themselves stand beside the features of a map, so that what is linear in
/// them costs no feature and has no error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Linear {
    /// Where rows that are left out are predicted better so: what
    /// `Job::settled` decides beside the bandwidth. Not where that is
    /// given.
    #[default]
    Auto,
    /// They do ([`WithLine`]).
    Yes,
    /// They do not.
    No,
}

impl fmt::Display for Linear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Yes => "yes",
            Self::No => "no",
        })
    }
}

impl FromStr for Linear {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        spelled("a linear part", text, &[Self::Auto, Self::Yes, Self::No])
    }
}

/// A map of a kernel k_0 with the prepared columns u beside it: its kernel is
/// `k_0(x, y) + u(x)'u(y) / v`, where v is the mean of |u|^2 about the mean of u, over the rows
/// surveyed. Of columns that are centred the linear part is, in the mean, as large as the other,
/// whose k_0(x, x) is 1, and both have one penalty. That of kernel
/// ridge regression with such sums is in Hastie, Tibshirani & Friedman 2009, sec. 5.8.
///
/// ```
/// use bochner::{features::WithLine, prelude::*};
/// let map = WithLine::new(Fourier::new(Gaussian).features(64));
/// let x = ndarray::array![[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]];
/// let model = Ridge::on(map).fit((&x, &[1.0, 3.0, 9.0, 10.0]))?;
/// assert_eq!(model.linear().map.output_dim(), 64 + 2);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct WithLine {
    map: Arc<dyn MapBuilder>,
}

impl WithLine {
    /// The columns beside this map, whose features can be stored.
    pub fn new(map: impl MapBuilder + 'static) -> Self {
        Self { map: Arc::new(map) }
    }
}

/// What the linear part counts beside a kernel of 1 on the diagonal: one over the mean square of
/// prepared rows about their mean. `None` where no column varies.
#[doc(hidden)]
pub fn line_weight(input: &Affine, survey: &Survey) -> Option<f64> {
    let variances = input.variances(survey);
    let squares = input.scale().iter().zip(variances);
    let mean_square: f64 = squares
        .map(|(scale, variance)| scale * scale * variance)
        .sum();
    (mean_square > 0.0).then(|| 1.0 / mean_square)
}

impl MapBuilder for WithLine {
    fn settings(&self) -> Settings {
        self.map.settings().text("linear", Linear::Yes)
    }

    /// That of the map which bandwidths are meant for.
    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        self.map.kernel()
    }

    fn is_piecewise_constant(&self) -> bool {
        self.map.is_piecewise_constant()
    }

    fn is_of_its_kernel(&self) -> bool {
        false
    }

    fn is_shift_invariant(&self) -> bool {
        self.map.is_shift_invariant()
    }

    fn domain(&self) -> Domain {
        self.map.domain()
    }

    fn sample_rows(&self) -> usize {
        self.map.sample_rows()
    }

    /// Those of the map; the columns come on top.
    fn features(&self) -> Option<usize> {
        self.map.features()
    }

    fn sampling(&self) -> Option<Sampling> {
        self.map.sampling()
    }

    fn usual_bandwidth(&self) -> Option<super::Bandwidth> {
        self.map.usual_bandwidth()
    }

    fn column_parts(&self, survey: &Survey) -> Result<Option<Vec<super::ColumnPart>>> {
        self.map.column_parts(survey)
    }

    fn variant(&self, kernel: Arc<dyn Kernel>, features: usize) -> Option<Box<dyn MapBuilder>> {
        let map = self.map.variant(kernel, features)?;
        Some(Box::new(Self::new(map)))
    }

    /// The same draws as without the linear part. Errors as the map does, and with
    /// [`Error::Unsupported`] on features that cannot be stored.
    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let (input, survey) = (data.input.clone(), data.survey);
        let map = self.map.build_from(data)?;
        require_dense(map.as_ref())?;
        match line_weight(&input, survey) {
            Some(weight) => add_line(map, input, weight),
            None => Ok(map),
        }
    }
}

/// A map with the columns, prepared as `input` says, beside it, at this weight.
#[doc(hidden)]
pub fn add_line(
    map: Box<dyn FeatureMap>,
    input: Affine,
    weight: f64,
) -> Result<Box<dyn FeatureMap>> {
    let line = Box::new(Identity.build(input)?);
    Ok(Box::new(Union::new(vec![(map, 1.0), (line, weight)])?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device, Run,
        data::MemorySource,
        features::{Fourier, featurize},
        kernels::Gaussian,
        seed::Seed,
    };
    use ndarray::{Array2, Axis, s};

    fn drawn(map: &dyn MapBuilder, x_nd: &Array2<f64>, survey: &Survey) -> Array2<f32> {
        let input = Affine::identity(x_nd.ncols()).lengthscale(2.5);
        let run = Run::on(&Device::cpu());
        let data = MapData {
            input: input.expect("positive"),
            survey,
            source: &mut MemorySource::new(x_nd, None).expect("finite"),
            run: &run,
            seed: Some(Seed(3)),
            sampling: Sampling::Auto,
            columns: None,
        };
        let map = map.build_from(data).expect("builds");
        let mut z_nf = Array2::zeros((x_nd.nrows(), map.output_dim()));
        let mut source = MemorySource::new(x_nd, None).expect("finite");
        featurize(map.as_ref(), &mut source, &run, |z| {
            z_nf.assign(&z);
            Ok(())
        })
        .expect("featurizes");
        z_nf
    }

    fn survey(x_nd: &Array2<f64>) -> Survey {
        let mut source = MemorySource::new(x_nd, None).expect("finite");
        Survey::new(&mut source, 0, 0).expect("surveys")
    }

    /// The features of the map are those that it has alone, and beside them are columns whose
    /// squares have the mean 1, in proportion.
    #[test]
    fn columns_stand_beside_the_same_features() {
        let x_nd = Array2::from_shape_fn((90, 3), |(i, j)| {
            [1.0, 7.0, 0.2][j] * ((i * (j + 2)) as f64).sin()
        });
        let x_nd = &x_nd - &x_nd.mean_axis(Axis(0)).expect("rows");
        let survey = survey(&x_nd);
        let fourier = Fourier::new(Gaussian).features(40);
        let alone = drawn(&fourier, &x_nd, &survey);
        let both = drawn(&WithLine::new(fourier), &x_nd, &survey);
        assert_eq!(both.ncols(), 43);
        assert_eq!(both.slice(s![.., ..40]), alone);
        let beside = both.slice(s![.., 40..]).mapv(f64::from);
        let mean_square = beside.mapv(|v| v * v).sum() / 90.0;
        // A variance over n - 1 rows would be seen.
        assert!((mean_square - 1.0).abs() < 0.005, "{mean_square}");
        let factor = beside[[1, 0]] / x_nd[[1, 0]];
        assert!((&beside - factor * &x_nd).iter().all(|v| v.abs() < 1e-6));
    }

    #[test]
    fn constant_columns_have_no_line() {
        let x_nd = Array2::from_elem((5, 2), 3.0);
        let survey = survey(&x_nd);
        assert_eq!(line_weight(&Affine::identity(2), &survey), None);
        let map = WithLine::new(Fourier::new(Gaussian).features(4));
        assert_eq!(drawn(&map, &x_nd, &survey).ncols(), 4);
    }

    #[test]
    fn words_come_back() {
        for linear in [Linear::Auto, Linear::Yes, Linear::No] {
            assert_eq!(linear.to_string().parse::<Linear>().expect("known"), linear);
        }
        assert!("maybe".parse::<Linear>().is_err());
    }
}
