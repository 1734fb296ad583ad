//! What only moves numbers: blocks to their places, and the copy of the ceilings.

use super::{Job, block_rows, blocks, draw, head, relative, way};
use crate::{
    Device, Matrix, Result,
    bench::{Shape, ceiling},
    ops::place::{self, Spot},
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

fn job(device: &Device, shape: Shape, what: What) -> Result<Box<dyn Job>> {
    let cols = shape.features;
    let block = block_rows(device, shape.rows, cols, 2 * cols)?;
    Ok(Box::new(Move {
        what,
        rows: shape.rows,
        block,
        source_nd: Matrix::upload(device, draw(block, cols, 1.0, 3).view())?,
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
