//! Matrix units, which multiply f16 and sum in f32: what an adapter lists of them, and whether they
//! were seen to work.

use super::{GpuDevice, lock};
use crate::{Error, Result, instructions::UNITS_VARIABLE};
use std::{
    collections::HashMap,
    str::FromStr,
    sync::{
        Mutex,
        atomic::{AtomicU8, Ordering},
    },
};

/// What wgpu calls for shaders of matrix units.
pub(super) const FEATURES: wgpu::Features = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX
    .union(wgpu::Features::SHADER_F16)
    .union(wgpu::Features::SUBGROUP);

/// Sides of the fragments that there is a shader for, best first. Only square ones can be written
/// in WGSL.
const SIDES: [u32; 2] = [16, 8];

/// Workgroup memory of the shader for fragments of a side, in bytes: three matrices of f16 and a
/// strip for each subgroup.
pub(crate) const fn workgroup_bytes(side: u32) -> u32 {
    let (rows, apart, subgroups) = (8 * side, 40, side / 2);
    3 * 2 * rows * apart + 4 * subgroups * side * side
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

/// What matrix units of a GPU are used for. Their bits are others than those of sums in f32, so no
/// tuning chooses between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum MatrixUnits {
    /// Nothing: every product is of f32. What a device begins with: units make features up to
    /// twice as fast, but not the sums of a fit, which take most of its time.
    None,
    /// Projections of maps of more than 64 columns, where two products of f16 stand for one of f32.
    Projections,
    /// Gram sums, too, where three stand for one.
    All,
}

impl FromStr for MatrixUnits {
    type Err = Error;

    /// From `none`, `projections` or `all`.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "none" => Ok(Self::None),
            "projections" => Ok(Self::Projections),
            "all" => Ok(Self::All),
            _ => Err(Error::parameter(format!(
                "matrix units are for `none`, `projections` or `all`, not for {text:?}"
            ))),
        }
    }
}

/// What was found out about the units of an opened adapter.
pub(super) struct Units {
    /// What they are used for: a [`MatrixUnits`].
    used: AtomicU8,
    /// Of each way to use them the invocations of a subgroup, or why they are not used.
    tried: Mutex<HashMap<String, std::result::Result<u32, String>>>,
}

impl Units {
    /// As `BOCHNER_UNITS` says, else for nothing. Errors on other words.
    pub(super) fn usual() -> Result<Self> {
        let used = match std::env::var(UNITS_VARIABLE) {
            Ok(text) => text.parse()?,
            Err(_) => MatrixUnits::None,
        };
        Ok(Self {
            used: AtomicU8::new(used as u8),
            tried: Mutex::default(),
        })
    }
}

impl GpuDevice {
    /// What maps that are loaded and sums that begin from now on use matrix units for, where the
    /// adapter has some that work: nothing until something else is said, here or in the environment
    /// as `BOCHNER_UNITS`.
    ///
    /// ```
    /// use bochner::{Device, DeviceChoice, device::MatrixUnits};
    /// let (device, _) = Device::open(&DeviceChoice::Auto)?;
    /// if let Device::Gpu(gpu) = &device {
    ///     gpu.use_units(MatrixUnits::Projections);
    /// }
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn use_units(&self, what: MatrixUnits) {
        self.0.units.used.store(what as u8, Ordering::Relaxed);
    }

    /// Whether the adapter lists units and they may be used for this, or why not.
    pub(crate) fn allows_units(&self, what: MatrixUnits) -> std::result::Result<(), String> {
        let used = self.0.units.used.load(Ordering::Relaxed);
        self.report().units.as_ref().map_err(String::clone)?;
        match (used >= what as u8, self.is_software()) {
            (true, _) => Ok(()),
            (false, true) => Err("a software adapter has only the processor's".into()),
            (false, false) => Err("they are not to be used".into()),
        }
    }

    /// What `probe` finds for this way to use the units: it runs once.
    pub(crate) fn tried_units(
        &self,
        way: String,
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
        // WebGPU's least is enough for the smaller one, to the byte.
        assert_eq!(of_list(&both, all, 16_384), Ok(8));
        let message = why(&both, all, 16_383);
        assert!(message.contains("16383 bytes"), "{message}");
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
