//! How invocations that share a row exchange its values: through workgroup memory, which every
//! adapter has, or by shuffles within a subgroup, where adapters have subgroups of one size. The
//! second is the default there. Both do the same additions in the same order.

use super::Way;
use crate::{Error, Result, device::GpuDevice};
use std::fmt;

/// How invocations that share a row exchange its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// Through workgroup memory, on every adapter.
    WorkgroupMemory,
    /// By shuffles within a subgroup, on adapters whose subgroups all have one size.
    SubgroupShuffles,
}

impl Exchange {
    /// All of them, the one of every adapter first.
    pub const ALL: &[Self] = &[Self::WorkgroupMemory, Self::SubgroupShuffles];
}

impl Way for Exchange {
    fn name(&self) -> &'static str {
        match self {
            Self::WorkgroupMemory => "workgroup-memory",
            Self::SubgroupShuffles => "subgroup-shuffles",
        }
    }

    fn check(&self, gpu: &GpuDevice) -> Result<()> {
        if *self == Self::WorkgroupMemory || gpu.subgroup().is_some() {
            return Ok(());
        }
        let (least, most) = gpu.report().subgroup;
        Err(Error::unsupported(format!(
            "{} has no subgroups of one size to shuffle in (its driver says {least} to {most})",
            gpu.describe()
        )))
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
