//! From files to maps: readers by the name that a map has written.

use super::{
    AdditiveChi2Map, BinningMap, DenseFeatures, FeatureMap, HadamardSketchMap, IdentityMap,
    KernelColumnsMap, LeafFeatures, Mixed, NystromFeatures, PrecomputedMap, Reader,
    StructuredFeatures, TensorSketchMap, Union, names,
};
use crate::{Error, Result, error::Remedy, store::Store};
use std::{
    collections::BTreeMap,
    sync::{PoisonError, RwLock},
};

/// The readers that programs have registered.
static REGISTERED: RwLock<BTreeMap<String, Reader>> = RwLock::new(BTreeMap::new());

/// The reader of one of this library's maps.
fn built_in(name: &str) -> Option<Reader> {
    Some(match name {
        names::BINNING => |store| Ok(Box::new(BinningMap::read(store)?)),
        names::UNION => |store| Ok(Box::new(Union::read(store, read)?)),
        names::FOURIER => |store| Ok(Box::new(DenseFeatures::read(store, names::FOURIER)?)),
        names::CUSTOM => |store| Ok(Box::new(DenseFeatures::read(store, names::CUSTOM)?)),
        names::ARC_COSINE => |store| Ok(Box::new(DenseFeatures::read(store, names::ARC_COSINE)?)),
        names::RANDOM_PROJECTION => |store| {
            Ok(Box::new(DenseFeatures::read(
                store,
                names::RANDOM_PROJECTION,
            )?))
        },
        names::SKEWED_CHI2 => |store| Ok(Box::new(DenseFeatures::read(store, names::SKEWED_CHI2)?)),
        names::ADDITIVE_CHI2 => |store| Ok(Box::new(AdditiveChi2Map::read(store)?)),
        names::TENSOR_SKETCH => |store| Ok(Box::new(TensorSketchMap::read(store)?)),
        names::HADAMARD_SKETCH => |store| Ok(Box::new(HadamardSketchMap::read(store)?)),
        names::KERNEL_COLUMNS => |store| Ok(Box::new(KernelColumnsMap::read(store)?)),
        names::LEAVES => |store| Ok(Box::new(LeafFeatures::read(store, read)?)),
        names::MIXED => |store| Ok(Box::new(Mixed::read(store, read)?)),
        names::IDENTITY => |store| Ok(Box::new(IdentityMap::read(store)?)),
        names::PRECOMPUTED => |store| Ok(Box::new(PrecomputedMap::read(store)?)),
        names::NYSTROM => |store| Ok(Box::new(NystromFeatures::read(store)?)),
        names::FASTFOOD => |store| {
            Ok(Box::new(StructuredFeatures::read(
                store,
                names::FASTFOOD,
                true,
            )?))
        },
        names::SORF => |store| {
            Ok(Box::new(StructuredFeatures::read(
                store,
                names::SORF,
                false,
            )?))
        },
        _ => return None,
    })
}

/// Has files whose property `map` is `name` read by `reader`, in this process: once, before the
/// first is loaded. The map is one of a program's own that writes this name in
/// [`FeatureMap::write`]; `examples/own_map.rs` has one from end to end.
///
/// Errors with [`Error::Parameter`] when the name is taken: by a map of this library, or by an
/// earlier call.
pub fn register(name: &str, reader: Reader) -> Result<()> {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if built_in(name).is_some() || registered.contains_key(name) {
        return Err(Error::parameter(format!(
            "the map name {name:?} is taken; register each map once, under a name of its own"
        )));
    }
    registered.insert(name.to_owned(), reader);
    Ok(())
}

/// Reads a map that [`FeatureMap::write`] stored. Errors with [`Error::Missing`] when its name is
/// neither one of this library nor [registered](register), and with [`Error::Format`] on parts that
/// do not fit together.
pub fn read(store: &Store) -> Result<Box<dyn FeatureMap>> {
    let name = store.text("map")?;
    let registered = || {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        registered.get(name).copied()
    };
    match built_in(name).or_else(registered) {
        Some(reader) => reader(store),
        None => {
            let remedy =
                "register its reader by features::register before loading, or use a newer version";
            let problem = format!("no reader is known for the map {name:?}");
            Err(Error::missing(problem).help(Remedy::words(remedy)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        features::{Affine, Fourier},
        kernels::Gaussian,
    };

    #[test]
    fn a_registered_name_is_read_and_cannot_be_taken_twice() {
        let map = Fourier::new(Gaussian)
            .features(4)
            .build(Affine::identity(2));
        let mut store = Store::default();
        map.expect("draws").write(&mut store).expect("writes");
        let same: Reader = |store| Ok(Box::new(DenseFeatures::read(store, names::FOURIER)?));
        let taken = register(names::FOURIER, same).expect_err("one of ours");
        assert!(matches!(taken, Error::Parameter(_)), "{taken}");
        store.set("map", "of-a-test");
        let error = read(&store).expect_err("nobody's");
        assert!(matches!(error, Error::Missing(_)), "{error}");
        assert!(error.to_string().contains("features::register"), "{error}");
        register("of-a-test", same).expect("is free");
        assert_eq!(read(&store).expect("is known").output_dim(), 4);
        assert!(register("of-a-test", same).is_err());
    }
}
