//! Where and how to run, and what is printed.

use super::values::{at_least_one, bytes, named};
use crate::{
    allocator,
    drivers::{self, quietly},
    interrupt::writing,
    page,
    report::{Console, OutputArgs, Report, counted},
};
use anyhow::Result;
use bochner::{Device, DeviceChoice, Run, data::AtomicFile, device::CpuDevice};
use clap::Args;
use indicatif::BinaryBytes;
use std::path::{Path, PathBuf};

/// Where to run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run options")]
pub(crate) struct DeviceArgs {
    /// What computes: auto, cpu, gpu, or a part of a GPU's name
    ///
    /// `auto` is the best GPU, else the CPU; `gpu` is never the CPU.
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,
    /// Threads on the CPU, no more than there are cores [default: one per core]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<usize>,
}

/// Where and how to run, and what to print.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run options")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    device: DeviceArgs,
    /// Memory that the program may take, as in 500M or 2G
    ///
    /// It is for chunks, for the map, the sums and the solution of a fit, and for the program
    /// itself, which takes about 25M: in bytes or with K, M, G (powers of 1024; KB, MB, GB are
    /// powers of 1000) [default: 128M for chunks, and what is free for the rest]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory: Option<u64>,
    /// Write what was found as a page with pictures, too
    ///
    /// Data and job, importance of columns, what was tried, penalties, errors of maps, labels that
    /// were confused, calibration, residuals, how predictions are distributed, columns that differ.
    #[arg(long, value_name = "FILE.html", value_parser = named())]
    report: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

impl DeviceArgs {
    /// Sets the threads, before anything uses them. More than there are cores only wait for each
    /// other, so they are cut: a script that was written for a larger machine still runs.
    pub(crate) fn start(&self, console: &Console) -> Result<()> {
        let Some(asked) = self.threads else {
            return Ok(());
        };
        let threads = asked.min(CpuDevice::cores());
        if threads < asked {
            let cores = counted(threads as u64, "core");
            console.note(&format!(
                "--threads {asked}: this machine has {cores}, which is how many are started"
            ));
        }
        Ok(CpuDevice::set_shared_threads(threads)?)
    }

    /// Opens the device; says once if it is not the one hoped for, and in detail what there was to
    /// choose from.
    pub(crate) fn open(&self, console: &Console) -> Result<Device> {
        // Where the CPU is asked for, drivers are left alone.
        if console.is_verbose() && self.device != DeviceChoice::Cpu {
            let listing = Device::report();
            for adapter in &listing.adapters {
                let refusal = adapter.refusal.as_ref();
                let note = refusal.map_or_else(String::new, |why| format!(", too small: {why}"));
                console.detail(&format!("adapter: {}{note}", adapter.describe()));
            }
            if let Some(reason) = &listing.reason {
                console.detail(&format!("no adapter: {reason}"));
            }
            if self.device == DeviceChoice::Auto {
                let (taken, why) = &listing.auto;
                console.detail(&format!("auto takes {taken}: {why}"));
            }
        }
        let (device, note) = quietly(|| Device::open(&self.device))?;
        if let Some(note) = note {
            console.note(&format!("{note}; use --device gpu to make this an error"));
        }
        console.detail(&format!("device: {}", device.describe()));
        Ok(device)
    }
}

impl RunArgs {
    /// Sets the threads, before anything uses them; where notes and bars go.
    pub(crate) fn start(&self) -> Result<Console> {
        let console = Console::new(&self.output);
        if let Some(path) = &self.report {
            // Where it cannot be written is said before the work.
            drop(AtomicFile::create(path)?);
        }
        if self.memory.is_some() {
            allocator::give_back();
        }
        self.device.start(&console)?;
        console.detail(&format!(
            "memory for chunks: {}",
            BinaryBytes(self.chunks())
        ));
        Ok(console)
    }

    /// The page that is written, which is an output as others are.
    pub(crate) fn page(&self) -> Option<&Path> {
        self.report.as_deref()
    }

    /// What to print.
    pub(crate) fn output(&self) -> &OutputArgs {
        &self.output
    }

    /// Opens the device; says once if it is not the one hoped for.
    pub(crate) fn open(&self, console: &Console) -> Result<Run> {
        Ok(self.run_on(&self.device.open(console)?))
    }

    /// A run on a device that is open, with the memory for its chunks.
    pub(crate) fn run_on(&self, device: &Device) -> Run {
        Run::on(device).memory(self.chunks())
    }

    /// Bytes for chunks, if nothing else takes some.
    fn chunks(&self) -> u64 {
        self.memory.unwrap_or(Run::DEFAULT_MEMORY)
    }

    /// The bytes of `--memory`, if given.
    pub(crate) fn given_memory(&self) -> Option<u64> {
        self.memory
    }

    /// Bytes for chunks: of what was given what `left` leaves of it, which may be too little.
    pub(crate) fn within(&self, left: impl FnOnce(u64) -> bochner::Result<u64>) -> Result<u64> {
        match self.memory {
            Some(bytes) => Ok(left(bytes)?),
            None => Ok(Run::DEFAULT_MEMORY),
        }
    }

    /// Prints the results, and writes them as a page where one is asked for.
    pub(crate) fn print(&self, report: &Report) -> Result<()> {
        if let Some(path) = &self.report {
            let _writing = writing();
            page::write(path, report)?;
        }
        report.print(self.output.json)
    }

    /// As [`Self::print`] where stdout has the result itself: to stderr, unless `--quiet`.
    pub(crate) fn print_beside(&self, report: &Report) -> Result<()> {
        if let Some(path) = &self.report {
            let _writing = writing();
            page::write(path, report)?;
        }
        if !self.output.quiet {
            drivers::to_stderr(report.text(self.output.json).trim_end());
        }
        Ok(())
    }
}
