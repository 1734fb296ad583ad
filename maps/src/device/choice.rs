//! Choosing a device: an explicit argument, else `BOCHNER_DEVICE`, else the best GPU, else the CPU
//! with a word of why.

use super::{
    CpuDevice, Device,
    gpu::{
        AdapterKind, AdapterReport, Found, WeakGpu, adapters_later, open_adapter, open_later,
        visible_adapters,
    },
};
use crate::{Error, Result, error::Remedy, instructions::InstructionSet};
use std::{
    convert::Infallible,
    str::FromStr,
    sync::{Mutex, Once, PoisonError},
};

/// The environment variable that chooses when the caller does not.
pub(crate) const DEVICE_VARIABLE: &str = "BOCHNER_DEVICE";

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
    /// The adapter whose name holds this text, in any case; software renderers too. Of several, the
    /// first that can be used; an error that says why when the only one cannot.
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
    /// Opens the device of `choice`. The second value is a note for the user when `auto` falls back
    /// to the CPU.
    ///
    /// Errors when a GPU is asked for and there is none, when a name matches no adapter, or when
    /// the adapter's limits are too small; never falls back then. Errors, too, when `BOCHNER_CPU`
    /// names an [`InstructionSet`] that this machine has not.
    pub fn open(choice: &DeviceChoice) -> Result<(Self, Option<String>)> {
        InstructionSet::chosen()?;
        let (choice, _) = choice.resolve();
        if choice == DeviceChoice::Cpu {
            return Ok((Self::cpu(), None));
        }
        match take(&choice, visible_adapters())? {
            Taken::Adapter(adapter, report) => {
                Ok((Self::Gpu(open_adapter(&adapter, *report)?), None))
            }
            Taken::Cpu(note) => Ok((Self::cpu(), Some(note))),
        }
    }

    /// As [`Self::open`] without waiting on the spot. In a browser, whose GPU is never there at
    /// once, the only way to one; what is [`DeviceChoice::Named`] there is any that has the text in
    /// what the browser tells of it, which may be nothing.
    ///
    /// ```
    /// # use bochner::{Device, DeviceChoice};
    /// # async fn page() -> bochner::Result<()> {
    /// let (device, _) = Device::open_later(&DeviceChoice::Auto).await?;
    /// println!("{}", device.describe());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open_later(choice: &DeviceChoice) -> Result<(Self, Option<String>)> {
        InstructionSet::chosen()?;
        let (choice, _) = choice.resolve();
        if choice == DeviceChoice::Cpu {
            return Ok((Self::cpu(), None));
        }
        match take(&choice, adapters_later().await)? {
            Taken::Adapter(adapter, report) => {
                Ok((Self::Gpu(open_later(&adapter, *report).await?), None))
            }
            Taken::Cpu(note) => Ok((Self::cpu(), Some(note))),
        }
    }

    /// The device that [`DeviceChoice::Auto`] stands for. All who ask share one as long as any of
    /// them keeps it; a lost one is opened anew. The log says once which it is.
    ///
    /// Errors as [`Self::open`] does.
    pub fn best() -> Result<Self> {
        /// Nothing is kept open for those who may never ask again, so that a device closes in
        /// order.
        enum Best {
            Cpu,
            Gpu(WeakGpu),
        }
        static BEST: Mutex<Option<Best>> = Mutex::new(None);
        static SAID: Once = Once::new();
        // What is kept is whole, whatever became of who held the lock.
        let mut best = BEST.lock().unwrap_or_else(PoisonError::into_inner);
        match &*best {
            Some(Best::Cpu) => return Ok(Self::cpu()),
            Some(Best::Gpu(gpu)) => {
                if let Some(gpu) = gpu.upgrade() {
                    return Ok(Self::Gpu(gpu));
                }
            }
            None => {}
        }
        let (device, note) = Self::open(&DeviceChoice::Auto)?;
        SAID.call_once(|| match note {
            Some(note) => log::warn!("{note}"),
            None => log::info!("device: {}", device.describe()),
        });
        *best = Some(match &device {
            Self::Cpu(_) => Best::Cpu,
            Self::Gpu(gpu) => Best::Gpu(gpu.downgrade()),
        });
        Ok(device)
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
        let (choice, from_environment) = DeviceChoice::Auto.resolve();
        let picked = pick(
            &choice,
            &adapters.iter().collect::<Vec<_>>(),
            reason.as_deref(),
        );
        let (taken, why) = match picked {
            Ok(Pick::Adapter(index)) => {
                let report = &adapters[index];
                (
                    report.describe(),
                    format!("the best GPU here ({})", report.kind),
                )
            }
            Ok(Pick::Cpu { why }) => (cpu.clone(), why),
            Err(error) => ("none".into(), error.to_string()),
        };
        let why = match from_environment {
            Some(text) if taken == "none" => format!("{DEVICE_VARIABLE} is {text:?}: {why}"),
            Some(text) if choice != DeviceChoice::Auto => format!("{DEVICE_VARIABLE} is {text:?}"),
            _ => why,
        };
        let auto = (taken, why);
        DeviceReport {
            adapters,
            reason,
            cpu,
            auto,
        }
    }
}

/// What is opened.
enum Taken {
    Adapter(wgpu::Adapter, Box<AdapterReport>),
    /// The CPU, with a note of why.
    Cpu(String),
}

/// What a choice, which is not the CPU, takes of what was found.
fn take(choice: &DeviceChoice, (mut found, reason): Found) -> Result<Taken> {
    let reports: Vec<_> = found.iter().map(|(_, report)| report).collect();
    Ok(match pick(choice, &reports, reason.as_deref())? {
        Pick::Adapter(index) => {
            let (adapter, report) = found.swap_remove(index);
            Taken::Adapter(adapter, Box::new(report))
        }
        Pick::Cpu { why } => Taken::Cpu(format!("device: {} ({why})", Device::cpu().describe())),
    })
}

/// What a choice comes to.
enum Pick {
    /// The adapter of this index.
    Adapter(usize),
    /// The CPU backend, with the reason if nobody asked for it.
    Cpu { why: String },
}

impl DeviceChoice {
    /// What `auto` stands for, and the text of `BOCHNER_DEVICE` if that decided it.
    fn resolve(&self) -> (Self, Option<String>) {
        match (self, std::env::var(DEVICE_VARIABLE)) {
            (Self::Auto, Ok(text)) => (text.parse().unwrap_or_default(), Some(text)),
            _ => (self.clone(), None),
        }
    }
}

fn pick(choice: &DeviceChoice, found: &[&AdapterReport], reason: Option<&str>) -> Result<Pick> {
    let why = || why_no_gpu(found, reason);
    let index = match choice {
        DeviceChoice::Cpu => return Ok(Pick::Cpu { why: String::new() }),
        DeviceChoice::Named(name) => {
            let wanted = name.to_ascii_lowercase();
            let holds = |r: &&AdapterReport| r.name.to_ascii_lowercase().contains(&wanted);
            let usable = |r: &&AdapterReport| holds(r) && r.refusal.is_none();
            if let Some(index) = found.iter().position(usable) {
                return Ok(Pick::Adapter(index));
            }
            // One that is refused says why.
            if let Some(refused) = found.iter().find(|r| holds(r)) {
                refused.require_usable()?;
            }
            return Err(Error::device(format!(
                "no adapter is called {name:?}; there are: {}; use one of these, cpu, gpu or auto",
                names(found, reason)
            )));
        }
        _ => found.iter().position(|r| is_automatic(r)),
    };
    match (index, choice) {
        (Some(index), _) => Ok(Pick::Adapter(index)),
        (None, DeviceChoice::Gpu) => Err(Error::device(format!("no GPU: {}", why()))
            .help(Remedy::UseCpu)
            .help(Remedy::NameAdapter)),
        (None, _) => Ok(Pick::Cpu {
            why: format!("no GPU: {}", why()),
        }),
    }
}

/// `auto` and `gpu` take real GPUs that are large enough.
fn is_automatic(report: &AdapterReport) -> bool {
    report.kind != AdapterKind::Software && report.refusal.is_none()
}

fn why_no_gpu(reports: &[&AdapterReport], reason: Option<&str>) -> String {
    if let Some(reason) = reason {
        return reason.to_owned();
    }
    let each: Vec<_> = reports
        .iter()
        .map(|r| match &r.refusal {
            Some(refusal) => format!("{} is too small ({refusal})", r.name),
            None => format!("{} is a {} adapter", r.name, r.kind),
        })
        .collect();
    each.join(", ")
}

fn names(reports: &[&AdapterReport], reason: Option<&str>) -> String {
    let each: Vec<_> = reports.iter().map(|r| format!("{:?}", r.name)).collect();
    match (each.is_empty(), reason) {
        (false, _) => each.join(", "),
        (true, Some(reason)) => format!("none ({reason})"),
        (true, None) => "none".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(name: &str, kind: AdapterKind, refusal: Option<&str>) -> AdapterReport {
        AdapterReport {
            refusal: refusal.map(Into::into),
            ..AdapterReport::example(name, kind)
        }
    }

    /// The index taken, or why it is the CPU.
    fn pick_index(
        choice: &DeviceChoice,
        found: &[AdapterReport],
    ) -> Result<std::result::Result<usize, String>> {
        let found: Vec<_> = found.iter().collect();
        Ok(match pick(choice, &found, None)? {
            Pick::Adapter(index) => Ok(index),
            Pick::Cpu { why } => Err(why),
        })
    }

    #[test]
    fn auto_and_gpu_take_the_first_real_adapter_that_is_large_enough() {
        use AdapterKind::{Discrete, Integrated, Software};
        let small = Some("max_storage_buffers_per_shader_stage is 4, bochner needs 8");
        let all = [
            adapter("Raster", Software, None),
            adapter("Tiny", Discrete, small),
            adapter("Chip", Integrated, None),
            adapter("Card", Discrete, None),
            adapter("Tiny Card", Discrete, None),
        ];
        for choice in [DeviceChoice::Auto, DeviceChoice::Gpu] {
            assert_eq!(pick_index(&choice, &all).expect("one"), Ok(2), "{choice:?}");
        }
        assert_eq!(
            pick_index(&DeviceChoice::Cpu, &all).expect("it"),
            Err(String::new())
        );
        // A name is a part of one, whatever the case and the kind.
        let named = |name: &str| pick_index(&DeviceChoice::Named(name.into()), &all);
        assert_eq!(named("RAST").expect("one"), Ok(0));
        assert_eq!(named("card").expect("one"), Ok(3));
        // One that can be used before one that cannot, which alone says why.
        assert_eq!(named("tiny").expect("one"), Ok(4));
        let alone = pick_index(&DeviceChoice::Named("tiny".into()), &all[..2]);
        let message = alone.expect_err("refused").to_string();
        assert!(
            message.contains("Tiny") && message.contains("bochner needs 8"),
            "{message}"
        );
        let message = named("other").expect_err("none").to_string();
        assert!(
            message.contains("\"other\"") && message.contains("\"Chip\""),
            "{message}"
        );

        // Without a real one: `auto` says why, `gpu` refuses with the same words.
        let why = pick_index(&DeviceChoice::Auto, &all[..2])
            .expect("the CPU")
            .expect_err("no GPU");
        let message = pick_index(&DeviceChoice::Gpu, &all[..2])
            .expect_err("no GPU")
            .to_string();
        for words in [
            "Raster is a software adapter",
            "Tiny is too small",
            "bochner needs 8",
        ] {
            assert!(
                why.contains(words) && message.contains(words),
                "{why}; {message}"
            );
        }
    }
}
