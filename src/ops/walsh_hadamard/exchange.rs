//! How invocations that share a row exchange its values: through workgroup memory, which every
//! adapter has, or by shuffles within a subgroup, where adapters have subgroups of one size. Both
//! do the same additions in the same order.

use super::{Op, Params};
use crate::{
    Error, Result,
    device::{GpuDevice, gpu::shader::Constants},
    ops::Binding,
};
use std::{fmt, ops::RangeInclusive};

/// The op for the registry: rows by shuffles.
pub static SUBGROUP_OP: Op = Op {
    name: "walsh_hadamard_subgroup",
    source: include_str!("../../../shaders/walsh_hadamard_subgroup.wgsl"),
    params_bytes: size_of::<Params>(),
    bindings: &[Binding::Read("x"), Binding::Write("y")],
    variants: || {
        let sizes = [4, 8, 16, 32, 64];
        let lengths = sizes.into_iter().flat_map(|s| LENGTHS.map(move |k| (s, k)));
        lengths
            .flat_map(|(s, k)| [false, true].map(|p| subgroup_variant(s, k, p)))
            .collect()
    },
};

/// Logarithms of the lengths for which there is a choice: shorter rows are too few values to share,
/// longer ones too many registers.
const LENGTHS: RangeInclusive<u32> = 6..=10;
/// Invocations of a workgroup, as in the shader: a multiple of every size of subgroups.
const INVOCATIONS: u32 = 128;

/// How invocations that share a row exchange its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// Through workgroup memory, on every adapter.
    WorkgroupMemory,
    /// By shuffles within a subgroup, on adapters whose subgroups all have one size.
    SubgroupShuffles,
}

impl Exchange {
    /// All of them, the default first.
    pub const ALL: &[Self] = &[Self::WorkgroupMemory, Self::SubgroupShuffles];

    /// Its name in benchmark tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::WorkgroupMemory => "workgroup-memory",
            Self::SubgroupShuffles => "subgroup-shuffles",
        }
    }

    /// Errors with [`Error::Unsupported`] where the adapter cannot.
    pub fn check(self, gpu: &GpuDevice) -> Result<()> {
        if self == Self::WorkgroupMemory || gpu.subgroup().is_some() {
            return Ok(());
        }
        let (least, most) = gpu.report().subgroup;
        Err(Error::unsupported(format!(
            "{} has no subgroups of one size to shuffle in (its driver says {least} to {most})",
            gpu.describe()
        )))
    }

    /// Whether there is a choice for rows of `n` elements.
    pub fn serves(n: usize) -> bool {
        n.is_power_of_two() && LENGTHS.contains(&n.trailing_zeros())
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Rows of 2^log_n elements within subgroups of `size`.
pub(super) fn subgroup_variant(size: u32, log_n: u32, in_place: bool) -> (String, Constants) {
    let quads = 1 << (log_n - 2);
    let sharing = size.min(quads);
    let pairs = [
        ("SIZE", size),
        ("T", sharing),
        ("LOG_T", sharing.trailing_zeros()),
        ("E", quads / sharing),
        ("ROWS", INVOCATIONS / sharing),
        ("IN_PLACE", in_place.into()),
    ];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), i64::from(value)));
    let way = if in_place { "in-place" } else { "copy" };
    (
        format!("{size}/2^{log_n}/{way}"),
        pairs.into_iter().collect(),
    )
}
