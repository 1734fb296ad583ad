//! Which tile shape a dense op takes on an adapter, and how a transform exchanges a row: a default
//! by the kind of adapter, or the fastest that was measured there.
//!
//! All choices of a menu sum in one order, so tuning changes no result by more than a driver's own
//! freedom in the last places. It happens by itself once 10^13 operations of a class were done in a
//! process (what was done is then worth the time), on adapters that are no software and unless
//! `BOCHNER_TUNE` is `off`; or when asked for ([`tune`], `bochner bench --tune`). The winner is
//! kept for the adapter, its driver and this version, see the README on `BOCHNER_CACHE`.

pub use super::{
    choice::Choice,
    trial::{Tuned, tune},
};

use super::{
    few,
    tile::{self, Form, Tile},
};
use crate::{
    Error, Result,
    device::{GpuDevice, gpu::AdapterKind},
    ops::walsh_hadamard::Exchange,
};
use std::{fmt, sync::LazyLock};

/// The ops that have a menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TunedOp {
    /// Feature maps, whatever their nonlinearity.
    Projection,
    /// Fused predictions.
    Predict,
    /// Products of many columns.
    Product,
    /// Gram sums.
    Gram,
    /// Walsh-Hadamard transforms of rows that have a choice.
    Transform,
}

/// Work for which one choice is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    /// The op.
    pub op: TunedOp,
    /// Whether more than 64 products make a sum; of transforms, more than 256 elements.
    pub deep: bool,
    /// Whether tiles of 64 x 64 are so many that larger ones still fill every adapter.
    pub large: bool,
}

impl Class {
    /// All of them. Gram sums are always deep.
    pub const ALL: [Self; 18] = {
        use TunedOp::{Gram, Predict, Product, Projection, Transform};
        [
            class(Projection, false, false),
            class(Projection, false, true),
            class(Projection, true, false),
            class(Projection, true, true),
            class(Predict, false, false),
            class(Predict, false, true),
            class(Predict, true, false),
            class(Predict, true, true),
            class(Product, false, false),
            class(Product, false, true),
            class(Product, true, false),
            class(Product, true, true),
            class(Gram, true, false),
            class(Gram, true, true),
            class(Transform, false, false),
            class(Transform, false, true),
            class(Transform, true, false),
            class(Transform, true, true),
        ]
    };

    /// The class of an output of `rows` x `cols` sums over `depth` (of predictions: one column of
    /// tiles).
    pub fn of(op: TunedOp, rows: usize, depth: usize, cols: usize) -> Self {
        let cols = match op {
            TunedOp::Predict => 1,
            _ => cols.div_ceil(64),
        };
        let deep = match op {
            TunedOp::Gram => true,
            TunedOp::Transform => depth > 256,
            _ => depth > 64,
        };
        class(op, deep, rows.div_ceil(64) * cols >= 512)
    }

    /// What there is to choose from, on one adapter or another.
    pub fn menu(&self) -> impl Iterator<Item = Choice> + use<> {
        let (tiles, exchanges): (&[Tile], &[Exchange]) = match self.op {
            TunedOp::Projection | TunedOp::Product => (tile::MENU, &[]),
            TunedOp::Predict => (tile::PREDICT_MENU, &[]),
            TunedOp::Gram => (tile::SQUARE_MENU, &[]),
            TunedOp::Transform => (&[], Exchange::ALL),
        };
        let tiles = tiles.iter().copied().map(Choice::Tile);
        tiles.chain(exchanges.iter().copied().map(Choice::Exchange))
    }

    /// The choice until something was measured.
    pub fn default_choice(&self, kind: AdapterKind) -> Choice {
        match self.op {
            TunedOp::Transform => Choice::Exchange(Exchange::WorkgroupMemory),
            _ => Choice::Tile(self.default_tile(kind)),
        }
    }

    /// The shape until something was measured. No default was measured on a real GPU: 128 x 128
    /// loads least where there is enough work for it, 32 sums an invocation suit GPUs with few
    /// registers (64 spill on Apple's), and without workgroup memory of their own software adapters
    /// are faster straight from the buffers.
    fn default_tile(&self, kind: AdapterKind) -> Tile {
        match (kind, self.op) {
            (AdapterKind::Software, TunedOp::Gram) => tile::DIRECT_64,
            (AdapterKind::Software, _) => tile::DIRECT_8X64,
            (AdapterKind::Integrated, _) if self.large => tile::SHARED_64_HALF,
            (AdapterKind::Integrated, _) => tile::SHARED_32,
            (_, TunedOp::Predict) => tile::SHARED_64,
            _ if self.large && self.deep => tile::SHARED_128,
            _ => tile::SHARED_64,
        }
    }
}

const fn class(op: TunedOp, deep: bool, large: bool) -> Class {
    Class { op, deep, large }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let op = match self.op {
            TunedOp::Projection => "projection",
            TunedOp::Predict => "predict",
            TunedOp::Product => "product",
            TunedOp::Gram => "gram",
            TunedOp::Transform => "transform",
        };
        let deep = if self.deep { "deep" } else { "shallow" };
        let large = if self.large { "large" } else { "small" };
        write!(f, "{op} {deep} {large}")
    }
}

/// Operations of a class in one process after which its choices are measured.
const ENOUGH: f64 = 1e13;

/// The choice for a class: the one that was forced, the one measured to be best, or the default.
fn choice(gpu: &GpuDevice, class: Class) -> Choice {
    let named = |name: String| {
        let mut menu = class.menu().filter(|choice| choice.check(gpu).is_ok());
        menu.find(|choice| choice.name() == name)
    };
    let choices = gpu.choices();
    let chosen = choices.forced().and_then(named);
    chosen
        .or_else(|| choices.get(&class.to_string()).and_then(named))
        .unwrap_or_else(|| class.default_choice(gpu.report().kind))
}

/// The tile for a class of a dense op.
pub(crate) fn tile(gpu: &GpuDevice, class: Class) -> Tile {
    match choice(gpu, class) {
        Choice::Tile(tile) => tile,
        Choice::Exchange(_) => unreachable!("{class} has tiles"),
    }
}

/// How transforms of a class exchange their rows.
pub(crate) fn exchange(gpu: &GpuDevice, class: Class) -> Exchange {
    match choice(gpu, class) {
        Choice::Exchange(exchange) => exchange,
        Choice::Tile(_) => unreachable!("{class} has no tiles"),
    }
}

/// The form for few rows, unless a tile was forced; with that form forced, also where it would not
/// be taken.
pub(crate) fn few(gpu: &GpuDevice, rows: usize, cols: usize, depth: usize) -> Option<Form> {
    let kind = gpu.report().kind;
    let forced = gpu.choices().forced();
    let dense = |name: &&str| Exchange::ALL.iter().all(|e| e.name() != *name);
    match forced.as_deref().filter(dense) {
        None => few::form(kind, rows, cols, depth),
        Some(FEW) if rows <= few::MOST_ROWS => Some(Form::Few {
            splits: few::splits(kind, rows, cols, depth),
        }),
        Some(_) => None,
    }
}

/// The name that [`force`] knows the form for few rows by.
pub const FEW: &str = "few-rows";

/// Makes every op on this device take the choice of this name (or [`FEW`]) wherever its menu has
/// it, or again what suits it best: for benchmarks. Gram sums that have begun keep theirs. Errors
/// with the names that there are.
pub fn force(gpu: &GpuDevice, name: Option<&str>) -> Result<()> {
    let names = names();
    if let Some(name) = name
        && !names.contains(&name)
    {
        return Err(Error::parameter(format!(
            "there is no tile {name:?}; there are: {}",
            names.join(", ")
        )));
    }
    gpu.choices().force(name.map(str::to_owned));
    Ok(())
}

/// The names of all forms.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = tile::MENU.iter().map(|tile| tile.name).collect();
    names.extend([tile::DIRECT_64.name, FEW]);
    names.extend(Exchange::ALL.iter().map(|exchange| exchange.name()));
    names
}

/// What measurements chose on this adapter, by class: of this process and of earlier ones.
pub fn chosen(gpu: &GpuDevice) -> Vec<(Class, Choice)> {
    let all = gpu.choices().all();
    let choice = |class: &Class| {
        let name = all.get(&class.to_string())?;
        let choice = class.menu().find(|choice| choice.name() == name)?;
        Some((*class, choice))
    };
    Class::ALL.iter().filter_map(choice).collect()
}

/// Counts the work of a class that is about to be done, and measures its choices once that is worth
/// it. Errors when the device does; a measurement that cannot be taken leaves the default.
pub(crate) fn worked(gpu: &GpuDevice, class: Class, operations: f64) -> Result<()> {
    // Not in the middle of a measurement: timestamps are taken by one at a time.
    if gpu.is_software() || operations == 0.0 || !*ALLOWED || gpu.is_timing() {
        return Ok(());
    }
    let key = class.to_string();
    let choices = gpu.choices();
    if !choices.worked(&key, operations, ENOUGH) || choices.get(&key).is_some() {
        return Ok(());
    }
    match tune(gpu, class) {
        Ok(times) => log::info!("{class} on {}: {}", gpu.describe(), times.winner),
        Err(error @ (Error::OutOfMemory { .. } | Error::Unsupported(_))) => {
            log::info!("{class} on {} is not tuned: {error}", gpu.describe());
        }
        // A fault of the device, perhaps of work that was recorded before.
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Whether tuning may happen by itself: unless `BOCHNER_TUNE` is `off`.
static ALLOWED: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("BOCHNER_TUNE").is_none_or(|v| v != "off"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_their_own_names_menus_and_defaults() {
        let mut names: Vec<_> = Class::ALL.iter().map(Class::to_string).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), Class::ALL.len());
        for class in Class::ALL {
            for kind in [
                AdapterKind::Discrete,
                AdapterKind::Integrated,
                AdapterKind::Virtual,
                AdapterKind::Other,
                AdapterKind::Software,
            ] {
                let default = class.default_choice(kind);
                assert!(class.menu().any(|choice| choice == default), "{class}");
            }
            let [rows, depth, cols] = class.shape(AdapterKind::Discrete);
            assert_eq!(Class::of(class.op, rows, depth, cols), class);
        }
    }
}
