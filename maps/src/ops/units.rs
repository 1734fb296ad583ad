//! Matrix units of GPUs, which multiply fragments of f16 and sum in f32: how subgroups take them,
//! and their arithmetic, one number after another. What is computed with them is in
//! projection/units.rs and gram/units.rs.

pub(super) mod arithmetic;

use super::Variant;
use crate::{Error, device::GpuDevice};

/// Whether there may be units at all. A browser reaches none; what is for them alone is behind this
/// constant, so that pages do not load it.
pub(super) const REACHED: bool = !cfg!(target_arch = "wasm32");
/// What is said where they are not.
pub(super) const NOT_REACHED: &str = "a browser reaches none";

/// Sizes of subgroups that adapters were seen to have.
const SIZES: &[u32] = &[4, 8, 16, 32, 64];

/// How a subgroup multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fragments {
    /// Rows, columns and depths of a fragment.
    pub(super) side: u32,
    /// Whether f16 lie in workgroup memory as vec4s.
    pub(super) quads: bool,
    /// Invocations of a subgroup.
    pub(super) size: u32,
}

impl Fragments {
    /// All that there are shaders for.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        [8, 16].into_iter().flat_map(|side| {
            // Metal has fragments of 8 alone, and reads no vec4s of f16 as such.
            let quads: &[bool] = if side == 8 { &[true, false] } else { &[true] };
            let sizes = SIZES.iter().filter(move |&&size| side == 8 || size >= 16);
            sizes.flat_map(move |&size| {
                let all = quads.iter();
                all.map(move |&quads| Self { side, quads, size })
            })
        })
    }

    /// All that an adapter may take, in the order in which they are tried: with the size of
    /// subgroups that it names, or with each between the least and the most. Or why there is none.
    pub(super) fn for_adapter(gpu: &GpuDevice) -> Result<Vec<Self>, String> {
        let report = gpu.report();
        let side = report.units.clone()?;
        let (least, most) = report.subgroup;
        let sizes = SIZES.iter().filter(|size| (least..=most).contains(size));
        let all = sizes.map(|&size| Self {
            side,
            quads: report.backend == "Vulkan",
            size,
        });
        let fits = |f: &Self| f.invocations() <= report.workgroup_invocations;
        let all: Vec<_> = all.filter(fits).collect();
        if all.is_empty() {
            Err(format!(
                "there is no shader for subgroups of {least} to {most}"
            ))
        } else {
            Ok(all)
        }
    }

    /// Each way to have f16 in workgroup memory.
    pub(super) fn ways(self) -> impl Iterator<Item = Self> {
        let all = [true, false].map(|quads| Self { quads, ..self });
        all.into_iter()
            .filter(move |f| self.quads || !f.quads)
            .filter(|f| f.side == 8 || f.quads)
    }

    /// Rows and columns of a workgroup's tile.
    pub(super) const fn tile(self) -> u32 {
        8 * self.side
    }

    /// Those of a workgroup.
    pub(super) const fn invocations(self) -> u32 {
        self.side / 2 * self.size
    }

    /// What a shader is told of them.
    pub(super) fn variant(self) -> Variant {
        Variant::new([
            ("F", self.side.into()),
            ("SIZE", self.size.into()),
            ("QUADS", self.quads.into()),
        ])
    }
}

/// The error of a caller who asks for units where they are not used.
pub(super) fn refused(gpu: &GpuDevice, why: &str) -> Error {
    Error::unsupported(format!(
        "{} has no matrix units to use: {why}",
        gpu.describe()
    ))
}
