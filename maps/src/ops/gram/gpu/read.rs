//! Gram sums of a GPU on their way to the host.

use super::Sums;
use crate::ops::gram::{
    GramSums,
    packed::{places, unpack},
};
use crate::{
    Error, Result,
    device::gpu::{PooledBuffer, Readback},
};
use ndarray::Array2;
use std::ops::Range;

/// Bytes of tiles that are read back at a time.
const READ_BYTES: usize = 16 << 20;

/// A run of numbers to be read.
struct Part<'a> {
    /// Where they lie; `None` for the sums of the rows that wait, which are made when it is their
    /// turn.
    sums: Option<&'a PooledBuffer>,
    floats: Range<usize>,
    /// The tiles that they are of.
    tiles: Range<usize>,
}

/// The sums so far, of the rows that wait for the rest of their block, too. Nothing changes on the
/// device.
pub(super) async fn sums_later(of: &Sums) -> Result<GramSums> {
    let mut sums = GramSums {
        gram_dd: Array2::zeros((of.features, of.features)),
        zty_dt: Array2::zeros((of.features, of.targets)),
    };
    let side = of.form.side() as usize;
    let z_tiles = of.features.div_ceil(side);
    let places = places(z_tiles, of.y_tiles());
    let area = side * side;
    // In parts, so that little memory is enough at the end of a long fit.
    let at_once = READ_BYTES / (8 * area);
    let parts = of.panels.iter().flat_map(|(panel, buffer)| {
        let tiles = panel.tiles.clone().step_by(at_once);
        tiles.flat_map(move |tile0| {
            let tiles = tile0..panel.tiles.end.min(tile0 + at_once);
            let first = 2 * area * (tile0 - panel.tiles.start);
            let added = Part {
                sums: Some(buffer),
                floats: first..first + 2 * area * tiles.len(),
                tiles: tiles.clone(),
            };
            let waiting = (of.waiting.rows() > 0).then(|| Part {
                sums: None,
                floats: 0..area * tiles.len(),
                tiles,
            });
            [Some(added), waiting].into_iter().flatten()
        })
    });
    // While one part is added on the host, the next is on its way.
    let mut add = async |part: Option<(Readback, Vec<(usize, usize)>)>| {
        let Some((readback, places)) = part else {
            return Ok(());
        };
        let arrived = readback.arrive().await?;
        unpack(arrived.values(), side, &places, z_tiles, &mut sums);
        Ok(())
    };
    let mut behind = None;
    for part in parts {
        let next = match read(of, &part) {
            // One at a time, where there is no room for two.
            Err(Error::OutOfMemory { .. }) if behind.is_some() => {
                add(behind.take()).await?;
                read(of, &part)
            }
            next => next,
        };
        // High and low parts are added one after another in f64, where their sum is exact enough.
        let each = if part.sums.is_some() { 2 } else { 1 };
        let of_part = places[part.tiles].iter();
        let of_part = of_part.flat_map(|&place| std::iter::repeat_n(place, each));
        add(behind.replace((next?, of_part.collect()))).await?;
    }
    add(behind).await?;
    if let Some(beside) = &of.beside {
        (beside.read_later(&of.gpu, &of.waiting, &mut sums)).await?;
    }
    Ok(sums)
}

/// Sends a part on its way.
fn read(of: &Sums, part: &Part<'_>) -> Result<Readback> {
    let floats = part.floats.clone();
    if let Some(sums) = part.sums {
        return of.gpu.read_later(sums, floats);
    }
    let what = || "the sums of the last rows".into();
    let partial = of.gpu.buffer(4 * floats.len() as u64, what)?;
    of.sum_waiting(part.tiles.clone(), &partial)?;
    of.gpu.read_later(&partial, floats)
}
