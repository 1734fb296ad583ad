//! Which way of a menu an op takes on an adapter: a default by the kind of adapter, or the fastest
//! that was measured there.
//!
//! All ways of a menu sum in one order, so tuning changes no result by more than a driver's own
//! freedom in the last places. It happens when asked for ([`Contest::tune`], `bochner bench
//! --tune`), never in the middle of a call. The winner is kept for the adapter, its driver and this
//! version, see the README on `BOCHNER_CACHE`.
//!
//! [`Contest::tune`]: super::Contest::tune

use super::{Exchange, Registers, Way, few, tile};
use crate::{Error, Result, device::GpuDevice};

/// Makes every op on this device take the way of this name (or [`few::NAME`]) wherever its menu has
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
    names.extend([tile::DIRECT_64.name, few::NAME]);
    names.extend(Exchange::ALL.iter().map(Way::name));
    names.extend(Registers::ALL.iter().map(Way::name));
    names
}
