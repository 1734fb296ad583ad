//! Menus of any ways, and how their ways are timed.

use super::{Class, Menu, Tuned, Way, race};
use crate::{
    Result,
    device::{GpuDevice, gpu::AdapterKind},
};

/// A menu of any ways, which are known by their names alone.
pub trait Contest: Sync {
    /// The op's name.
    fn op(&self) -> &'static str;

    /// The classes that occur.
    fn classes(&self) -> &'static [Class];

    /// The names of its ways.
    fn ways(&self) -> Vec<&'static str>;

    /// What is taken on such an adapter until something was measured.
    fn default(&self, kind: AdapterKind, class: Class) -> &'static str;

    /// What a measurement chose on this adapter, in this process or an earlier one.
    fn chosen(&self, gpu: &GpuDevice, class: Class) -> Option<&'static str>;

    /// Times the ways of a class on data of its own, some milliseconds each, and keeps the fastest
    /// in memory and in the cache. Errors when the device does, or has no memory left, and with
    /// [`Error::Unsupported`](crate::Error::Unsupported) where the adapter leaves no choice; the
    /// default then stays. Other threads may use the device meanwhile; they make the times longer,
    /// and the choice perhaps another.
    fn tune(&self, gpu: &GpuDevice, class: Class) -> Result<Tuned>;
}

impl<W: Way> Contest for Menu<W> {
    fn op(&self) -> &'static str {
        self.op
    }

    fn classes(&self) -> &'static [Class] {
        self.classes
    }

    fn ways(&self) -> Vec<&'static str> {
        self.ways.iter().map(W::name).collect()
    }

    fn default(&self, kind: AdapterKind, class: Class) -> &'static str {
        (self.default)(kind, class).name()
    }

    fn chosen(&self, gpu: &GpuDevice, class: Class) -> Option<&'static str> {
        let ways = self.ways.iter().map(W::name);
        let chosen = gpu.choices().get(self.op, class.name())?;
        ways.into_iter().find(|name| *name == chosen)
    }

    fn tune(&self, gpu: &GpuDevice, class: Class) -> Result<Tuned> {
        race::run(self, gpu, class)
    }
}
