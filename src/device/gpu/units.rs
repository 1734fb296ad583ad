//! Matrix units, which multiply f16 and sum in f32: what an adapter lists of them, and whether they
//! were seen to work.

use super::{GpuDevice, lock};
use crate::Result;
use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

/// What wgpu calls for shaders of matrix units.
pub(super) const FEATURES: wgpu::Features = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX
    .union(wgpu::Features::SHADER_F16)
    .union(wgpu::Features::SUBGROUP);

/// Sides of the fragments that there is a shader for, best first. Only square ones can be written
/// in WGSL.
const SIDES: [u32; 2] = [16, 8];

/// Workgroup memory of the shader for fragments of a side, in bytes: three matrices of f16, a strip
/// for each subgroup, and two numbers.
pub(crate) const fn workgroup_bytes(side: u32) -> u32 {
    let (rows, apart, subgroups) = (8 * side, 40, side / 2);
    3 * 2 * rows * apart + 4 * subgroups * side * side + 8
}

/// The side of the fragments that shaders can take on this adapter, or why there is none.
pub(super) fn side(
    adapter: &wgpu::Adapter,
    limits: &wgpu::Limits,
) -> std::result::Result<u32, String> {
    of_list(
        &adapter.cooperative_matrix_properties(),
        adapter.features(),
        limits.max_compute_workgroup_storage_size,
    )
}

fn of_list(
    listed: &[wgpu::CooperativeMatrixProperties],
    features: wgpu::Features,
    workgroup: u32,
) -> std::result::Result<u32, String> {
    use wgpu::CooperativeScalarType::{F16, F32};
    if listed.is_empty() {
        return Err("the driver lists none".into());
    }
    if !features.contains(FEATURES) {
        let lacks = FEATURES.difference(features).iter_names();
        let lacks: Vec<_> = lacks.map(|(name, _)| name).collect();
        return Err(format!("the driver lacks {}", lacks.join(" and ")));
    }
    let is_side = |side: u32| {
        move |p: &&wgpu::CooperativeMatrixProperties| {
            [p.m_size, p.n_size, p.k_size] == [side; 3] && (p.ab_type, p.cr_type) == (F16, F32)
        }
    };
    let sides = SIDES
        .iter()
        .filter(|&&side| listed.iter().any(|p| is_side(side)(&p)));
    let mut sides = sides.copied().peekable();
    let Some(&best) = sides.peek() else {
        let shape = |p: &wgpu::CooperativeMatrixProperties| {
            let types = format!("{:?} to {:?}", p.ab_type, p.cr_type).to_lowercase();
            format!("{} x {} x {} of {types}", p.m_size, p.n_size, p.k_size)
        };
        let shapes: Vec<_> = listed.iter().map(shape).collect();
        return Err(format!(
            "none of f16 to f32 with sides of 16 or 8, but {}",
            shapes.join(", ")
        ));
    };
    sides
        .find(|&side| workgroup_bytes(side) <= workgroup)
        .ok_or_else(|| {
            let needed = workgroup_bytes(best);
            format!("workgroup memory is {workgroup} bytes, they need {needed}")
        })
}

/// What was found out about the units of an opened adapter.
#[derive(Default)]
pub(super) struct Units {
    /// Whether nobody may use them.
    forbidden: AtomicBool,
    /// Of each way to use them the invocations of a subgroup, or why they are not used.
    tried: Mutex<HashMap<i64, std::result::Result<u32, String>>>,
}

impl GpuDevice {
    /// Has maps that are loaded from now on computed in f32 throughout, and none on matrix units.
    pub fn forbid_units(&self) {
        self.0.units.forbidden.store(true, Ordering::Relaxed);
    }

    /// Whether maps go to the units by themselves. Those of a software adapter are loops as any
    /// others there.
    pub(crate) fn takes_units(&self) -> bool {
        let forbidden = self.0.units.forbidden.load(Ordering::Relaxed);
        self.report().units.is_ok() && !self.is_software() && !forbidden
    }

    /// What `probe` finds for this way to use the units: it runs once.
    pub(crate) fn tried_units(
        &self,
        way: i64,
        probe: impl FnOnce() -> Result<std::result::Result<u32, String>>,
    ) -> Result<std::result::Result<u32, String>> {
        let known = lock(&self.0.units.tried).get(&way).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        // Two threads may both try: they find the same.
        let found = probe()?;
        lock(&self.0.units.tried).insert(way, found.clone());
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::CooperativeScalarType::{F16, F32};

    fn shape(m: u32, n: u32, k: u32) -> wgpu::CooperativeMatrixProperties {
        wgpu::CooperativeMatrixProperties {
            m_size: m,
            n_size: n,
            k_size: k,
            ab_type: F16,
            cr_type: F32,
            saturating_accumulation: false,
        }
    }

    #[test]
    fn the_largest_square_that_fits_is_taken_and_the_rest_says_why_not() {
        let all = wgpu::Features::all();
        let both = [shape(8, 8, 8), shape(16, 8, 16), shape(16, 16, 16)];
        assert_eq!(of_list(&both, all, 65_536), Ok(16));
        assert_eq!(of_list(&both, all, 32_768), Ok(8));
        assert_eq!(of_list(&both[..1], all, 65_536), Ok(8));
        let why = |listed: &[_], features, workgroup| {
            of_list(listed, features, workgroup).expect_err("refused")
        };
        assert_eq!(why(&[], all, 65_536), "the driver lists none");
        let message = why(&both[1..2], all, 65_536);
        assert!(message.contains("16 x 8 x 16 of f16 to f32"), "{message}");
        let message = why(&both, all, 16_384);
        assert!(message.contains("16384 bytes"), "{message}");
        let message = why(&both, all.difference(wgpu::Features::SHADER_F16), 65_536);
        assert_eq!(message, "the driver lacks SHADER_F16");
        // f16 sums are none.
        let sums_of_f16 = wgpu::CooperativeMatrixProperties {
            cr_type: F16,
            ..shape(16, 16, 16)
        };
        assert!(of_list(&[sums_of_f16], all, 65_536).is_err());
    }
}
