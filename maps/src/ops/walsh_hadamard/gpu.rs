//! Transforms on a GPU: rows of up to 2^12 or 2^13 elements in one dispatch, longer ones as short
//! rows first and then in passes over levels that lie far apart.

use super::{
    WalshHadamard,
    exchange::{self, SUBGROUP_OP},
    layout::{Params, of_both, strided_invocations, strided_variant, whole},
};
use crate::{
    Result,
    device::{GpuDevice, Matrix, gpu::Dispatch},
    form::{Exchange, Registers, Way},
    ops::{
        Binding, Op, Variant,
        dispatch::{fold, moved, narrow},
    },
};

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "walsh_hadamard",
    source: bochner_shaders::WALSH_HADAMARD,
    params_bytes: size_of::<Params>(),
    bindings: &[Binding::Read("x"), Binding::Write("y")],
    variants: || of_both(forms),
};

/// The variants of adapters that use registers so.
pub(crate) fn forms(registers: Registers) -> Vec<Variant> {
    let wholes =
        (1..=log_most(registers)).flat_map(|k| [false, true].map(|p| whole(k, p, registers).1));
    wholes
        .chain((1..=LOG_STRIDED).map(|levels| strided_variant(levels, registers)))
        .collect()
}

/// Rows up to 2^12 fit the workgroup memory of every adapter and take one dispatch.
pub(in crate::ops) const LOG_WHOLE: u32 = 12;

/// The longest rows that take one dispatch on some adapter: of 2^13 elements, where an invocation
/// holds few of them.
pub(in crate::ops) fn log_most(registers: Registers) -> u32 {
    match registers {
        Registers::Few => LOG_WHOLE + 1,
        Registers::Many => LOG_WHOLE,
    }
}

/// The longest rows that take one dispatch in so many bytes of workgroup memory.
pub(in crate::ops) fn log_whole(workgroup_bytes: u32, registers: Registers) -> u32 {
    let most = log_most(registers);
    if workgroup_bytes >= 4 << most {
        most
    } else {
        LOG_WHOLE
    }
}

/// A pass over longer rows takes at most this many levels.
pub(in crate::ops) const LOG_STRIDED: u32 = 5;

impl WalshHadamard {
    pub(super) fn run_gpu(
        &self,
        gpu: &GpuDevice,
        in_place: bool,
        x: &wgpu::Buffer,
        x_stride4: u32,
        y_nd: &Matrix,
    ) -> Result<()> {
        let rows = narrow(y_nd.rows())?;
        if rows == 0 {
            return Ok(());
        }
        // Levels commute, so that those within parts of 2^12 may come first.
        let log_part = if self.is_whole(gpu) {
            self.log_n
        } else {
            LOG_WHOLE
        };
        let parts = 1 << (self.log_n - log_part);
        // A row longer than one dispatch takes is as many short rows first.
        let params = Params {
            rows: narrow(y_nd.rows() * parts)?,
            x_stride4: if parts > 1 {
                1 << (log_part - 2)
            } else {
                x_stride4
            },
            y_stride4: narrow(y_nd.stride() / parts / 4)?.max(1),
            // Unused by whole rows.
            row4: 0,
            inner4: 0,
        };
        let buffers = [x, y_nd.gpu(gpu, "y")?];
        let (op, rows_each, variant) = self.variant(gpu, log_part, in_place, y_nd)?;
        gpu.dispatch(&Dispatch {
            op,
            variant,
            params: bytemuck::bytes_of(&params),
            buffers: &buffers,
            workgroups: fold(params.rows.div_ceil(rows_each)),
            work: moved(y_nd),
        })?;
        let mut passes = self.strided_passes().filter(|_| parts > 1);
        passes.try_for_each(|pass| self.strided(gpu, pass, y_nd))
    }

    /// Whether a row takes one dispatch on an adapter.
    pub(super) fn is_whole(&self, gpu: &GpuDevice) -> bool {
        let bytes = gpu.report().workgroup_bytes;
        self.log_n <= log_whole(bytes, Registers::for_adapter(gpu))
    }

    /// What transforms the rows of y, or parts of them, in one dispatch, and how many of them a
    /// workgroup takes. Counts the work towards tuning where that has a choice.
    fn variant(
        &self,
        gpu: &GpuDevice,
        log_part: u32,
        in_place: bool,
        y_nd: &Matrix,
    ) -> Result<(&'static Op, u32, Variant)> {
        let exchange = self.exchange(y_nd.device(), y_nd.rows());
        if let Some(exchange) = exchange {
            exchange.check(gpu)?;
        }
        Ok(match (exchange, gpu.subgroup()) {
            (Some(Exchange::SubgroupShuffles), Some(size)) => {
                let (rows, variant) = exchange::shuffled(size, self.log_n, in_place);
                (&SUBGROUP_OP, rows, variant)
            }
            _ => {
                let (rows, variant) = whole(log_part, in_place, Registers::for_adapter(gpu));
                (&OP, rows, variant)
            }
        })
    }

    /// The passes after the one over parts of 2^12: levels done before, and levels of the pass.
    pub(in crate::ops) fn strided_passes(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (log_n, mut done) = (self.log_n, self.log_n.min(LOG_WHOLE));
        let passes = (log_n - done).div_ceil(LOG_STRIDED);
        (0..passes).map(move |i| {
            // Spread evenly: 6 levels are 3 and 3, not 5 and 1, whose registers and traffic are
            // those of the longer.
            let levels = (log_n - done).div_ceil(passes - i);
            done += levels;
            (done - levels, levels)
        })
    }

    /// One of [`Self::strided_passes`], in place.
    pub(in crate::ops) fn strided(
        &self,
        gpu: &GpuDevice,
        (done, levels): (u32, u32),
        y_nd: &Matrix,
    ) -> Result<()> {
        let row4: u32 = 1 << (self.log_n - 2);
        let params = Params {
            rows: narrow(y_nd.rows())?,
            x_stride4: 0,
            y_stride4: row4,
            row4,
            inner4: 1 << (done - 2),
        };
        // The shader binds x in all variants; in place only y is touched, and one buffer must not
        // be bound as both.
        let unused = gpu.buffer(16, || "a placeholder".into())?;
        let registers = Registers::for_adapter(gpu);
        gpu.dispatch(&Dispatch {
            op: &OP,
            variant: strided_variant(levels, registers),
            params: bytemuck::bytes_of(&params),
            buffers: &[&unused, y_nd.gpu(gpu, "y")?],
            workgroups: [
                strided_invocations(self.log_n, levels, registers).div_ceil(64),
                params.rows,
                1,
            ],
            work: moved(y_nd),
        })
    }
}
