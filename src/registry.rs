//! All ops, each with its shaders and its check. Tests walk [`REGISTRY`]: each shader is expanded,
//! parsed and validated for every variant without a GPU, and each check runs on every device, as it
//! does for `bochner bench --check`.

use crate::{
    Device, Result,
    bench::{baseline, ceiling},
    check::{self, Outcome},
    device::GpuDevice,
    form::Contest,
    ops::{
        Op, binning, few, gram, kernel_block, place, product, projection, structured,
        walsh_hadamard,
    },
};

/// An op in the registry: there is none without a check.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name.
    pub op: &'static str,
    /// Its shaders.
    pub shaders: &'static [&'static Op],
    /// Compares it with f64 on one device, with negative controls.
    pub check: fn(&Device) -> Result<Outcome>,
}

/// All ops.
pub const REGISTRY: &[Row] = &[
    Row {
        op: "projection",
        shaders: &[&projection::OP],
        check: check::projection::run,
    },
    Row {
        op: "gram",
        shaders: &[&gram::OP],
        check: check::gram::run,
    },
    Row {
        op: "predict",
        shaders: &[&projection::predict::OP],
        check: check::predict::run,
    },
    Row {
        op: "product",
        shaders: &[&product::OP],
        check: check::product::run,
    },
    Row {
        op: "few",
        shaders: &[&few::OP, &few::SUM_OP],
        check: check::few::run,
    },
    Row {
        op: "walsh-hadamard",
        shaders: &[&walsh_hadamard::OP, &walsh_hadamard::SUBGROUP_OP],
        check: check::walsh_hadamard::run,
    },
    Row {
        op: "structured",
        shaders: &[&structured::OP, &structured::STAGE_OP],
        check: check::structured::run,
    },
    Row {
        op: "kernel-block",
        shaders: &[&kernel_block::OP],
        check: check::kernel_block::run,
    },
    Row {
        op: "binning",
        shaders: &[&binning::OP],
        check: check::binning::run,
    },
    Row {
        op: "place",
        shaders: &[&place::OP],
        check: check::place::run,
    },
    // tests/tiles.rs holds the naive projection, which benchmarks alone use.
    Row {
        op: "ceiling",
        shaders: &[&ceiling::COPY, &ceiling::FMA, &baseline::NAIVE],
        check: check::ceiling::run,
    },
];

/// The shaders of all ops.
pub fn shaders() -> impl Iterator<Item = &'static Op> {
    REGISTRY.iter().flat_map(|row| row.shaders.iter().copied())
}

/// The menus of all ops that have a choice.
pub const MENUS: &[&dyn Contest] = &[
    &projection::MENU,
    &projection::predict::MENU,
    &product::MENU,
    &gram::MENU,
    &walsh_hadamard::MENU,
];

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
    use crate::{device::gpu::AdapterKind, form::tuning};

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
