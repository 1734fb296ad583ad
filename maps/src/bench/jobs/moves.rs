//! What little more than moves numbers: blocks to their places, products and features of single
//! numbers, and the copy of the ceilings.

use super::{Job, block_rows, blocks, draw, head, relative, way};
use crate::{
    Device, Error, Matrix, Result,
    bench::{Shape, ceiling},
    ops::{
        additive_chi2::{self, Samples},
        complex_product,
        place::{self, Spot},
    },
};
use ndarray::Array2;

/// Two matrices and what goes from one to the other.
struct Move {
    what: What,
    rows: usize,
    block: usize,
    source_nd: Matrix,
    place_nd: Matrix,
}

enum What {
    /// Scaled and shifted by column.
    Place(place::Place, Vec<[f32; 2]>),
    /// Of two factors side by side.
    Product,
    /// Of numbers that are not negative.
    Chi2(Samples),
    Copy,
}

pub(in crate::bench) fn place(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    let pairs = draw(shape.features, 2, 1.0, 5);
    let factors: Vec<[f32; 2]> = pairs.rows().into_iter().map(|p| [p[0], p[1]]).collect();
    let op = place::Place::load(device, &factors)?;
    job(device, shape, What::Place(op, factors))
}

pub(in crate::bench) fn copy(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    job(device, shape, What::Copy)
}

pub(in crate::bench) fn complex_product(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    job(device, shape, What::Product)
}

pub(in crate::bench) fn additive_chi2(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    let samples = Samples {
        count: 2,
        interval: 0.5,
    };
    if !shape.features.is_multiple_of(samples.outputs()) {
        return Err(Error::parameter(format!(
            "{} features of chi-squared are not three of each column",
            shape.features
        )));
    }
    job(device, shape, What::Chi2(samples))
}

fn job(device: &Device, shape: Shape, what: What) -> Result<Box<dyn Job>> {
    let cols = shape.features;
    let from = match &what {
        What::Place(..) | What::Copy => cols,
        What::Product => 2 * cols,
        What::Chi2(samples) => cols / samples.outputs(),
    };
    let block = block_rows(device, shape.rows, cols.max(from), cols + from)?;
    let mut source = draw(block, from, 1.0, 3);
    if let What::Chi2(_) = what {
        source.mapv_inplace(f32::abs);
    }
    Ok(Box::new(Move {
        what,
        rows: shape.rows,
        block,
        source_nd: Matrix::upload(device, source.view())?,
        place_nd: Matrix::new(device, block, cols)?,
    }))
}

impl Move {
    fn block(&mut self, rows: usize) -> Result<()> {
        self.source_nd.set_rows(rows)?;
        self.place_nd.set_rows(rows)?;
        let (source, place) = (&self.source_nd, &mut self.place_nd);
        match &self.what {
            What::Place(op, _) => {
                let spot = Spot {
                    rows,
                    ..Spot::default()
                };
                op.run(spot, source, place)
            }
            What::Product => complex_product::complex_product(source, 2, place),
            What::Chi2(samples) => additive_chi2::additive_chi2(*samples, source, place),
            What::Copy => ceiling::copy(source, place, 1),
        }
    }
}

impl Job for Move {
    fn run(&mut self) -> Result<()> {
        for rows in blocks(self.rows, self.block) {
            self.block(rows)?;
        }
        Ok(())
    }

    fn error(&mut self) -> Result<f64> {
        let rows = self.block.min(64);
        self.block(self.block)?;
        let got = head(&mut self.place_nd, rows)?;
        let source = head(&mut self.source_nd, rows)?;
        let reference = match &self.what {
            What::Place(_, factors) => {
                let spot = Spot {
                    rows,
                    ..Spot::default()
                };
                let nothing = Array2::zeros(source.dim());
                place::reference(factors, spot, source.view(), nothing.view())
            }
            What::Product => complex_product::reference(source.view(), 2),
            What::Chi2(samples) => additive_chi2::reference(*samples, source.view()),
            What::Copy => source.mapv(f64::from),
        };
        Ok(relative(got.view(), reference.view()))
    }

    fn tile(&self) -> String {
        way(self.source_nd.device(), || "rows".into())
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.block)
    }
}
