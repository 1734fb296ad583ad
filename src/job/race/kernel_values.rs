//! Kernel values for the comparison of candidates.

use crate::{
    Device, Result, Run,
    data::{KeptRows, MemorySource, Survey},
    features::{
        Affine, ColumnPart, FeatureMap, MapBuilder, MapData, add_line, featurize, require_dense,
    },
    kernels::{Kernel, gram},
    linalg::products::lower_outer,
    seed::Seed,
};
use ndarray::{Array2, Axis, s};
use std::{cell::RefCell, sync::Arc};

/// Largest number of features for kernel values.
const FEATURES: usize = 1000;

/// Rows of the last evaluation, and the products of their features.
pub(super) type Last = RefCell<Option<(Array2<f64>, Array2<f64>)>>;

/// Source of kernel values.
pub(super) enum KernelValues<'a> {
    /// Exact kernel, or a sum over parts of the columns: for maps that are drawn from the rows, and
    /// for binning.
    Kernel(&'a dyn Kernel, Option<Vec<ColumnPart>>),
    /// Features of the map, which include its approximation error. Candidates with and without a
    /// linear part share the products, so the last ones are cached.
    Features(Arc<dyn FeatureMap>, Last),
}

impl<'a> KernelValues<'a> {
    /// Creates the source for a map at unit lengthscale. The seed is fixed, so that the choice
    /// depends on the rows alone.
    pub(super) fn for_map(
        map: &dyn MapBuilder,
        kernel: &'a Arc<dyn Kernel>,
        (survey, parts): (&Survey, Option<Vec<ColumnPart>>),
        kept: &KeptRows,
    ) -> Self {
        let looks_at_rows = map.sample_rows() > 0;
        let features = map.features().filter(|_| !looks_at_rows);
        let fewer = features.and_then(|all| map.variant(kernel.clone(), all.min(FEATURES)));
        let drawn = fewer.and_then(|map| {
            let input = Affine::identity(survey.mean.len());
            let (mut source, run) = (kept.source(), Run::on(&Device::cpu()));
            let mut data = MapData::new(input, survey, &mut source, &run);
            data.seed = Some(Seed(0));
            map.build_from(data).ok()
        });
        match drawn.filter(|map| require_dense(map.as_ref()).is_ok()) {
            Some(map) => Self::Features(map.into(), Last::default()),
            None => Self::Kernel(kernel.as_ref(), parts),
        }
    }

    /// Returns kernel values of rows at unit lengthscale, plus a linear part with weight `line`.
    pub(super) fn gram(&self, u_md: Array2<f64>, line: Option<f64>) -> Result<Array2<f64>> {
        let k_mm = match self {
            Self::Kernel(kernel, None) => gram(*kernel, u_md.view()),
            Self::Kernel(kernel, Some(parts)) => {
                let none_mm = Array2::zeros((u_md.nrows(), u_md.nrows()));
                parts.iter().fold(none_mm, |sum_mm, part| {
                    let own_md = u_md.select(Axis(1), &part.places);
                    sum_mm + part.weight * gram(*kernel, own_md.view())
                })
            }
            Self::Features(map, last) => {
                let mut last = last.borrow_mut();
                match &*last {
                    Some((rows_md, k_mm)) if rows_md == u_md => k_mm.clone(),
                    _ => {
                        // Frees the cache before the next products are allocated.
                        *last = None;
                        let z_mf = Self::features(map.as_ref(), &u_md)?.mapv(f64::from);
                        let lower_mm = lower_outer(&z_mf);
                        let k_mm = Array2::from_shape_fn(lower_mm.dim(), |(i, j)| {
                            lower_mm[[i.max(j), i.min(j)]]
                        });
                        *last = Some((u_md.clone(), k_mm.clone()));
                        k_mm
                    }
                }
            }
        };
        Ok(match line {
            Some(weight) => k_mm + weight * u_md.dot(&u_md.t()),
            None => k_mm,
        })
    }

    /// Concatenates a linear part with weight `line` to the features.
    pub(super) fn with_line(
        map: &Arc<dyn FeatureMap>,
        line: Option<f64>,
    ) -> Result<Box<dyn FeatureMap>> {
        let own: Box<dyn FeatureMap> = Box::new(map.clone());
        match line {
            Some(weight) => add_line(own, map.input().clone(), weight),
            None => Ok(own),
        }
    }

    /// Returns the features of rows at unit lengthscale.
    pub(super) fn features(map: &dyn FeatureMap, u_md: &Array2<f64>) -> Result<Array2<f32>> {
        let mut z_mf = Array2::zeros((u_md.nrows(), map.output_dim()));
        let mut row = 0;
        let run = Run::on(&Device::cpu());
        featurize(map, &mut MemorySource::new(u_md, None)?, &run, |z| {
            z_mf.slice_mut(s![row..row + z.nrows(), ..]).assign(&z);
            row += z.nrows();
            Ok(())
        })?;
        Ok(z_mf)
    }
}
