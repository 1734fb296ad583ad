//! A row-major f32 matrix, resident on its device.

use super::{
    Aligned, Device,
    gpu::{Mapped, PooledBuffer, Readback},
    large_pages,
};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder, s};
use std::ops::Range;

/// A row-major f32 matrix `[rows, cols]` that stays on its device.
///
/// Rows lie `stride` floats apart. On a GPU the stride is `cols` rounded up to four, so that
/// shaders load whole `vec4`s. What lies in the padding is zero, always: ops multiply with it and
/// never change it. (A row with a NaN or an infinity in it may have NaN in its padding, too.)
#[derive(Debug)]
pub struct Matrix {
    device: Device,
    rows: usize,
    cols: usize,
    stride: usize,
    capacity_rows: usize,
    data: MatrixData,
}

#[derive(Debug)]
enum MatrixData {
    /// Host memory.
    Cpu(Aligned),
    /// A storage buffer.
    Gpu(PooledBuffer),
}

impl Matrix {
    /// An uninitialised-by-contract matrix (zeros on the CPU) to be written by an op.
    /// Errors with [`Error::Limit`] when the device cannot bind that many bytes.
    pub fn new(device: &Device, rows: usize, cols: usize) -> Result<Self> {
        let stride = device.stride(cols);
        let len = rows.checked_mul(stride).ok_or_else(|| {
            Error::shape(format!(
                "a matrix of {rows} x {cols} overflows the address space"
            ))
        })?;
        let data = match device {
            Device::Cpu(_) => MatrixData::Cpu(Aligned::zeroed(len)),
            Device::Gpu(gpu) => {
                let bytes = 4 * len as u64;
                let buffer = gpu.buffer(bytes, || format!("a {rows} x {cols} matrix"))?;
                if cols < stride {
                    // The padding may hold an earlier user's numbers.
                    gpu.clear(&buffer, bytes);
                }
                MatrixData::Gpu(buffer)
            }
        };
        Ok(Self {
            device: device.clone(),
            rows,
            cols,
            stride,
            capacity_rows: rows,
            data,
        })
    }

    /// Uploads a host matrix.
    pub fn upload(device: &Device, host: ArrayView2<'_, f32>) -> Result<Self> {
        let mut matrix = Self::new(device, host.nrows(), host.ncols())?;
        matrix.write(host)?;
        Ok(matrix)
    }

    /// Overwrites the matrix with `host`, which has at most as many rows as were allocated, and
    /// takes its row count.
    pub fn write(&mut self, host: ArrayView2<'_, f32>) -> Result<()> {
        if host.ncols() != self.cols {
            return Err(Error::shape(format!(
                "a matrix of {} columns cannot take rows of {}",
                self.cols,
                host.ncols()
            )));
        }
        self.set_rows(host.nrows())?;
        self.write_rows(|i, out| {
            let row = host.row(i);
            let (body, padding) = out.split_at_mut(row.len());
            for (o, &v) in body.iter_mut().zip(row) {
                *o = v;
            }
            padding.fill(0.0);
            Ok(())
        })
    }

    /// Lets `fill` write every row, its number and its `stride` floats, zeros for the padding, and
    /// makes them visible to the device. `fill` finds other numbers there. On a GPU threads share
    /// the rows, and after an error the matrix is as it was; on the CPU one thread goes on to the
    /// first error.
    pub(crate) fn write_rows(
        &mut self,
        fill: impl Fn(usize, &mut [f32]) -> Result<()> + Sync,
    ) -> Result<()> {
        let (rows, stride) = (self.rows, self.stride);
        match (&mut self.data, &self.device) {
            (MatrixData::Cpu(data), _) => {
                let data = &mut data.as_mut_slice()[..rows * stride];
                let mut each = data.chunks_exact_mut(stride.max(1)).enumerate();
                each.try_for_each(|(i, row)| fill(i, row))
            }
            (MatrixData::Gpu(buffer), Device::Gpu(gpu)) => {
                gpu.upload(buffer, (rows, stride), &fill)
            }
            (MatrixData::Gpu(_), Device::Cpu(_)) => unreachable!("a CPU matrix holds host memory"),
        }
    }

    /// As [`Self::write_rows`], all rows at once and by threads of the CPU's pool where `fill` has
    /// them: for tables, which are loaded once. On a GPU they lie on the host before they go.
    pub(crate) fn write_with(&mut self, fill: impl FnOnce(&mut [f32])) -> Result<()> {
        let len = self.rows * self.stride;
        if let MatrixData::Cpu(data) = &mut self.data {
            fill(&mut data.as_mut_slice()[..len]);
            return Ok(());
        }
        let mut host = vec![0.0; len];
        fill(&mut host);
        let stride = self.stride;
        self.write_rows(|i, row| {
            row.copy_from_slice(&host[i * stride..][..stride]);
            Ok(())
        })
    }

    /// Multiplies each of some rows by its factor. A GPU's matrix goes to the host and back.
    #[doc(hidden)]
    pub fn scale_rows(&mut self, rows: Range<usize>, factors_n: ArrayView1<'_, f32>) -> Result<()> {
        let stride = self.stride.max(1);
        if let MatrixData::Cpu(data) = &mut self.data {
            let all = data.as_mut_slice().chunks_exact_mut(stride);
            for (row, &factor) in all.skip(rows.start).zip(factors_n) {
                row.iter_mut().for_each(|v| *v *= factor);
            }
            return Ok(());
        }
        let mut host = self.download()?;
        let mut part = host.slice_mut(s![rows, ..]);
        part *= &factors_n.insert_axis(Axis(1));
        self.write(host.view())
    }

    /// Copies the matrix to the host. On a GPU this waits for all work recorded so far.
    pub fn download(&self) -> Result<Array2<f32>> {
        self.download_as()
    }

    /// The matrix as an op filled it with 32-bit values other than floats.
    pub(crate) fn download_as<T: bytemuck::Pod>(&self) -> Result<Array2<T>> {
        let mut host = Array2::from_elem((self.rows, self.cols), T::zeroed());
        large_pages::ask_for(host.as_slice_mut().unwrap_or_default());
        let mut copy = |data: &[f32]| {
            let data: &[T] = bytemuck::cast_slice(data);
            for (mut row, from) in host
                .rows_mut()
                .into_iter()
                .zip(data.chunks(self.stride.max(1)))
            {
                row.iter_mut().zip(from).for_each(|(o, &v)| *o = v);
            }
        };
        match (&self.data, &self.device) {
            (MatrixData::Cpu(data), _) => copy(data.as_slice()),
            (MatrixData::Gpu(buffer), Device::Gpu(gpu)) => {
                gpu.download(buffer, self.rows * self.stride, copy)?;
            }
            (MatrixData::Gpu(_), Device::Cpu(_)) => unreachable!("a CPU matrix holds host memory"),
        }
        Ok(host)
    }

    /// Sends the matrix, as the work recorded so far leaves it, on its way to the host: the device
    /// goes on with what comes next meanwhile. `None` for a CPU matrix, which is there already:
    /// [`Self::on_host`] lends it.
    pub(crate) fn read_later(&self) -> Result<Option<Reading>> {
        let (MatrixData::Gpu(buffer), Device::Gpu(gpu)) = (&self.data, &self.device) else {
            return Ok(None);
        };
        let readback = gpu.read_later(buffer, 0..self.rows * self.stride)?;
        Ok(Some(Reading {
            shape: (self.rows, self.cols),
            stride: self.stride,
            readback,
        }))
    }

    /// The rows of a CPU matrix where they lie; `None` for one on a GPU.
    #[doc(hidden)]
    pub fn on_host(&self) -> Option<ArrayView2<'_, f32>> {
        match &self.data {
            MatrixData::Cpu(data) => {
                let data = &data.as_slice()[..self.rows * self.stride];
                Some(view(data, (self.rows, self.cols), self.stride))
            }
            MatrixData::Gpu(_) => None,
        }
    }

    /// Takes `rows` of the allocated rows into use, so that one allocation serves chunks of several
    /// lengths.
    pub fn set_rows(&mut self, rows: usize) -> Result<()> {
        if rows > self.capacity_rows {
            return Err(Error::shape(format!(
                "a matrix allocated for {} rows cannot hold {rows}",
                self.capacity_rows
            )));
        }
        self.rows = rows;
        Ok(())
    }

    /// Number of rows in use.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Distance between rows, in floats.
    #[doc(hidden)]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The number of rows that were allocated.
    #[doc(hidden)]
    pub fn capacity_rows(&self) -> usize {
        self.capacity_rows
    }

    /// The device that holds the matrix.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The host data of a CPU matrix; a matrix of another device is a clear error that names
    /// `what`.
    pub(crate) fn cpu(&self, what: &str) -> Result<&[f32]> {
        match &self.data {
            MatrixData::Cpu(data) => Ok(&data.as_slice()[..self.rows * self.stride]),
            MatrixData::Gpu(_) => Err(wrong_device(what, &self.device, "the CPU")),
        }
    }

    /// As [`Self::cpu`], to write.
    pub(crate) fn cpu_mut(&mut self, what: &str) -> Result<&mut [f32]> {
        match &mut self.data {
            MatrixData::Cpu(data) => Ok(&mut data.as_mut_slice()[..self.rows * self.stride]),
            MatrixData::Gpu(_) => Err(wrong_device(what, &self.device, "the CPU")),
        }
    }

    /// The buffer of a matrix on `gpu`; a matrix of another device is a clear error that names
    /// `what`.
    pub(crate) fn gpu(&self, gpu: &super::GpuDevice, what: &str) -> Result<&wgpu::Buffer> {
        match (&self.data, &self.device) {
            (MatrixData::Gpu(buffer), Device::Gpu(own)) if own.same_as(gpu) => Ok(buffer),
            _ => Err(wrong_device(what, &self.device, &gpu.describe())),
        }
    }
}

/// A matrix on its way to the host.
#[derive(Debug)]
pub(crate) struct Reading {
    shape: (usize, usize),
    stride: usize,
    readback: Readback,
}

impl Reading {
    /// Waits for the matrix, and lends it where it lies, without a copy.
    #[cfg(test)]
    pub(crate) fn wait(self) -> Result<Arrived> {
        crate::wait::wait(self.arrive())
    }

    /// The matrix where it lies, without a copy, when it is there.
    pub(crate) async fn arrive(self) -> Result<Arrived> {
        Ok(Arrived {
            shape: self.shape,
            stride: self.stride,
            mapped: self.readback.arrive().await?,
        })
    }
}

/// A matrix that was read back.
pub(crate) struct Arrived {
    shape: (usize, usize),
    stride: usize,
    mapped: Mapped,
}

impl Arrived {
    /// Its rows.
    pub(crate) fn view(&self) -> ArrayView2<'_, f32> {
        view(self.mapped.values(), self.shape, self.stride)
    }
}

fn view(data: &[f32], shape: (usize, usize), stride: usize) -> ArrayView2<'_, f32> {
    ArrayView2::from_shape(shape.strides((stride.max(1), 1)), data).expect("whole rows")
}

fn wrong_device(what: &str, holder: &Device, user: &str) -> Error {
    Error::device(format!(
        "{what} is on {} but the work runs on {user}; upload it there first",
        holder.describe()
    ))
}
