//! Feature maps: z(x) with z(x)'z(y) close to k(x, y). A map is kernel x sampling x nonlinearity; one file per map.

mod affine;
mod bandwidth;
pub mod dense;
pub mod fourier;
mod stream;

pub use affine::Affine;
pub use bandwidth::Bandwidth;
pub use dense::DenseFeatures;
pub use fourier::{Form, Fourier};
pub use stream::featurize;

use crate::{Device, Error, Matrix, Result, store::Store};
use std::fmt::Debug;

/// A feature map with all its parameters drawn: what a model keeps.
///
/// Scaled so that z(x)'z(y) estimates k(x, y), with no further factor anywhere.
pub trait FeatureMap: Debug + Send + Sync {
    /// The map as the command line spells it (`fourier`).
    fn name(&self) -> &'static str;
    /// One line for people: map, kernel, sampling, sizes.
    fn describe(&self) -> String;
    /// From raw columns to what the map takes: standardisation, lengthscales and the map's own factor in one.
    fn input(&self) -> &Affine;
    /// Number of output columns, D.
    fn output_dim(&self) -> usize;
    /// Uploads the parameters once.
    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>>;
    /// Writes the parameters, so that [`read`] gives the same map.
    fn write(&self, store: &mut Store);

    /// Number of input columns, d.
    fn input_dim(&self) -> usize {
        self.input().columns()
    }
}

/// A feature map whose parameters are on a device. No call allocates more than the map needed at its first.
pub trait LoadedMap: Debug + Send {
    /// Writes z(x), shape `[rows, D]`, for `x` prepared by [`FeatureMap::input`], shape `[rows, d]`.
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()>;

    /// Writes z(x) beta, shape `[rows, t]`, for coefficients `[D, t]`. The features are never stored whole.
    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()>;
}

/// Reads a map that [`FeatureMap::write`] stored.
pub fn read(store: &Store) -> Result<Box<dyn FeatureMap>> {
    let name = store.text("map")?;
    match name {
        fourier::NAME => Ok(Box::new(DenseFeatures::read(store, fourier::NAME)?)),
        _ => Err(Error::Unsupported(format!(
            "the map {name:?} is not known to this version; use a newer one"
        ))),
    }
}
