//! How the tiles of Gram sums are cut into dispatches, so that none leaves a large GPU idle.

use super::tiles::Form;
use crate::{
    device::{
        GpuDevice,
        gpu::{AdapterKind, even},
    },
    form::few,
};
use std::ops::Range;

/// Workgroups of a split panel, in waves: enough that the last wave matters little, few enough that
/// their sums take little memory.
const WAVES: usize = 4;

/// How the tiles of a Gram matrix are cut into panels, each one buffer and one dispatch at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panels {
    /// The most bytes of a panel.
    pub bytes: u64,
    /// Workgroups that a device works on at a time. Whole waves of tiles take their rows one block
    /// after another; of the tiles that are left, each block is a workgroup of its own.
    pub wave: usize,
}

impl Panels {
    /// No tile is split.
    pub const WHOLE: Self = Self {
        bytes: u64::MAX,
        wave: 1,
    };

    /// What suits an adapter and a form.
    pub(super) fn for_adapter(gpu: &GpuDevice, form: Form) -> Self {
        Self {
            wave: wave(gpu.report().kind, form),
            ..Self::WHOLE
        }
    }
}

/// Workgroups of a form that an adapter of this kind works on at a time, about.
fn wave(kind: AdapterKind, form: Form) -> usize {
    match kind {
        // The cores of a CPU take one workgroup after another.
        AdapterKind::Software => 1,
        _ => few::enough_invocations(kind) / form.invocations() as usize,
    }
}

/// A run of tiles that fits one binding, and one dispatch of reasonable length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Panel {
    pub(super) tiles: Range<usize>,
    /// Blocks of rows that are summed at a time, each by workgroups of its own; `None` where a
    /// workgroup takes one block after another.
    pub(super) blocks: Option<usize>,
}

impl Panel {
    /// Tiles of the sums that blocks leave.
    pub(super) fn partial_tiles(&self) -> usize {
        self.blocks.unwrap_or(0) * self.tiles.len()
    }
}

/// The panels of `total` tiles, of at most `most`, for a device of so many workgroups at a time.
pub(super) fn cut(total: usize, most: usize, wave: usize) -> Vec<Panel> {
    let whole = total / wave * wave;
    // Panels of equal size: a small last one would leave the adapter idle.
    let step = match most / wave {
        0 => even(whole, most),
        waves => even(whole / wave, waves) * wave,
    };
    let direct = (0..whole).step_by(step).map(|from| Panel {
        tiles: from..whole.min(from + step),
        blocks: None,
    });
    let step = even(total - whole, most);
    let rest = (whole..total).step_by(step).map(|from| {
        let tiles = from..total.min(from + step);
        // A block takes half of the bytes of a pair.
        let blocks = (WAVES.saturating_mul(wave)).min(2 * most) / tiles.len();
        Panel {
            blocks: (blocks > 1).then_some(blocks),
            tiles,
        }
    });
    direct.chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::tile::{SHARED_64_HALF, SHARED_128};

    fn panel(tiles: Range<usize>, blocks: Option<usize>) -> Panel {
        Panel { tiles, blocks }
    }

    #[test]
    fn whole_waves_are_added_and_the_rest_is_split() {
        // 4096 features in tiles of 128 x 128, and a target beside them.
        let expected = [panel(0..512, None), panel(512..560, Some(21))];
        assert_eq!(cut(560, 1490, 256), expected);
        // 1024 features: no wave.
        assert_eq!(cut(44, 1490, 256), [panel(0..44, Some(23))]);
        // Panels of whole waves, where not all tiles fit one.
        let expected = [panel(0..512, None), panel(512..1024, None)];
        assert_eq!(cut(1024, 800, 256), expected);
        // Smaller ones where not even a wave fits, and no split without room for two blocks.
        let expected = [panel(0..2, None), panel(2..4, None), panel(4..5, Some(4))];
        assert_eq!(cut(5, 2, 4), expected);
        let cuts = cut(5, 1, 8);
        assert_eq!(cuts[4], panel(4..5, Some(2)));
        // No wave at all.
        assert_eq!(cut(3, 100, 1), [panel(0..3, None)]);
        assert_eq!(cut(300, 100, 200)[2].blocks, Some(2));
    }

    #[test]
    fn every_tile_is_in_one_panel() {
        for (total, most, wave) in [(1, 1, 1), (7, 3, 2), (100, 9, 64), (65, 64, 64), (9, 99, 5)] {
            let panels = cut(total, most, wave);
            let tiles: Vec<_> = panels.iter().flat_map(|p| p.tiles.clone()).collect();
            assert_eq!(tiles, Vec::from_iter(0..total));
            for panel in panels {
                assert!(panel.tiles.len() <= most && panel.partial_tiles() <= 2 * most);
            }
        }
    }

    #[test]
    fn a_wave_has_as_many_invocations_in_every_shape() {
        let of = |kind, tile| wave(kind, Form::Tile(tile));
        assert_eq!(of(AdapterKind::Discrete, SHARED_128), 256);
        assert_eq!(of(AdapterKind::Integrated, SHARED_64_HALF), 128);
        assert_eq!(of(AdapterKind::Software, SHARED_128), 1);
    }
}
