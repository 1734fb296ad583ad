//! How much of a row an invocation of a transform holds.

use super::Way;
use crate::device::{GpuDevice, gpu::AdapterKind};

/// How much of a row an invocation holds. Sums are the same, and but for SORF's of 2048 to 8192
/// columns in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registers {
    /// At most 32 floats, which stay in the registers of every GPU.
    Few,
    /// Up to 128, with fewer exchanges: for CPUs, which keep them in a cache.
    Many,
}

impl Registers {
    /// Both of them.
    pub const ALL: &[Self] = &[Self::Few, Self::Many];

    /// What suits a kind of adapters.
    pub fn default_of(kind: AdapterKind) -> Self {
        match kind {
            AdapterKind::Software => Self::Many,
            _ => Self::Few,
        }
    }

    /// What an adapter takes: what was forced, or what suits its kind.
    pub(crate) fn for_adapter(gpu: &GpuDevice) -> Self {
        let named = |name: &str| Self::ALL.iter().copied().find(|way| way.name() == name);
        let forced = gpu.choices().forced().and_then(|name| named(&name));
        forced.unwrap_or_else(|| Self::default_of(gpu.report().kind))
    }
}

impl Way for Registers {
    fn name(&self) -> &'static str {
        match self {
            Self::Few => "few-registers",
            Self::Many => "many-registers",
        }
    }
}
