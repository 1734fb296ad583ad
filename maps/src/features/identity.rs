//! No map: the columns themselves, or features that were computed elsewhere.

use super::{
    Affine, Bandwidth, FeatureMap, Formula, LoadedMap, MapBuilder, MapData, names::IDENTITY,
};
use crate::{
    Device, Error, Matrix, Result,
    kernels::{Kernel, Linear},
    ops::{
        place::{Place, Spot},
        product::product,
    },
    settings::Settings,
    store::Store,
    text::counted,
};
use std::sync::Arc;

/// The columns as they are, `z(x) = u` with u the row after its [`Affine`]: learners on it are
/// linear in the columns, and take features that were computed elsewhere.
///
/// The kernel is [`Linear`] of the centred rows: columns are centred at the survey's means in f64,
/// so that those far from 0 keep their digits, and an intercept takes up what that shifts. Nothing
/// else is done to them unless a bandwidth or a standardisation is asked for. Ridge regression is
/// that of Hoerl & Kennard 1970, with the penalty `n lambda |beta|^2` in the notation of
/// scikit-learn (`alpha = n lambda`).
///
/// On the CPU the sums of rows in f64 are in f64, so that coefficients have as many digits, and
/// those of rows that are mostly zeros are of their other values alone.
///
/// ```
/// use bochner::{features::Identity, prelude::*};
/// let x = ndarray::array![[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]];
/// let y = ndarray::array![1.0, 3.0, 9.0, 10.0];
/// // y = 1 + 2 x_0 + 2 x_1, but for the last row.
/// let model = Ridge::on(Identity).lambda(1e-9).fit((&x, &y))?;
/// assert_eq!(model.linear().map.output_dim(), 2);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity;

impl Identity {
    /// The map of prepared columns. Errors with [`Error::Shape`] when there are none.
    pub fn build(&self, input: Affine) -> Result<IdentityMap> {
        match input.columns() {
            0 => Err(Error::shape("rows of no columns; give at least one")),
            _ => Ok(IdentityMap { input }),
        }
    }
}

impl MapBuilder for Identity {
    fn settings(&self) -> Settings {
        Settings::of_map(IDENTITY)
    }

    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(Arc::new(Linear))
    }

    /// Centred, though the kernel of raw rows is another: an intercept makes up for it.
    fn is_shift_invariant(&self) -> bool {
        true
    }

    /// Columns keep their scale.
    fn usual_bandwidth(&self) -> Option<Bandwidth> {
        Some(Bandwidth::Sigma(1.0))
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        Ok(Box::new(self.build(data.input)?))
    }
}

/// [`Identity`] of so many columns.
#[derive(Debug, Clone, PartialEq)]
pub struct IdentityMap {
    input: Affine,
}

impl IdentityMap {
    pub(super) fn read(store: &Store) -> Result<Self> {
        Identity.build(Affine::read(store)?)
    }
}

impl FeatureMap for IdentityMap {
    fn name(&self) -> &'static str {
        IDENTITY
    }

    fn describe(&self) -> String {
        format!("{} as they are", counted(self.input_dim(), "column"))
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.input.columns()
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        let place = Place::load(device, &vec![[1.0, 0.0]; self.input.columns()])?;
        Ok(Box::new(Loaded { place }))
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        store.set("map", IDENTITY);
        self.input.write(store);
        Ok(())
    }

    fn formula(&self) -> Result<Formula> {
        Ok(Formula::Identity(self.input.columns()))
    }

    fn of_zeros(&self) -> Option<Vec<f32>> {
        self.input.is_affine().then(|| self.input.of_zeros())
    }
}

/// The map on a device.
#[derive(Debug)]
struct Loaded {
    place: Place,
}

impl LoadedMap for Loaded {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        let rows = x_nd.rows();
        let all = Spot {
            rows,
            ..Spot::default()
        };
        self.place.run(all, x_nd, z_nd)
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        product(x_nd, beta_dt, y_nt)
    }
}
