//! All ops, each with its shaders, its check and what is measured of it. Tests walk [`REGISTRY`]:
//! each shader is expanded, parsed and validated for every variant without a GPU, and each check
//! runs on every device, as it does for `bochner bench --check`.

use crate::{
    Device, Error, Result,
    bench::{self, OpBench, baseline, ceiling},
    check::{Extent, Outcome},
    device::{GpuDevice, gpu::AdapterKind},
    form::{Contest, Registers, Tile},
    ops::{
        additive_chi2, binning, complex_product, few, few_check, gram, kernel_block, place,
        predict, product, projection, structured, walsh_hadamard,
    },
};

pub use crate::device::gpu::op::{Binding, Op, Variant};

/// An op in the registry: there is none without a check, nor one that is not measured.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name.
    pub op: &'static str,
    /// Its shaders.
    pub shaders: &'static [&'static Op],
    /// Compares it with f64 on one device, with negative controls, in all or some of its variants.
    pub check: fn(&Device, Extent) -> Result<Outcome>,
    /// What is measured of it, with floors; never empty.
    pub bench: &'static [OpBench],
}

/// All ops.
pub const REGISTRY: &[Row] = &[
    Row {
        op: "projection",
        shaders: &[
            &projection::OP,
            &projection::UNITS_OP,
            &projection::SCALES_OP,
        ],
        check: projection::check::run,
        bench: bench::PROJECTION,
    },
    Row {
        op: "gram",
        shaders: &[
            &gram::OP,
            &gram::ADD_OP,
            &gram::TARGETS_OP,
            &gram::UNITS_OP,
            &gram::SCALES_OP,
        ],
        check: gram::check::run,
        bench: bench::GRAM,
    },
    Row {
        op: "predict",
        shaders: &[&predict::OP],
        check: predict::check::run,
        bench: bench::PREDICT,
    },
    Row {
        op: "product",
        shaders: &[&product::OP],
        check: product::check::run,
        bench: bench::PRODUCT,
    },
    Row {
        op: "few",
        shaders: &[&few::OP, &few::SUM_OP],
        check: few_check::run,
        bench: bench::FEW,
    },
    Row {
        op: "walsh-hadamard",
        shaders: &[&walsh_hadamard::OP, &walsh_hadamard::SUBGROUP_OP],
        check: walsh_hadamard::check::run,
        bench: bench::WALSH_HADAMARD,
    },
    Row {
        op: "structured",
        shaders: &[&structured::OP, &structured::STAGE_OP],
        check: structured::check::run,
        bench: bench::STRUCTURED,
    },
    Row {
        op: "kernel-block",
        shaders: &[&kernel_block::OP],
        check: kernel_block::check::run,
        bench: bench::KERNEL_BLOCK,
    },
    Row {
        op: "binning",
        shaders: &[&binning::OP],
        check: binning::check::run,
        bench: bench::BINNING,
    },
    Row {
        op: "place",
        shaders: &[&place::OP],
        check: place::check::run,
        bench: bench::PLACE,
    },
    Row {
        op: "complex-product",
        shaders: &[&complex_product::OP],
        check: complex_product::check::run,
        bench: bench::COMPLEX_PRODUCT,
    },
    Row {
        op: "additive-chi2",
        shaders: &[&additive_chi2::OP],
        check: additive_chi2::check::run,
        bench: bench::ADDITIVE_CHI2,
    },
    // tests/devices/tiles.rs holds the naive projection, which benchmarks alone use.
    Row {
        op: "ceiling",
        shaders: &[&ceiling::COPY, &ceiling::FMA, &baseline::NAIVE],
        check: ceiling::check::run,
        bench: bench::CEILING,
    },
];

/// An op that is not measured does not compile.
const _: () = {
    let mut at = 0;
    while at < REGISTRY.len() {
        assert!(!REGISTRY[at].bench.is_empty(), "an op is not measured");
        at += 1;
    }
};

/// Everything that is measured: the ops, and what stands beside them.
pub fn benches() -> impl Iterator<Item = &'static OpBench> {
    let ops = REGISTRY.iter().flat_map(|row| row.bench);
    ops.chain(bench::BESIDE)
}

/// The line of this name. Errors with the names that there are.
pub fn bench(name: &str) -> Result<&'static OpBench> {
    benches().find(|bench| bench.name == name).ok_or_else(|| {
        let names: Vec<_> = benches().map(|bench| bench.name).collect();
        Error::parameter(format!(
            "there is no op {name:?} to measure; there are: {}",
            names.join(", ")
        ))
    })
}

/// The shaders of all ops.
pub fn shaders() -> impl Iterator<Item = &'static Op> {
    REGISTRY.iter().flat_map(|row| row.shaders.iter().copied())
}

/// The menus of all ops that have a choice.
pub const MENUS: &[&dyn Contest] = &[
    &projection::MENU,
    &predict::MENU,
    &product::MENU,
    &gram::MENU,
    &walsh_hadamard::MENU,
];

/// Whether adapters of this kind take a variant until something was measured.
pub fn is_default(op: &Op, variant: &Variant, kind: AdapterKind) -> bool {
    match op.name {
        // A baseline.
        "projection_naive" => return false,
        // Where subgroups have one size: NVIDIA's, and those of software.
        "walsh_hadamard_subgroup" => {
            let size = variant.get("SIZE").unwrap_or_default();
            return match kind {
                AdapterKind::Discrete => size == 32,
                AdapterKind::Software => size <= 16,
                _ => false,
            };
        }
        // On NVIDIA's GPUs and AMD's fragments of 16, on Apple's of 8, where f16 are no vec4s.
        "projection_units" | "gram_units" => {
            let [side, size, quads] = ["F", "SIZE", "QUADS"].map(|name| variant.get(name));
            return match kind {
                AdapterKind::Discrete => (side, size) == (Some(16), Some(32)),
                AdapterKind::Integrated => (side, size, quads) == (Some(8), Some(32), Some(0)),
                _ => false,
            };
        }
        "walsh_hadamard" => {
            return walsh_hadamard::forms(Registers::default_of(kind)).contains(variant);
        }
        "structured" => {
            return structured::forms(Registers::default_of(kind)).contains(variant);
        }
        "structured_stage" => {
            return structured::stage_forms(Registers::default_of(kind)).contains(variant);
        }
        "gram" if variant.get("SQUARE") == Some(1) => return false,
        "kernel_block" => return kernel_block::is_default(variant, kind),
        _ => {}
    }
    let menu = MENUS.iter().find(|menu| menu.op() == op.name);
    let (Some(menu), Some(tile)) = (menu, Tile::from_variant(variant)) else {
        return true;
    };
    let mut classes = menu.classes().iter();
    classes.any(|&class| menu.default(kind, class) == tile.name)
}

/// What measurements chose on this adapter, in this process and earlier ones, by the names of op
/// and class.
pub fn chosen(gpu: &GpuDevice) -> Vec<(String, &'static str)> {
    let classes = MENUS.iter().flat_map(|menu| {
        let classes = menu.classes().iter();
        classes.map(move |&class| (menu, class))
    });
    let chosen = classes.filter_map(|(menu, class)| {
        let name = format!("{} {}", menu.op(), class.name());
        menu.chosen(gpu, class).map(|way| (name, way))
    });
    chosen.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::tuning;

    #[test]
    fn menus_have_their_own_names_and_defaults_that_they_hold() {
        let mut ops: Vec<_> = MENUS.iter().map(|menu| menu.op()).collect();
        ops.sort();
        ops.dedup();
        assert_eq!(ops.len(), MENUS.len());
        for menu in MENUS {
            let ways = menu.ways();
            assert!(ways.iter().all(|way| tuning::names().contains(way)));
            for &class in menu.classes() {
                for kind in [
                    AdapterKind::Discrete,
                    AdapterKind::Integrated,
                    AdapterKind::Virtual,
                    AdapterKind::Other,
                    AdapterKind::Software,
                ] {
                    let default = menu.default(kind, class);
                    assert!(ways.contains(&default), "{} {class:?}", menu.op());
                }
            }
        }
    }
}
