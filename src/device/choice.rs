//! Choosing a device: an explicit argument, else `BOCHNER_DEVICE`, else the best GPU, else the CPU with a word of why.

use super::{
    CpuDevice, Device,
    gpu::{AdapterKind, AdapterReport, open_adapter, visible_adapters},
};
use crate::{Error, Result};
use std::{convert::Infallible, str::FromStr};

/// The environment variable that chooses when the caller does not.
pub const DEVICE_VARIABLE: &str = "BOCHNER_DEVICE";

/// What a user asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// `BOCHNER_DEVICE` if set, else the best GPU that is not a software renderer, else the CPU.
    #[default]
    Auto,
    /// The CPU backend.
    Cpu,
    /// A GPU, and an error when there is none.
    Gpu,
    /// The adapter whose name holds this text, in any case; software renderers too.
    Named(String),
}

impl FromStr for DeviceChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> std::result::Result<Self, Infallible> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "auto" | "" => Self::Auto,
            "cpu" => Self::Cpu,
            "gpu" => Self::Gpu,
            _ => Self::Named(text.to_owned()),
        })
    }
}

/// All that there is to choose from.
#[derive(Debug, Clone)]
pub struct DeviceReport {
    /// The adapters, best first.
    pub adapters: Vec<AdapterReport>,
    /// wgpu's reason when there is no adapter at all.
    pub reason: Option<String>,
    /// The CPU backend in one line.
    pub cpu: String,
    /// What `auto` takes (one line), and why.
    pub auto: (String, String),
}

impl Device {
    /// Opens the device of `choice`. The second value is a note for the user when `auto` falls back to the CPU.
    ///
    /// Errors when a GPU is asked for and there is none, when a name matches no adapter, or when the adapter's limits
    /// are too small; never falls back then.
    pub fn open(choice: &DeviceChoice) -> Result<(Self, Option<String>)> {
        let from_env;
        let choice = match (choice, std::env::var(DEVICE_VARIABLE)) {
            (DeviceChoice::Auto, Ok(text)) => {
                from_env = text.parse().unwrap_or_default();
                &from_env
            }
            _ => choice,
        };
        if *choice == DeviceChoice::Cpu {
            return Ok((Self::cpu(), None));
        }
        let (mut found, reason) = visible_adapters();
        let index = match choice {
            DeviceChoice::Named(name) => {
                let wanted = name.to_ascii_lowercase();
                let holds = |r: &AdapterReport| r.name.to_ascii_lowercase().contains(&wanted);
                match found.iter().position(|(_, r)| holds(r)) {
                    Some(index) => index,
                    None => {
                        return Err(Error::Device(format!(
                            "no adapter is called {name:?}; there are: {}; use one of these, cpu, gpu or auto",
                            names(found.iter().map(|(_, r)| r), reason.as_deref())
                        )));
                    }
                }
            }
            _ => match found.iter().position(|(_, r)| is_automatic(r)) {
                Some(index) => index,
                None => {
                    let why = why_no_gpu(found.iter().map(|(_, r)| r), reason.as_deref());
                    return match choice {
                        DeviceChoice::Gpu => Err(Error::Device(format!(
                            "no GPU: {why}; use --device cpu, or name an adapter to use it all the same"
                        ))),
                        _ => {
                            let cpu = Self::cpu();
                            let note = format!(
                                "device: {} (no GPU: {why}; use --device gpu to make this an error)",
                                cpu.describe()
                            );
                            Ok((cpu, Some(note)))
                        }
                    };
                }
            },
        };
        let (adapter, report) = found.swap_remove(index);
        Ok((Self::Gpu(open_adapter(&adapter, report)?), None))
    }

    /// Opens every usable adapter, software ones too: for checks that run on all of them.
    pub fn all_gpus() -> Result<Vec<Self>> {
        let (found, _) = visible_adapters();
        found
            .into_iter()
            .filter(|(_, report)| report.refusal.is_none())
            .map(|(adapter, report)| Ok(Self::Gpu(open_adapter(&adapter, report)?)))
            .collect()
    }

    /// Lists the adapters without opening any, and what `auto` would take.
    pub fn report() -> DeviceReport {
        let (found, reason) = visible_adapters();
        let adapters: Vec<_> = found.into_iter().map(|(_, report)| report).collect();
        let cpu = CpuDevice::shared().describe();
        let auto = match adapters.iter().find(|r| is_automatic(r)) {
            Some(r) => (r.describe(), format!("the best GPU here ({})", r.kind)),
            None => (
                cpu.clone(),
                format!("no GPU: {}", why_no_gpu(adapters.iter(), reason.as_deref())),
            ),
        };
        DeviceReport {
            adapters,
            reason,
            cpu,
            auto,
        }
    }
}

/// `auto` and `gpu` take real GPUs that are large enough.
fn is_automatic(report: &AdapterReport) -> bool {
    report.kind != AdapterKind::Software && report.refusal.is_none()
}

fn why_no_gpu<'a>(
    reports: impl Iterator<Item = &'a AdapterReport>,
    reason: Option<&str>,
) -> String {
    if let Some(reason) = reason {
        return reason.to_owned();
    }
    let each: Vec<_> = reports
        .map(|r| match &r.refusal {
            Some(refusal) => format!("{} is too small ({refusal})", r.name),
            None => format!("{} is a {} adapter", r.name, r.kind),
        })
        .collect();
    each.join(", ")
}

fn names<'a>(reports: impl Iterator<Item = &'a AdapterReport>, reason: Option<&str>) -> String {
    let each: Vec<_> = reports.map(|r| format!("{:?}", r.name)).collect();
    match (each.is_empty(), reason) {
        (false, _) => each.join(", "),
        (true, Some(reason)) => format!("none ({reason})"),
        (true, None) => "none".into(),
    }
}
