//! Maps that part rows: one for each leaf of a tree, of which a row has that of its own leaf.

mod tree;

use super::{
    Affine, FeatureMap, LoadedMap, Reader, Structure,
    names::{FOURIER, LEAVES},
    require_dense,
};
use crate::{Device, Error, Result, error::Remedy, store::Store};
use ndarray::{Array2, ArrayView1, ArrayView2, s};
#[doc(hidden)]
pub use tree::{Child, Cut, DEEPEST, MOST_LEAVES, Tree, project};

/// A tree and a map in each of its leaves: z(x) is `(z_l(x), 1)` in the columns of the leaf l that
/// x belongs to, and 0 in those of the others. So a model that is linear in z has coefficients and
/// an intercept of its own in each leaf.
///
/// Rows take the columns of all leaves nowhere: `Predictor` sends them
/// to the maps of their leaves.
#[derive(Debug)]
pub struct LeafFeatures {
    tree: Tree,
    /// `None` where the intercept says all.
    maps: Vec<Option<Box<dyn FeatureMap>>>,
    /// The first column of each leaf, and their number.
    offsets: Vec<usize>,
    input: Affine,
}

impl LeafFeatures {
    /// Errors with [`Error::Shape`] unless there is one map of d columns for each leaf, or none,
    /// and with [`Error::Unsupported`] on maps whose features cannot be stored.
    #[doc(hidden)]
    pub fn new(tree: Tree, maps: Vec<Option<Box<dyn FeatureMap>>>) -> Result<Self> {
        if maps.len() != tree.leaves() {
            return Err(Error::shape(format!(
                "{} maps for {} leaves",
                maps.len(),
                tree.leaves()
            )));
        }
        let mut offsets = vec![0];
        for map in &maps {
            let mut features = 1;
            if let Some(map) = map {
                if map.input_dim() != tree.columns() {
                    return Err(Error::shape(format!(
                        "a leaf takes {} columns, its tree {}",
                        map.input_dim(),
                        tree.columns()
                    )));
                }
                require_dense(map.as_ref())?;
                features += map.output_dim();
            }
            offsets.push(offsets[offsets.len() - 1] + features);
        }
        Ok(Self {
            input: Affine::identity(tree.columns()),
            tree,
            maps,
            offsets,
        })
    }

    pub(super) fn read(store: &Store, read: Reader) -> Result<Self> {
        let leaves: usize = store.get("leaves")?;
        let columns: usize = store.get("columns")?;
        if !(1..=MOST_LEAVES).contains(&leaves) {
            return Err(Error::format(format!(
                "a tree of {leaves} leaves; it has 1 to {MOST_LEAVES}"
            )));
        }
        let tree = Tree::read(store, leaves, columns)?;
        let maps = (0..leaves).map(|leaf| {
            let nested = store.nested(&format!("leaf{leaf}"));
            match nested.text("map")? {
                CONSTANT => Ok(None),
                LEAVES => Err(Error::format("a leaf that has leaves")),
                _ => read(&nested).map(Some),
            }
        });
        Self::new(tree, maps.collect::<Result<_>>()?)
    }

    /// Which rows belong to which leaf.
    #[doc(hidden)]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The map of a leaf, `None` where the intercept says all.
    #[doc(hidden)]
    pub fn map(&self, leaf: usize) -> Option<&dyn FeatureMap> {
        self.maps[leaf].as_deref()
    }

    /// The coefficients of a leaf, `[D_l, t]`, and its intercept, `[t]`, among those of all.
    #[doc(hidden)]
    pub fn coefficients<'b>(
        &self,
        leaf: usize,
        beta_dt: &'b Array2<f64>,
    ) -> (ArrayView2<'b, f64>, ArrayView1<'b, f64>) {
        let (from, to) = (self.offsets[leaf], self.offsets[leaf + 1] - 1);
        (beta_dt.slice(s![from..to, ..]), beta_dt.row(to))
    }
}

/// What a leaf without a map is called in files.
const CONSTANT: &str = "constant";

impl FeatureMap for LeafFeatures {
    fn name(&self) -> &'static str {
        LEAVES
    }

    fn describe(&self) -> String {
        let leaves = self.tree.leaves();
        let depth = self.tree.depth();
        match self.maps.iter().flatten().next() {
            Some(map) => format!("{leaves} leaves, {depth} deep, with {}", map.describe()),
            None => format!("{leaves} leaves, {depth} deep, of constants"),
        }
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    fn load(&self, _: &Device) -> Result<Box<dyn LoadedMap>> {
        Err(not_stored())
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        store.set("map", LEAVES);
        store.set("leaves", self.maps.len());
        store.set("columns", self.tree.columns());
        self.tree.write(store);
        for (leaf, map) in self.maps.iter().enumerate() {
            let mut nested = Store::default();
            match map {
                Some(map) => map.write(&mut nested)?,
                None => nested.set("map", CONSTANT),
            }
            store.nest(&format!("leaf{leaf}"), nested);
        }
        Ok(())
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Leaves(self)
    }
}

/// The error of whoever wants the features of a tree as columns.
pub(super) fn not_stored() -> Error {
    Error::unsupported("the features of a tree of leaves are no columns; it predicts, and no more")
        .help(Remedy::UseMap(FOURIER))
}
