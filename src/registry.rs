//! All ops that have a shader. Tests walk [`REGISTRY`]: each shader is expanded, parsed and
//! validated for every variant without a GPU.

use crate::{
    bench::{baseline, ceiling},
    device::GpuDevice,
    form::Contest,
    ops::{
        Op, binning, few, gram, kernel_block, place, product, projection, structured,
        walsh_hadamard,
    },
};

/// All ops that have a shader.
pub const REGISTRY: &[&Op] = &[
    &projection::OP,
    &gram::OP,
    &projection::predict::OP,
    &product::OP,
    &few::OP,
    &few::SUM_OP,
    &kernel_block::OP,
    &walsh_hadamard::OP,
    &walsh_hadamard::SUBGROUP_OP,
    &structured::OP,
    &structured::STAGE_OP,
    &binning::OP,
    &place::OP,
    &baseline::NAIVE,
    &ceiling::COPY,
    &ceiling::FMA,
];

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
