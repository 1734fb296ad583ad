//! Feature maps: z(x) with z(x)'z(y) close to k(x, y). A map is kernel x sampling x nonlinearity;
//! one file per map.

mod additive;
mod additive_chi2;
mod affine;
pub(crate) mod arc_cosine;
mod bandwidth;
mod bend;
pub(crate) mod binning;
mod builder;
mod column_part;
pub(crate) mod custom;
pub(crate) mod dense;
mod factors;
pub(crate) mod fastfood;
mod featurizer;
mod form;
mod formula;
pub(crate) mod fourier;
mod hadamard_sketch;
pub(crate) mod identity;
pub(crate) mod kernel_columns;
mod leaves;
mod leverage;
mod mixed;
#[doc(hidden)]
pub mod names;
pub(crate) mod nystrom;
mod polynomial_sketch;
pub(crate) mod precomputed;
mod random_projection;
mod readers;
mod registered;
mod scaled_kernel;
mod scaling;
pub(crate) mod select;
mod skewed_chi2;
pub(crate) mod sorf;
mod sparse;
pub(crate) mod spec;
mod standardize;
mod stretch;
pub(crate) mod structured;
mod tensor_sketch;
mod transformer;
mod union;
mod with_line;

pub use crate::{ops::projection::DenseMap, store::Store};
pub use additive::Additive;
#[doc(hidden)]
pub use additive::{AdditiveMap, NO_PARTS};
pub use additive_chi2::{AdditiveChi2Features, AdditiveChi2Map};
pub use affine::Affine;
pub use arc_cosine::ArcCosine;
pub use bandwidth::Bandwidth;
#[doc(hidden)]
pub use bend::Bend;
pub use binning::{
    Binner, Binning, BinningMap, DrawnGrids, GridColumns, UNSEEN, collisions, shared_bins,
};
#[doc(hidden)]
pub use builder::part_seed;
pub use builder::{MapBuilder, MapData};
#[doc(hidden)]
pub use column_part::{ColumnPart, by_parts};
pub use custom::Custom;
pub use dense::DenseFeatures;
pub use fastfood::Fastfood;
pub use featurizer::featurize;
#[cfg(feature = "files")]
pub use featurizer::featurize_behind;
#[doc(hidden)]
pub use featurizer::{Branch, Destination, Featurizer, OnDevice};
pub use form::Form;
pub use formula::{Formula, PartFormula};
pub use fourier::Fourier;
pub use hadamard_sketch::{HadamardSketch, HadamardSketchMap, Turns};
pub use identity::{Identity, IdentityMap};
pub use kernel_columns::{KernelColumns, KernelColumnsMap};
pub use leaves::LeafFeatures;
#[doc(hidden)]
pub use leaves::{Child, Cut, DEEPEST, MOST_LEAVES, Tree, project};
pub use leverage::leverage_scores;
pub use mixed::Mixed;
pub use nystrom::{Landmarks, Nystrom, NystromFeatures};
pub use polynomial_sketch::{PolynomialSketch, PolynomialSketchMap};
pub use precomputed::{Precomputed, PrecomputedMap};
pub use random_projection::{Entries, RandomProjection};
pub use readers::{read, register};
pub use scaled_kernel::ScaledKernel;
pub use scaling::Scaling;
pub use select::{Auto, MapCost, Selection};
pub use skewed_chi2::SkewedChi2;
pub use sorf::{Radii, Sorf};
pub use sparse::SparseInput;
pub use spec::{ColumnChoice, LeverageSpec, MapChoice, MapKind, MapPart, MapSpec};
pub use standardize::Standardize;
#[doc(hidden)]
pub use stretch::{Stretched, StretchedFeatures};
pub use structured::StructuredFeatures;
pub use tensor_sketch::{Hashes, TensorSketch, TensorSketchMap};
pub use transformer::{FeatureValue, Transformer};
#[doc(hidden)]
pub use union::{Leaf, leaves};
pub use union::{Union, UnionBuilder};
pub use with_line::{Linear, WithLine};
#[doc(hidden)]
pub use with_line::{add_line, line_weight};

use crate::{Device, Error, Matrix, Result, error::Remedy};
use ndarray::Array2;
use std::fmt::Debug;

/// A feature map with all its parameters drawn: what a model keeps.
///
/// Scaled so that z(x)'z(y) estimates k(x, y), with no further factor anywhere.
pub trait FeatureMap: Debug + Send + Sync {
    /// The map as the command line spells it (`fourier`).
    fn name(&self) -> &'static str;
    /// One line for people: map, kernel, sampling, sizes.
    fn describe(&self) -> String;
    /// The name of what sees the columns: where they are mixed first, of the map behind that.
    fn kind(&self) -> &'static str {
        self.name()
    }
    /// From raw columns to what the map takes: standardisation, lengthscales and the map's own
    /// factor in one.
    fn input(&self) -> &Affine;
    /// Number of output columns, D.
    fn output_dim(&self) -> usize;
    /// Uploads the parameters once.
    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>>;
    /// Writes the parameters, so that [`read`] gives the same map. Errors with
    /// [`Error::Unsupported`] when the map holds code that no file can keep: a kernel of the user's
    /// own, or a nonlinearity that has not been [registered](Custom::register).
    fn write(&self, store: &mut Store) -> Result<()>;

    /// How z(u) depends on the prepared row u, for gradients of what is fitted to it and for other
    /// runtimes. Errors with [`Error::Unsupported`] for maps of which no formula is known, as it is
    /// until said otherwise.
    fn formula(&self) -> Result<Formula> {
        let problem = format!("no formula of a {} map is known", self.name());
        Err(Error::unsupported(problem).help(Remedy::UseMap(names::FOURIER)))
    }

    /// The same map of columns that `input` prepares and `root_de` mixes, `z(R'u)`, without the
    /// product, if it can take R into its own parameters; this map centres no column.
    fn after(&self, input: &Affine, root_de: &Array2<f64>) -> Option<Box<dyn FeatureMap>> {
        let _ = (input, root_de);
        None
    }

    /// z of a row of zeros, `[D]`, where feature j depends on column j alone, so that rows of few
    /// values other than 0 differ from it in as few features.
    fn of_zeros(&self) -> Option<Vec<f32>> {
        None
    }

    /// What a user should know of how the map came out, a line each: for reports, not kept in
    /// files.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// How the columns of Z are held: whether they can be written to a matrix, and what is solved
    /// how.
    fn structure(&self) -> Structure<'_> {
        Structure::Dense
    }

    /// The map itself where it is of Fourier features, whose frequencies can be seen.
    fn fourier(&self) -> Option<&DenseFeatures> {
        None
    }

    /// Columns of f32 that the loaded map keeps for each row of a chunk beside what it reads and
    /// writes: when it featurizes, or when it predicts so many `targets`. Scratch of a fixed size
    /// does not count.
    fn scratch_columns(&self, targets: Option<usize>) -> usize {
        let _ = targets;
        0
    }

    /// Number of input columns, d.
    fn input_dim(&self) -> usize {
        self.input().columns()
    }
}

/// Makes a map of what its [`FeatureMap::write`] stored.
pub type Reader = fn(&Store) -> Result<Box<dyn FeatureMap>>;

/// A map that several models share.
impl FeatureMap for std::sync::Arc<dyn FeatureMap> {
    fn name(&self) -> &'static str {
        (**self).name()
    }
    fn kind(&self) -> &'static str {
        (**self).kind()
    }
    fn describe(&self) -> String {
        (**self).describe()
    }
    fn input(&self) -> &Affine {
        (**self).input()
    }
    fn output_dim(&self) -> usize {
        (**self).output_dim()
    }
    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        (**self).load(device)
    }
    fn write(&self, store: &mut Store) -> Result<()> {
        (**self).write(store)
    }
    fn formula(&self) -> Result<Formula> {
        (**self).formula()
    }
    fn after(&self, input: &Affine, root_de: &Array2<f64>) -> Option<Box<dyn FeatureMap>> {
        (**self).after(input, root_de)
    }
    fn of_zeros(&self) -> Option<Vec<f32>> {
        (**self).of_zeros()
    }
    fn remarks(&self) -> Vec<String> {
        (**self).remarks()
    }
    fn structure(&self) -> Structure<'_> {
        (**self).structure()
    }
    fn fourier(&self) -> Option<&DenseFeatures> {
        (**self).fourier()
    }
    fn scratch_columns(&self, targets: Option<usize>) -> usize {
        (**self).scratch_columns(targets)
    }
}

/// What solvers need to know of a map: the columns of some are too many to store.
#[derive(Debug, Clone, Copy)]
pub enum Structure<'a> {
    /// Z is written by [`LoadedMap::featurize`].
    Dense,
    /// One column number per row and grid; Z is never stored.
    Binning(&'a BinningMap),
    /// Kernel values with landmarks, whose penalty is the landmarks' own kernel; Z is written.
    Kernel(&'a KernelColumnsMap),
    /// Maps side by side.
    Union(&'a Union),
    /// A map in each leaf of a tree; Z is never stored.
    Leaves(&'a LeafFeatures),
}

/// Errors with [`Error::Unsupported`] unless the features of `map` can be stored, as normal
/// equations and files of features need. Only maps with a binning part and trees of leaves cannot.
pub fn require_dense(map: &dyn FeatureMap) -> Result<()> {
    match map.structure() {
        Structure::Dense | Structure::Kernel(_) => Ok(()),
        Structure::Binning(_) => Err(not_dense(map.name())),
        Structure::Leaves(_) => Err(leaves::not_stored()),
        Structure::Union(union) => union.parts().try_for_each(|(part, _)| require_dense(part)),
    }
}

fn not_dense(name: &str) -> Error {
    Error::unsupported(format!("the columns of a {name} map are never stored"))
        .help(Remedy::ConjugateGradients)
        .help(Remedy::UseMap(names::FOURIER))
}

/// A feature map whose parameters are on a device. No call allocates more than the map needed at
/// its first.
pub trait LoadedMap: Debug + Send {
    /// Writes z(x), shape `[rows, D]`, for `x` prepared by [`FeatureMap::input`], shape
    /// `[rows, d]`.
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()>;

    /// Writes z(x) beta, shape `[rows, t]`, for coefficients `[D, t]`. The features are never
    /// stored whole.
    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()>;

    /// As [`Self::featurize`], to host memory of the caller: `rows D` floats, row after row.
    /// Returns whether it did; a map that does not work there writes nothing, and is asked to
    /// [`Self::featurize`]. With `past_caches` nobody on this core reads them soon, so that they
    /// are best written past its caches.
    fn featurize_to(&mut self, x_nd: &Matrix, z_nd: &mut [f32], past_caches: bool) -> Result<bool> {
        let _ = (x_nd, z_nd, past_caches);
        Ok(false)
    }

    /// As [`Self::featurize_to`] for sparse rows, without their zeros. A map that does not take
    /// them writes nothing, and is given the rows with their zeros.
    fn featurize_sparse(&mut self, x: &SparseInput, z_nd: &mut [f32]) -> Result<bool> {
        let _ = (x, z_nd);
        Ok(false)
    }
}

/// A matrix of `columns` columns with a row for each of `x_nd`, on its device: the one kept, unless
/// it is too small.
fn scratch<'m>(
    kept: &'m mut Option<Matrix>,
    x_nd: &Matrix,
    columns: usize,
) -> Result<&'m mut Matrix> {
    let fits = |m: &Matrix| m.capacity_rows() >= x_nd.rows() && m.cols() == columns;
    if !kept.as_ref().is_some_and(fits) {
        // The old one first, so that a pool can hand it out again.
        *kept = None;
    }
    let scratch = match kept {
        Some(there) => there,
        none => none.insert(Matrix::new(x_nd.device(), x_nd.capacity_rows(), columns)?),
    };
    scratch.set_rows(x_nd.rows())?;
    Ok(scratch)
}
