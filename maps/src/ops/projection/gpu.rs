//! The dense map on a GPU: its parameters there, and its dispatches.

use super::{
    DenseMap, MENU,
    resident::Resident,
    units::{self, Units},
};
use crate::{
    Result,
    device::{GpuDevice, Matrix, MatrixUnits, gpu::Dispatch},
    form::{
        self, DenseForm, Shape, Way,
        tile::{self, Tile},
    },
    ops::{Binding, Nonlinearity, Op, Variant, dispatch::narrow, few::FewRows, units::refused},
};
use std::ops::Deref;

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "projection",
    source: bochner_shaders::PROJECTION,
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("w"),
        Binding::Read("feature"),
        Binding::Write("z"),
    ],
    variants: || {
        let menu = tile::MENU.iter();
        let forms = menu.flat_map(|t| Nonlinearity::examples().map(|f| (*t, f)));
        // Only sines can start in the middle of a vec4.
        let part = tile::MENU
            .iter()
            .map(|t| variant(*t, &Nonlinearity::CosSin, false));
        forms
            .map(|(t, f)| variant(t, &f, true))
            .chain(part)
            .collect()
    },
};

/// Features stored in whole vec4s or one by one.
fn variant(tile: Tile, f: &Nonlinearity, whole: bool) -> Variant {
    f.add_to(tile.variant())
        .with_constant("WHOLE", whole.into())
}

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    rows: u32,
    depth4: u32,
    freqs: u32,
    x_stride4: u32,
    w_stride4: u32,
    z_stride: u32,
    row0: u32,
}

/// A dense map on a GPU.
#[derive(Debug)]
pub(in crate::ops) struct Map {
    resident: Resident,
    /// Set when a caller chose it, else by shape.
    pub(in crate::ops) forced: Option<DenseForm>,
    /// What matrix units take of it, where they are used.
    units: Option<Units>,
}

impl Deref for Map {
    type Target = Resident;

    fn deref(&self) -> &Resident {
        &self.resident
    }
}

impl Map {
    pub(in crate::ops) fn upload(
        gpu: &GpuDevice,
        map: &DenseMap,
        forced: Option<DenseForm>,
    ) -> Result<Self> {
        if let Some(DenseForm::Tile(tile)) = forced {
            tile.check(gpu)?;
        }
        Ok(Self {
            resident: Resident::upload(gpu, map)?,
            forced,
            units: units(gpu, map, forced)?,
        })
    }

    fn shape(&self, rows: usize) -> Shape {
        Shape {
            rows,
            depth: self.depth,
            cols: self.freqs,
        }
    }

    /// The form for so many rows.
    pub(in crate::ops) fn form(&self, rows: usize) -> DenseForm {
        let own = || match (
            form::choose(&self.gpu, &MENU, self.shape(rows)),
            &self.units,
        ) {
            // A tile that a user asks for is taken.
            (DenseForm::Tile(_), Some(units)) if self.gpu.choices().forced().is_none() => {
                units.form()
            }
            (form, _) => form,
        };
        self.forced.unwrap_or_else(own)
    }

    /// Records the features of the rows of x.
    pub(in crate::ops) fn run(&self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        match (self.form(x_nd.rows()), &self.units) {
            (DenseForm::Tile(tile), _) => self.tiled(tile, x_nd, z_nd),
            (DenseForm::Units { .. }, Some(units)) => units.run(self, x_nd, z_nd),
            (DenseForm::Units { .. }, None) => Err(refused(&self.gpu, "they were not loaded")),
            (DenseForm::Few { splits }, _) => {
                let few = FewRows {
                    a_nk: x_nd,
                    b_kt: &self.w_ds,
                    cols: self.freqs,
                    features: Some((&self.feature, &self.nonlinearity)),
                    z_nt: z_nd,
                    row0: 0,
                    splits,
                };
                few.run(&self.gpu)
            }
        }
    }

    fn tiled(&self, tile: Tile, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        let (gpu, rows, row_work) = (&self.gpu, x_nd.rows(), self.row_work());
        let mut params = Params {
            rows: narrow(rows)?,
            depth4: narrow(self.depth.div_ceil(4))?,
            freqs: narrow(self.freqs)?,
            x_stride4: narrow(x_nd.stride() / 4)?,
            w_stride4: narrow(self.w_ds.stride() / 4)?,
            z_stride: narrow(z_nd.stride())?,
            row0: 0,
        };
        // Sines start at column `freqs`: in the middle of a vec4 unless that is a multiple of four.
        let whole = self.nonlinearity != Nonlinearity::CosSin || self.freqs.is_multiple_of(4);
        // Drivers reset an adapter whose dispatch takes seconds: slow ones get fewer rows at a
        // time. Each row is computed alone, so that the cut does not show.
        for block in gpu.row_blocks(&OP, rows, row_work) {
            params.row0 = narrow(block.start)?;
            gpu.dispatch(&Dispatch {
                op: &OP,
                variant: variant(tile, &self.nonlinearity, whole),
                params: bytemuck::bytes_of(&params),
                buffers: &[
                    x_nd.gpu(gpu, "x")?,
                    self.w_ds.gpu(gpu, "w")?,
                    self.feature.gpu(gpu, "the phases")?,
                    z_nd.gpu(gpu, "z")?,
                ],
                workgroups: [
                    params.freqs.div_ceil(tile.cols()),
                    narrow(block.len())?.div_ceil(tile.rows()),
                    1,
                ],
                work: row_work * block.len() as f64,
            })?;
        }
        Ok(())
    }
}

/// What matrix units take of a map: where a caller asks for them, else where they pay and may be
/// used.
fn units(gpu: &GpuDevice, map: &DenseMap, forced: Option<DenseForm>) -> Result<Option<Units>> {
    let asked = matches!(forced, Some(DenseForm::Units { .. }));
    let pays = map.depth() > tile::DEEP && gpu.allows_units(MatrixUnits::Projections).is_ok();
    if !asked && (forced.is_some() || !pays) {
        return Ok(None);
    }
    match units::upload(gpu, map)? {
        Ok(units) => Ok(Some(units)),
        Err(why) if asked => Err(refused(gpu, &why)),
        Err(why) => {
            log::info!("matrix units of {} are not used: {why}", gpu.describe());
            Ok(None)
        }
    }
}
