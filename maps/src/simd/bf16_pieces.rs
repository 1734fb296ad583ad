//! Rows times packed columns on a matrix unit of bf16, in pieces whose products are those of f32.
//!
//! A bf16 has 8 significant bits. A value of x is the sum of three, exactly; a frequency, which has
//! 11 significant bits, of two. The products of pieces are exact in f32, and so are five of the six
//! that a product x w falls into summed (Henry, Tang, Heinecke, "Leveraging the bfloat16 artificial
//! intelligence datatype for higher-precision computations", 2019, section 2.2). The sixth, of the
//! last pieces, is left out: it is at most 2^-23 of |x w|, what the rounding of two f32 is.
//!
//! Frequencies lie in 16 bits, from which integer operations make both pieces: conversions of f16
//! took longer than reading them ([`code`]).
//!
//! Each piece of x has a sum of its own, and the three are added at the end. So one row can stand
//! in a tile as three lines, and has the bits that it has among others.

#[cfg(test)]
mod tests;

use super::{
    Epilogue, Panels, PanelsView, Parts,
    amx::{self, DEPTH, LINES, Tile, Tiles},
    bf16_codes::{code, expand},
    f16::scale,
    tile::panel_columns,
};
use crate::device::Line;
use pulp::{NullaryFnOnce, Simd, f32x16, x86::V4};
use std::cell::RefCell;

/// Columns of a panel with AVX-512.
const COLUMNS: usize = 32;
/// Less depth than this would leave most of a tile empty.
const LEAST_DEPTH: usize = DEPTH;
/// So many rows, and fewer, stand in one tile with all three pieces.
const STACKED: usize = LINES / 3;
/// Bytes of the pieces of rows that pass a panel together: half of a second-level cache of a
/// processor with the unit.
const LEFT_BYTES: usize = 1152 << 10;
/// Bytes of the pieces of panels that a tile of rows passes in turn: its results then lie side by
/// side, and writing them does not wait for memory.
const RIGHT_BYTES: usize = 448 << 10;
/// More tiles of rows at a time gain nothing.
const MOST_TILES: usize = 16;
/// Lines between a read of packed columns and what is asked for meanwhile.
const AHEAD: usize = 32;

/// 32 depths of 32 columns in [codes](code): for each half of the columns 16 lines, each of 16
/// pairs, a pair being two depths of one column.
type Block = [[[u16; DEPTH]; LINES]; 2];

/// A matrix in panels of 16-bit codes, on a machine whose matrix unit takes it in two pieces.
pub(crate) struct Bf16Panels {
    token: V4,
    depth: usize,
    /// Blocks of a panel, one after another in `data`.
    blocks: usize,
    data: Vec<Tile>,
    unscale: f32,
    /// Whether a value is zero, which then has the code 0.
    zeros: bool,
}

impl Bf16Panels {
    /// Columns of the panels that few rows are multiplied with at once.
    pub(crate) const ABREAST_COLUMNS: usize = 2 * COLUMNS;

    /// The same matrix; `None` when codes do not hold it exactly, when it is shallow, or when the
    /// machine lacks the unit.
    pub(crate) fn from_panels(panels: &Panels) -> Option<Self> {
        let token = crate::instructions::wide()?;
        let view = panels.all();
        let depth = view.depth();
        if depth < LEAST_DEPTH || panel_columns() != COLUMNS || !amx::available() {
            return None;
        }
        let values = view.data();
        let (scale, unscale) = scale(values, 0)?;
        let blocks = depth.div_ceil(DEPTH);
        let count = values.len() / (depth * COLUMNS);
        let mut data = vec![[Line([0.0; 16]); LINES]; count * blocks * 2];
        let mut zeros = false;
        let codes: &mut [Block] = bytemuck::cast_slice_mut(&mut data);
        let packed = values.chunks_exact(depth * COLUMNS).enumerate();
        for ((p, panel), codes) in packed.zip(codes.chunks_exact_mut(blocks)) {
            // What fills the last panel up may stay 0 and mean anything: nobody sees its products.
            let width = COLUMNS.min(view.columns() - p * COLUMNS);
            for (k, row) in panel.chunks_exact(COLUMNS).enumerate() {
                let block = &mut codes[k / DEPTH];
                for (c, &value) in row[..width].iter().enumerate() {
                    zeros |= value == 0.0;
                    let line = &mut block[c / 16][k % DEPTH / 2];
                    line[c % 16 * 2 + k % 2] = code(value * scale)?;
                }
            }
        }
        Some(Self {
            token,
            depth,
            blocks,
            data,
            unscale,
            zeros,
        })
    }

    /// As [`super::for_each_row`]. A row has the same bits in any batch.
    pub(crate) fn for_each_row(&self, x: &[f32], parts: Parts<'_, '_>, epilogue: impl Epilogue) {
        SCRATCH.with_borrow_mut(|scratch| {
            self.token.vectorize(Product {
                panels: self,
                parts,
                x,
                scratch,
                epilogue,
            });
        });
    }

    /// The lines of a block of a panel, and what follows.
    #[inline(always)]
    fn lines(&self, panel: usize, block: usize) -> &[Line] {
        &self.data.as_flattened()[(panel * self.blocks + block) * 2 * LINES..]
    }
}

impl std::fmt::Debug for Bf16Panels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.data.len() / (2 * self.blocks) * COLUMNS;
        write!(f, "{} x {columns} in 16 bits, for pieces", self.depth)
    }
}

/// Scratch of one thread, kept between calls.
#[derive(Default)]
struct Scratch {
    /// Pieces of rows: for a tile of rows and 32 depths three tiles, or two of stacked rows.
    left: Vec<Tile>,
    /// Pieces of columns: of a panel and 32 depths the first piece of both halves, then the second.
    right: Vec<Tile>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// At least `len` tiles of unspecified contents.
fn take(tiles: &mut Vec<Tile>, len: usize) -> &mut [Tile] {
    if tiles.len() < len {
        tiles.resize(len, [Line([0.0; 16]); LINES]);
    }
    &mut tiles[..len]
}

struct Product<'a, 'p, E> {
    panels: &'a Bf16Panels,
    parts: Parts<'a, 'p>,
    x: &'a [f32],
    scratch: &'a mut Scratch,
    epilogue: E,
}

impl<E: Epilogue> NullaryFnOnce for Product<'_, '_, E> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let (depth, x) = (self.panels.depth, self.x);
        let fit = LEFT_BYTES / (self.panels.blocks * size_of::<[Tile; 3]>());
        let most = LINES * fit.clamp(1, MOST_TILES);
        let blocks = x.chunks(most * depth).enumerate();
        // One block of rows is cut into pieces once, for all parts.
        let mut is_cut = false;
        while let Some(part) = self.parts.next() {
            for (i, x) in blocks.clone() {
                let is_few = x.len() / depth <= STACKED;
                if !is_cut || blocks.len() != 1 {
                    if is_few {
                        self.cut_stacked(x);
                    } else {
                        self.cut_tall(x);
                    }
                }
                is_cut = true;
                if is_few {
                    self.stacked(part, i * most, x.len() / depth)
                } else {
                    self.tall(part, i * most, x.len() / depth)
                }
            }
        }
    }
}

impl<E: Epilogue> Product<'_, '_, E> {
    /// Three tiles of pieces for 16 rows and 32 depths.
    #[inline(always)]
    fn cut_tall(&mut self, x: &[f32]) {
        let Bf16Panels {
            depth,
            blocks,
            unscale,
            ..
        } = *self.panels;
        let tiles = (x.len() / depth).div_ceil(LINES);
        let left = take(&mut self.scratch.left, 3 * tiles * blocks);
        let left = left.as_chunks_mut::<3>().0;
        for (x, left) in x.chunks(LINES * depth).zip(left.chunks_exact_mut(blocks)) {
            for r in 0..LINES {
                let row = x.get(r * depth..(r + 1) * depth).unwrap_or_default();
                for (k, left) in left.iter_mut().enumerate() {
                    let row = row.get(k * DEPTH..).unwrap_or_default();
                    let pieces = pieces(row, unscale);
                    for (left, piece) in left.iter_mut().zip(pieces) {
                        left[r] = piece;
                    }
                }
            }
        }
    }

    /// Many rows: tiles of 16 pass some panels of columns.
    #[inline(always)]
    fn tall(&mut self, part: PanelsView<'_>, row0: usize, rows: usize) {
        let Bf16Panels {
            token,
            blocks,
            zeros,
            ..
        } = *self.panels;
        let (start, count) = (part.start(), part.columns().div_ceil(COLUMNS));
        let left = take(&mut self.scratch.left, 3 * rows.div_ceil(LINES) * blocks);
        let left = left.as_chunks::<3>().0;
        let group = (RIGHT_BYTES / (blocks * size_of::<[Tile; 4]>())).clamp(1, count.max(1));
        let right = take(&mut self.scratch.right, 4 * blocks * group);
        let right = right.as_chunks_mut::<4>().0;
        let mut sums = [[Line([0.0; 16]); LINES]; 6];
        let mut products = [[Line([0.0; 16]); 2]; LINES];
        for first in (0..count).step_by(group) {
            let here = group.min(count - first);
            for (p, right) in right.chunks_exact_mut(blocks).take(here).enumerate() {
                for (k, right) in right.iter_mut().enumerate() {
                    let lines = self.panels.lines(start / COLUMNS + first + p, k);
                    expand(token, lines, right, zeros, Some(AHEAD));
                }
            }
            let unit = Tiles::new(LINES);
            for (i, left) in left.chunks_exact(blocks).enumerate() {
                let row = i * LINES;
                let rows = LINES.min(rows - row);
                for (p, right) in right.chunks_exact(blocks).take(here).enumerate() {
                    unit.zero();
                    for (left, right) in left.iter().zip(right) {
                        unit.tall(left, right);
                    }
                    unit.store(&mut sums);
                    for (r, out) in products.iter_mut().enumerate() {
                        let [a, b, c, d, e, f] = &sums;
                        let first = add(token, a[r], b[r], c[r]);
                        *out = [first, add(token, d[r], e[r], f[r])];
                    }
                    let products: &[f32] = bytemuck::cast_slice(products.as_flattened());
                    let col = (first + p) * COLUMNS;
                    let width = COLUMNS.min(part.columns() - col);
                    if width == COLUMNS {
                        let products = &products[..rows * COLUMNS];
                        self.epilogue.rows(token, row0 + row, start + col, products);
                        continue;
                    }
                    for (r, t) in products.chunks_exact(COLUMNS).take(rows).enumerate() {
                        let row = row0 + row + r;
                        self.epilogue.row(token, row, start + col, &t[..width]);
                    }
                }
            }
        }
    }

    /// Two tiles of pieces for few rows and 32 depths: those that meet the first piece of columns,
    /// and those that meet the second.
    #[inline(always)]
    fn cut_stacked(&mut self, x: &[f32]) {
        let Bf16Panels {
            depth,
            blocks,
            unscale,
            ..
        } = *self.panels;
        let rows = x.len() / depth;
        let left = take(&mut self.scratch.left, 2 * blocks);
        let left = left.as_chunks_mut::<2>().0;
        let nothing = Line([0.0; 16]);
        for (k, [with_first, with_second]) in left.iter_mut().enumerate() {
            for (r, row) in x.chunks_exact(depth).enumerate() {
                let pieces = pieces(&row[k * DEPTH..], unscale);
                for (i, piece) in pieces.into_iter().enumerate() {
                    with_first[i * rows + r] = piece;
                    with_second[i * rows + r] = if i < 2 { piece } else { nothing };
                }
            }
        }
    }

    /// Few rows: the pieces stand in one tile, and two panels take turns, so that sums of one are
    /// not waited for.
    #[inline(always)]
    fn stacked(&mut self, part: PanelsView<'_>, row0: usize, rows: usize) {
        let Bf16Panels {
            token,
            blocks,
            zeros,
            ..
        } = *self.panels;
        let left = take(&mut self.scratch.left, 2 * blocks);
        let left = left.as_chunks::<2>().0;
        let right = take(&mut self.scratch.right, 16).as_chunks_mut::<4>().0;
        let unit = Tiles::new(3 * rows);
        let mut sums = [[Line([0.0; 16]); LINES]; 6];
        let (start, count) = (part.start(), part.columns().div_ceil(COLUMNS));
        for first in (0..count).step_by(2) {
            let abreast = 2.min(count - first);
            // A panel beyond the last repeats it; what it gives is not used.
            let a = start / COLUMNS + first;
            let b = a + abreast - 1;
            unit.zero();
            // Pieces are made one block before the unit reads them, so that they are written by
            // then. Nothing is asked for ahead: the processor does, and hints make it slower.
            expand(token, self.panels.lines(a, 0), &mut right[0], zeros, None);
            expand(token, self.panels.lines(b, 0), &mut right[1], zeros, None);
            for (k, left) in left.iter().enumerate() {
                let (now, next) = (k % 2 * 2, (k + 1) % 2 * 2);
                if k + 1 < blocks {
                    let lines = self.panels.lines(a, k + 1);
                    expand(token, lines, &mut right[next], zeros, None);
                }
                unit.stacked::<0>(left, &right[now]);
                if k + 1 < blocks {
                    let lines = self.panels.lines(b, k + 1);
                    expand(token, lines, &mut right[next + 1], zeros, None);
                }
                unit.stacked::<1>(left, &right[now + 1]);
            }
            unit.store(&mut sums);
            for (p, sums) in sums.as_chunks::<2>().0.iter().take(abreast).enumerate() {
                let col = (first + p) * COLUMNS;
                let width = COLUMNS.min(part.columns() - col);
                for r in 0..rows {
                    let [t, u] = sums;
                    let t = add(token, t[r], t[rows + r], t[2 * rows + r]);
                    let u = add(token, u[r], u[rows + r], u[2 * rows + r]);
                    let t = [t, u];
                    let t: &[f32] = bytemuck::cast_slice(&t);
                    self.epilogue.row(token, row0 + r, start + col, &t[..width]);
                }
            }
        }
    }
}

/// The sums of three pieces, in the one order in which they are added.
#[inline(always)]
fn add(token: V4, a: Line, b: Line, c: Line) -> Line {
    let [a, b, c] = [a, b, c].map(|line| pulp::cast::<_, f32x16>(line.0));
    Line(pulp::cast(token.add_f32s(a, token.add_f32s(b, c))))
}

/// Three bf16 whose sum is each of the first 32 values times a power of two; zeros beyond the last.
#[inline(always)]
fn pieces(values: &[f32], scale: f32) -> [Line; 3] {
    let mut scaled = [0.0_f32; DEPTH];
    for (scaled, &value) in scaled.iter_mut().zip(values) {
        *scaled = value * scale;
    }
    [(); 3].map(|()| {
        let mut piece = [0_u16; DEPTH];
        for (piece, rest) in piece.iter_mut().zip(&mut scaled) {
            // To nearest, on the upper half of the bits. A value that is no number stays none.
            let bits = rest.to_bits();
            let rounded = bits.wrapping_add(0x8000) & 0xffff_0000;
            let rounded = if rest.is_nan() { 0x7fc0_0000 } else { rounded };
            *piece = (rounded >> 16) as u16;
            *rest -= f32::from_bits(rounded);
        }
        bytemuck::cast(piece)
    })
}
