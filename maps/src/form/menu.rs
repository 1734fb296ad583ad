//! What an op may choose from on an adapter, and what it takes there.

use crate::{
    Result,
    device::{GpuDevice, gpu::AdapterKind},
};
use std::fmt;

/// One way among those that give the same results: known by its name, to people and on disk.
pub trait Way: Copy + PartialEq + fmt::Debug + Sync + 'static {
    /// Its name in benchmark tables.
    fn name(&self) -> &'static str;

    /// Errors with [`Error::Unsupported`](crate::Error::Unsupported) where the adapter cannot.
    fn check(&self, _gpu: &GpuDevice) -> Result<()> {
        Ok(())
    }
}

/// An output of `rows` x `cols`, each entry a sum of `depth` terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows of the output.
    pub rows: usize,
    /// Terms of a sum.
    pub depth: usize,
    /// Columns that workgroups share: one where a workgroup walks over all of them.
    pub cols: usize,
}

/// Work for which one way is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    /// Whether sums are long, see [`Menu::deep`].
    pub deep: bool,
    /// Whether tiles of 64 x 64 are so many that larger ones still fill every adapter.
    pub large: bool,
}

impl Class {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::new(false, false),
        Self::new(false, true),
        Self::new(true, false),
        Self::new(true, true),
    ];
    /// Those of an op whose sums are always long.
    pub(crate) const DEEP: &[Self] = &[Self::new(true, false), Self::new(true, true)];

    const fn new(deep: bool, large: bool) -> Self {
        Self { deep, large }
    }

    /// Its name, to people and on disk.
    pub fn name(self) -> &'static str {
        match (self.deep, self.large) {
            (false, false) => "shallow small",
            (false, true) => "shallow large",
            (true, false) => "deep small",
            (true, true) => "deep large",
        }
    }
}

/// The ways of one op, and what tells which of them it takes.
pub struct Menu<W: 'static> {
    /// The op's name, to people and on disk.
    pub op: &'static str,
    /// What there is to choose from, on one adapter or another; the first is on every one.
    pub ways: &'static [W],
    /// Sums of more terms than this are long.
    pub deep: usize,
    /// The classes that occur.
    pub classes: &'static [Class],
    /// What is taken until something was measured, where the adapter can; else the first way is.
    pub default: fn(AdapterKind, Class) -> W,
    /// Data of a shape that stands for a class, on a device, on which the ways are timed.
    pub race: Open<W>,
}

/// Data of a class on a device, on which the ways of a menu are timed.
pub trait Race<W> {
    /// What does the work once in this way: what it needs is loaded before it is timed.
    fn runner(&mut self, way: W) -> Result<Box<dyn FnMut() -> Result<()> + '_>>;

    /// Whether a way may be taken here. It has run before.
    fn is_sound(&mut self, _way: W) -> Result<bool> {
        Ok(true)
    }
}

/// Draws the data of a race.
pub type Open<W> = fn(&GpuDevice, Class) -> Result<Box<dyn Race<W>>>;

impl<W: Way> Menu<W> {
    /// The class of a shape.
    pub(crate) fn class(&self, shape: Shape) -> Class {
        Class {
            deep: shape.depth > self.deep,
            large: shape.rows.div_ceil(64) * shape.cols.div_ceil(64) >= 512,
        }
    }

    /// The way for a shape: the one that was forced, the one measured to be best, or the default.
    pub fn choice(&self, gpu: &GpuDevice, shape: Shape) -> W {
        let class = self.class(shape);
        let named = |name: &str| {
            let mut ways = self.ways.iter().copied();
            ways.find(|way| way.name() == name && way.check(gpu).is_ok())
        };
        let known = gpu.choices().find(self.op, class.name(), named);
        known.unwrap_or_else(|| {
            let default = (self.default)(gpu.report().tiles_of(), class);
            match default.check(gpu) {
                Ok(()) => default,
                Err(_) => self.ways[0],
            }
        })
    }
}
