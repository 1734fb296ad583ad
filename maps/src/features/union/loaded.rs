//! Maps side by side on a device.

use crate::{
    Device, Error, Matrix, Result,
    features::LoadedMap,
    ops::place::{Place, Spot},
};
use std::fmt;

/// A part on a device.
pub(super) struct LoadedPart {
    pub(super) map: Box<dyn LoadedMap>,
    pub(super) columns: usize,
    pub(super) root: f32,
    pub(super) rescale: Option<Place>,
    pub(super) features: Place,
    pub(super) x_nd: Option<Matrix>,
    pub(super) z_nd: Option<Matrix>,
    pub(super) beta_dt: Option<Matrix>,
}

/// All parts on a device.
pub(super) struct LoadedUnion {
    pub(super) device: Device,
    pub(super) depth: usize,
    pub(super) parts: Vec<LoadedPart>,
    /// For t targets: factors of the coefficients, of the sum, and one part's share of y.
    pub(super) targets: Option<Targets>,
}

pub(super) struct Targets {
    ones: Place,
    y_nt: Matrix,
}

impl fmt::Debug for LoadedUnion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.parts.iter().map(|p| &p.map))
            .finish()
    }
}

/// A matrix with room for `rows` rows, kept from call to call.
pub(in crate::features) fn room<'a>(
    kept: &'a mut Option<Matrix>,
    device: &Device,
    rows: usize,
    cols: usize,
) -> Result<&'a mut Matrix> {
    if !matches!(kept, Some(m) if m.capacity_rows() >= rows && m.cols() == cols) {
        // The old one first, so that a pool can hand it out again.
        *kept = None;
    }
    let matrix = match kept {
        Some(matrix) => matrix,
        None => kept.insert(Matrix::new(device, rows, cols)?),
    };
    matrix.set_rows(rows)?;
    Ok(matrix)
}

/// The rows as a part takes them.
fn rows_for<'a>(
    rescale: &Option<Place>,
    kept: &'a mut Option<Matrix>,
    device: &Device,
    x_nd: &'a Matrix,
) -> Result<&'a Matrix> {
    let Some(rescale) = rescale else {
        return Ok(x_nd);
    };
    let own = room(kept, device, x_nd.rows(), x_nd.cols())?;
    let spot = Spot {
        rows: x_nd.rows(),
        ..Spot::default()
    };
    rescale.run(spot, x_nd, own)?;
    Ok(own)
}

impl LoadedMap for LoadedUnion {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        self.check(x_nd)?;
        let rows = x_nd.rows();
        let mut col = 0;
        for part in &mut self.parts {
            let x = rows_for(&part.rescale, &mut part.x_nd, &self.device, x_nd)?;
            let z = room(&mut part.z_nd, &self.device, rows, part.columns)?;
            part.map.featurize(x, z)?;
            let spot = Spot {
                rows,
                col,
                ..Spot::default()
            };
            part.features.run(spot, z, z_nd)?;
            col += part.columns;
        }
        Ok(())
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        self.check(x_nd)?;
        let (rows, targets) = (x_nd.rows(), beta_dt.cols());
        let columns: usize = self.parts.iter().map(|p| p.columns).sum();
        if beta_dt.rows() != columns {
            return Err(Error::shape(format!(
                "coefficients are for {} features, the map gives {columns}",
                beta_dt.rows()
            )));
        }
        let device = &self.device;
        let share = match &mut self.targets {
            Some(t) if t.y_nt.capacity_rows() >= rows && t.y_nt.cols() == targets => t,
            other => other.insert(Targets {
                ones: Place::load(device, &vec![[1.0, 0.0]; targets])?,
                y_nt: Matrix::new(device, rows, targets)?,
            }),
        };
        share.y_nt.set_rows(rows)?;
        let mut at = 0;
        for (i, part) in self.parts.iter_mut().enumerate() {
            let x = rows_for(&part.rescale, &mut part.x_nd, device, x_nd)?;
            let beta = room(&mut part.beta_dt, device, part.columns, targets)?;
            let scale = Place::load(device, &vec![[part.root, 0.0]; targets])?;
            let coefficients = Spot {
                rows: part.columns,
                source_row: at,
                ..Spot::default()
            };
            scale.run(coefficients, beta_dt, beta)?;
            part.map.predict(x, beta, &mut share.y_nt)?;
            let sum = Spot {
                rows,
                add: i > 0,
                ..Spot::default()
            };
            share.ones.run(sum, &share.y_nt, y_nt)?;
            at += part.columns;
        }
        Ok(())
    }
}

impl LoadedUnion {
    fn check(&self, x_nd: &Matrix) -> Result<()> {
        if x_nd.cols() == self.depth {
            return Ok(());
        }
        Err(Error::shape(format!(
            "rows have {} columns, the map takes {}",
            x_nd.cols(),
            self.depth
        )))
    }
}
