//! Parts of a sum of maps, grouped by the columns that they depend on, each with its coefficients.

use super::Column;
use crate::{
    Error, Result, Run,
    data::Rows,
    features::{Branch, Destination, FeatureMap, Featurizer, Leaf, Structure, leaves},
    model::LinearModel,
};
use ndarray::{Array2, ArrayView2, s};
use std::ops::Range;

/// A map of the sum: its features `root z(x)` are the features `own` of the model.
#[derive(Debug, Clone)]
pub(super) struct Piece<'m> {
    pub(super) leaf: Leaf<'m>,
    pub(super) own: Range<usize>,
    pub(super) root: f64,
}

impl<'m> Piece<'m> {
    fn map(&self) -> &'m dyn FeatureMap {
        match self.leaf {
            Leaf::Dense(map) => map,
            Leaf::Binning(map) => map,
        }
    }
}

/// All maps that depend on the same columns: `f_p(x) = sum_i root_i z_i(x)'beta_i`.
#[derive(Debug, Clone)]
pub(super) struct Part<'m> {
    /// Their indices among the [`Column`]s, ascending; empty if no column varied.
    pub(super) columns: Vec<usize>,
    pub(super) pieces: Vec<Piece<'m>>,
}

impl<'m> Part<'m> {
    /// Loads the part on a device.
    pub(super) fn load(&self, model: &'m LinearModel, run: &Run) -> Result<LoadedPart<'m>> {
        let beta_dt = &model.coefficients.beta_dt;
        let branch = |piece: &Piece<'m>| {
            Branch::outputs(piece.map(), beta_dt.slice(s![piece.own.clone(), ..]))
        };
        let branches = self.pieces.iter().map(branch).collect();
        let mut featurizer =
            Featurizer::new(branches, beta_dt.ncols(), Destination::Host, run.silent())?;
        featurizer.load()?;
        Ok(LoadedPart {
            featurizer,
            roots: self.pieces.iter().map(|piece| piece.root).collect(),
            outputs: beta_dt.ncols(),
        })
    }
}

/// A part on a device, with its buffers.
#[derive(Debug)]
pub(super) struct LoadedPart<'m> {
    featurizer: Featurizer<'m>,
    roots: Vec<f64>,
    outputs: usize,
}

impl LoadedPart<'_> {
    /// f_p for rows `[n, d]`, for all outputs `[n, t]`. Errors with [`Error::Data`] on a value that
    /// is not finite, and as the device does.
    pub(super) fn outputs(&mut self, x_nd: Array2<f64>) -> Result<Array2<f64>> {
        let mut all_nt = Array2::zeros((x_nd.nrows(), self.outputs));
        let rows = Rows::F64(x_nd);
        rows.require_finite()?;
        let roots = &self.roots;
        let mut take = |of: &[ArrayView2<'_, f32>], range: Range<usize>| {
            let mut to_nt = all_nt.slice_mut(s![range, ..]);
            for (of_nt, root) in of.iter().zip(roots) {
                to_nt.zip_mut_with(of_nt, |to, &y| *to += root * f64::from(y));
            }
            Ok(())
        };
        self.featurizer.rows(&rows, &mut take)?;
        if all_nt.iter().all(|y: &f64| y.is_finite()) {
            Ok(all_nt)
        } else {
            Err(Error::numerical(
                "a part of the model is not finite: rows are too far from those it was fitted to",
            ))
        }
    }
}

/// The parts of a model, in the order of its features; `None` for a tree of leaves.
pub(super) fn parts_of<'m>(model: &'m LinearModel, columns: &[Column]) -> Option<Vec<Part<'m>>> {
    let mut parts: Vec<Part<'m>> = Vec::new();
    for (leaf, from, root) in leaves(model.map.as_ref()) {
        let mut piece = Piece {
            leaf,
            own: from..from,
            root,
        };
        let map = piece.map();
        if matches!(map.structure(), Structure::Leaves(_)) {
            return None;
        }
        piece.own.end += map.output_dim();
        let kept = map.input().kept();
        let sees = |column: &Column| kept.iter().any(|j| column.places.contains(j));
        let all = columns.iter().enumerate();
        let seen: Vec<usize> = all.filter(|of| sees(of.1)).map(|of| of.0).collect();
        match parts.iter_mut().find(|part| part.columns == seen) {
            Some(part) => part.pieces.push(piece),
            None => parts.push(Part {
                columns: seen,
                pieces: vec![piece],
            }),
        }
    }
    Some(parts)
}
