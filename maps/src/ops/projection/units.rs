//! The dense map on matrix units: products of f16 whose sums err no more than f32's.
//!
//! A form of its own and never one of a menu: its bits are others than those of tiles. It is taken
//! where the adapter lists the units and they agree with f64 when they are tried
//! ([`probe`]), for frequencies that f16 holds, and not for shallow maps, whose products are the
//! least of their work.

mod arithmetic;
pub(super) mod check;
mod gpu;
mod probe;

pub(super) use gpu::Units;
pub(crate) use gpu::{OP, SCALES_OP};

use super::DenseMap;
use crate::{
    Result,
    device::{GpuDevice, MatrixUnits},
    ops::{
        Nonlinearity,
        units::{Fragments, NOT_REACHED, REACHED},
    },
};
use arithmetic::HalfColumns;
use probe::probe;

/// Uploads what units take of a map, after they were tried; `Err` says why they are not used.
pub(super) fn upload(
    gpu: &GpuDevice,
    map: &DenseMap,
) -> Result<std::result::Result<Units, String>> {
    if !REACHED {
        return Ok(Err(NOT_REACHED.into()));
    }
    if let Nonlinearity::Custom(_) = map.nonlinearity {
        return Ok(Err("a nonlinearity of one's own is computed in f32".into()));
    }
    let Some(half) = HalfColumns::from_frequencies(map.w_ds.view()) else {
        return Ok(Err("f16 does not hold the frequencies".into()));
    };
    let whole = gpu::is_whole(&map.nonlinearity, map.freqs());
    match tried(gpu, &map.nonlinearity, whole)? {
        Ok(fragments) => Units::upload(gpu, fragments, &half).map(Ok),
        Err(why) => Ok(Err(why)),
    }
}

/// Whether maps go to the matrix units of a GPU: the side of the fragments that are multiplied, or
/// why they do not. Where the adapter lists such units they are tried, against f64. Errors when the
/// device is lost or full.
pub fn verdict(gpu: &GpuDevice) -> Result<std::result::Result<u32, String>> {
    if let Err(why) = gpu.allows_units(MatrixUnits::Projections) {
        return Ok(Err(why));
    }
    let fragments = tried(gpu, &Nonlinearity::CosSin, true)?;
    Ok(fragments.map(|fragments| fragments.side))
}

/// The fragments with which features of this nonlinearity are right on this adapter.
fn tried(
    gpu: &GpuDevice,
    f: &Nonlinearity,
    whole: bool,
) -> Result<std::result::Result<Fragments, String>> {
    let all = match Fragments::for_adapter(gpu) {
        Ok(all) => all,
        Err(why) => return Ok(Err(why)),
    };
    // What a driver compiles of one variant says nothing of another.
    let way = gpu::variant(all[0], f, whole).to_string();
    let size = gpu.tried_units(way, || probe(gpu, &all, f, whole))?;
    Ok(size.map(|size| Fragments { size, ..all[0] }))
}
