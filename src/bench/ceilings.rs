//! The ceilings of a device.

use super::clock::{Sample, measure_fn};
use crate::{
    Device, Matrix, Result,
    device::{CpuDevice, GpuDevice},
    ops::ceiling,
};
use std::time::Instant;

/// What a device does at most, measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceilings {
    /// Bytes read plus bytes written per second by a copy.
    pub copy_bytes_per_second: f64,
    /// f32 operations per second of multiply-adds on registers, two for each.
    pub flops_per_second: f64,
    /// Bytes per second from the host, on a GPU.
    pub upload_bytes_per_second: Option<f64>,
    /// Bytes per second to the host, on a GPU.
    pub download_bytes_per_second: Option<f64>,
    /// Seconds of a dispatch that does nothing, among many, on a GPU.
    pub dispatch_seconds: Option<f64>,
    /// Seconds from the submission of one such dispatch to its end as the host sees it; on the CPU, of waking all threads.
    pub round_trip_seconds: f64,
    /// How the copy was timed.
    pub clock: super::Clock,
}

/// Bytes of a copy's source: beyond the caches of most devices.
const COPY_BYTES: usize = 256 << 20;
const SOFTWARE_COPY_BYTES: usize = 64 << 20;
/// Bytes of an upload or download.
const TRANSFER_BYTES: usize = 64 << 20;

impl Ceilings {
    /// Measures them, within about `seconds`.
    pub fn measure(device: &Device, seconds: f64) -> Result<Self> {
        match device {
            Device::Cpu(cpu) => on_cpu(device, cpu, seconds / 3.0),
            Device::Gpu(gpu) => on_gpu(device, gpu, seconds / 8.0),
        }
    }
}

fn on_cpu(device: &Device, cpu: &CpuDevice, seconds: f64) -> Result<Ceilings> {
    let len = COPY_BYTES / 4;
    let src = vec![1.0_f32; len];
    let mut dst = vec![0.0_f32; len];
    let copy = measure_fn(device, seconds, || {
        ceiling::copy_host(cpu, &src, &mut dst);
        Ok(())
    })?;
    let rounds = 200_000;
    let operations = ceiling::fma_host(cpu, 1) * f64::from(rounds);
    let fma = measure_fn(device, seconds, || {
        ceiling::fma_host(cpu, rounds as usize);
        Ok(())
    })?;
    let wake = measure_fn(device, seconds.min(0.2), || {
        ceiling::on_every_thread(cpu, || ());
        Ok(())
    })?;
    Ok(Ceilings {
        copy_bytes_per_second: 8.0 * len as f64 / copy.median(),
        // The least disturbed run is what the units can do.
        flops_per_second: operations / fma.min(),
        upload_bytes_per_second: None,
        download_bytes_per_second: None,
        dispatch_seconds: None,
        round_trip_seconds: wake.median(),
        clock: copy.clock,
    })
}

fn on_gpu(device: &Device, gpu: &GpuDevice, seconds: f64) -> Result<Ceilings> {
    let wanted = match gpu.is_software() {
        true => SOFTWARE_COPY_BYTES,
        false => COPY_BYTES,
    };
    let bytes = wanted.min(gpu.max_binding_bytes() as usize);
    let (cols, rows) = (1024, bytes / 4096);
    let mut src = Matrix::new(device, rows, cols)?;
    src.write_with(|out| out.fill(1.0))?;
    let mut dst = Matrix::new(device, rows, cols)?;
    let mut copy: Option<Sample> = None;
    for per in ceiling::PER {
        let sample = measure_fn(device, seconds, || ceiling::copy(gpu, &src, &mut dst, per))?;
        if copy.as_ref().is_none_or(|c| sample.median() < c.median()) {
            copy = Some(sample);
        }
    }
    let flops_per_second = multiply_adds(device, gpu, seconds)?;
    let len = TRANSFER_BYTES / 4;
    let transfer_rows = len / cols;
    let mut transfer = Matrix::new(device, transfer_rows, cols)?;
    let upload = wall(seconds, || {
        transfer.write_with(|_| ())?;
        device.synchronize()
    })?;
    let buffer = transfer.gpu(gpu, "the transfer")?;
    let download = wall(seconds, || gpu.download(buffer, len, |_| ()))?;
    let mut small = Matrix::new(device, 1, 4)?;
    let few = Matrix::new(device, 1, 4)?;
    let many = 512;
    let dispatches = wall(seconds, || {
        (0..many).try_for_each(|_| ceiling::copy(gpu, &few, &mut small, 1))?;
        device.synchronize()
    })?;
    let round_trip = wall(seconds, || {
        ceiling::copy(gpu, &few, &mut small, 1)?;
        device.synchronize()
    })?;
    let copy = copy.expect("there are variants");
    Ok(Ceilings {
        copy_bytes_per_second: 2.0 * (rows * cols * 4) as f64 / copy.median(),
        flops_per_second,
        upload_bytes_per_second: Some(4.0 * len as f64 / upload),
        download_bytes_per_second: Some(4.0 * len as f64 / download),
        dispatch_seconds: Some(dispatches / f64::from(many)),
        round_trip_seconds: round_trip,
        clock: copy.clock,
    })
}

/// The best of the variants, with enough rounds for each to last a while.
fn multiply_adds(device: &Device, gpu: &GpuDevice, seconds: f64) -> Result<f64> {
    let workgroups = if gpu.is_software() { 64 } else { 8192 };
    let mut sums = Matrix::new(device, workgroups, 1024)?;
    let mut best = 0.0_f64;
    for chains in ceiling::CHAINS {
        let mut rounds = 4;
        let mut run = |rounds| ceiling::fma(gpu, &mut sums, chains, rounds);
        run(rounds)?;
        device.synchronize()?;
        // Until a run takes milliseconds: then starting it costs nothing.
        loop {
            let start = Instant::now();
            run(rounds)?;
            device.synchronize()?;
            if start.elapsed().as_secs_f64() > 4e-3 || rounds >= 1 << 16 {
                break;
            }
            rounds *= 2;
        }
        let operations = run(rounds)?;
        let sample = measure_fn(device, seconds / 2.0, || run(rounds).map(|_| ()))?;
        best = best.max(operations / sample.min());
    }
    Ok(best)
}

/// The median of wall times of a call that waits for its end.
fn wall(seconds: f64, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let cpu = Device::cpu();
    Ok(measure_fn(&cpu, seconds, &mut run)?.median())
}
