//! Adapters: which there are, whether they are large enough, and opening one.

use super::{GpuDevice, binding_limit, driver_code, saved::SavedPipelines, units};
use crate::text::{human_bytes, one_line};
use crate::{Error, Result, device::cache::Cache, error::Remedy, wait::wait};
use std::fmt;

/// Intel's number on PCI.
const INTEL: u32 = 0x8086;

/// What an adapter is, in the order in which `auto` prefers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdapterKind {
    /// A card with memory of its own.
    Discrete,
    /// A GPU that shares the CPU's memory.
    Integrated,
    /// A GPU seen through a hypervisor.
    Virtual,
    /// The driver does not say.
    Other,
    /// A software renderer on the CPU (lavapipe, SwiftShader, WARP): never chosen unless named.
    Software,
}

impl fmt::Display for AdapterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Other => "other",
            Self::Software => "software",
        })
    }
}

/// What is known of an adapter without opening it.
#[derive(Debug, Clone)]
pub struct AdapterReport {
    /// The name as the driver gives it.
    pub name: String,
    /// Its kind.
    pub kind: AdapterKind,
    /// The number of its vendor on PCI; 0 where the driver does not say.
    pub vendor: u32,
    /// Driver and its version.
    pub driver: String,
    /// Vulkan, Metal, DX12 or WebGPU.
    pub backend: String,
    /// Largest binding, bytes.
    pub max_binding_bytes: u64,
    /// Workgroup memory, bytes.
    pub workgroup_bytes: u32,
    /// Invocations in a workgroup.
    pub workgroup_invocations: u32,
    /// Smallest and largest subgroup.
    pub subgroup: (u32, u32),
    /// The side of the fragments of its matrix units that shaders can take, or why there is none.
    pub units: std::result::Result<u32, String>,
    /// Why the adapter cannot be used, or `None`.
    pub refusal: Option<String>,
}

impl AdapterReport {
    fn from_adapter(adapter: &wgpu::Adapter) -> Self {
        let info = adapter.get_info();
        let limits = adapter.limits();
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
            wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
            wgpu::DeviceType::Cpu => AdapterKind::Software,
            wgpu::DeviceType::Other => AdapterKind::Other,
        };
        Self {
            name: info.name,
            kind,
            vendor: info.vendor,
            driver: one_line(&format!("{} {}", info.driver, info.driver_info)),
            backend: format!("{:?}", info.backend),
            max_binding_bytes: binding_limit(&limits),
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
            workgroup_invocations: limits.max_compute_invocations_per_workgroup,
            subgroup: (info.subgroup_min_size, info.subgroup_max_size),
            units: units::side(adapter, &limits),
            refusal: refusal(&limits),
        }
    }

    /// One for tests.
    #[cfg(test)]
    pub(in crate::device) fn example(name: &str, kind: AdapterKind) -> Self {
        Self {
            name: name.into(),
            kind,
            vendor: 0,
            driver: "driver".into(),
            backend: "Vulkan".into(),
            max_binding_bytes: 1 << 30,
            workgroup_bytes: 32_768,
            workgroup_invocations: 1024,
            subgroup: (32, 32),
            units: Err("the driver lists none".into()),
            refusal: None,
        }
    }

    /// The kind whose tiles suit until something was measured. A discrete GPU of Intel's has the
    /// registers of its integrated ones: 64 sums of 16 lanes fill the 4096 bytes that a thread has.
    pub(crate) fn tiles_of(&self) -> AdapterKind {
        match self.kind {
            AdapterKind::Discrete if self.vendor == INTEL => AdapterKind::Integrated,
            kind => kind,
        }
    }

    /// The size of every subgroup, where the driver names one size and not a range.
    fn fixed_subgroup(&self) -> Option<u32> {
        let (least, most) = self.subgroup;
        let fixed = least == most && [4, 8, 16, 32, 64].contains(&most);
        fixed.then_some(most)
    }

    /// Errors if the adapter is refused, saying why.
    pub(in crate::device) fn require_usable(&self) -> Result<()> {
        match &self.refusal {
            None => Ok(()),
            Some(why) => {
                let problem = format!("{} is too small: {why}", self.describe());
                Err(Error::device(problem).help(Remedy::UseCpu))
            }
        }
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        format!(
            "{} ({}, {}, {})",
            self.name, self.kind, self.backend, self.driver
        )
    }
}

/// The first limit that is too small for the shaders, by name.
fn refusal(limits: &wgpu::Limits) -> Option<String> {
    let needs: [(&str, u64, u64); 5] = [
        (
            "max_compute_workgroup_storage_size",
            limits.max_compute_workgroup_storage_size.into(),
            16_384,
        ),
        (
            "max_compute_invocations_per_workgroup",
            limits.max_compute_invocations_per_workgroup.into(),
            256,
        ),
        (
            "max_compute_workgroups_per_dimension",
            limits.max_compute_workgroups_per_dimension.into(),
            65_535,
        ),
        (
            "max_storage_buffers_per_shader_stage",
            limits.max_storage_buffers_per_shader_stage.into(),
            8,
        ),
        (
            "max_storage_buffer_binding_size",
            binding_limit(limits),
            64 << 20,
        ),
    ];
    needs
        .iter()
        .find(|(_, has, needed)| has < needed)
        .map(|(name, has, needed)| format!("{name} is {has}, bochner needs {needed}"))
}

/// Every adapter that the system's drivers show, in the order of `auto`, and wgpu's reason when
/// there is none. In a browser, where they are not there on the spot, none.
pub(in crate::device) fn adapters() -> Found {
    let found = wait(async { Ok(adapters_later().await) });
    found.unwrap_or_else(|later| (Vec::new(), Some(later.to_string())))
}

/// Adapters, best first, and why there is none.
pub(in crate::device) type Found = (Vec<(wgpu::Adapter, AdapterReport)>, Option<String>);

/// As [`adapters`], in a browser too.
pub(in crate::device) async fn adapters_later() -> Found {
    let backends = wgpu::Backends::PRIMARY.with_env();
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    // Validation layers are for those who ask through WGPU_VALIDATION.
    descriptor.flags = wgpu::InstanceFlags::empty().with_env();
    // DX12 takes DXC where `dxcompiler.dll` is found, beside the program or on the PATH, and FXC,
    // which takes seconds for a shader, where it is not. WGPU_DX12_COMPILER decides otherwise.
    descriptor.backend_options.dx12.shader_compiler = wgpu::Dx12Compiler::Auto;
    descriptor.backend_options = descriptor.backend_options.with_env();
    let instance = wgpu::Instance::new(descriptor);
    let mut found: Vec<_> = instance
        .enumerate_adapters(backends)
        .await
        .into_iter()
        .map(|adapter| {
            let report = AdapterReport::from_adapter(&adapter);
            (adapter, report)
        })
        .collect();
    found.sort_by_key(|(_, report)| report.kind);
    if !found.is_empty() {
        return (found, None);
    }
    let any = wgpu::RequestAdapterOptions::default();
    let reason = match instance.request_adapter(&any).await {
        Err(e) => one_line(&e.to_string()),
        Ok(_) => "no adapter is enumerated".into(),
    };
    (found, Some(reason))
}

/// Opens an adapter with all the limits that it has, and with the pipelines that the user's cache
/// holds for it.
pub(in crate::device) fn open(adapter: &wgpu::Adapter, report: AdapterReport) -> Result<GpuDevice> {
    open_with(adapter, report, Cache::user())
}

/// As [`open`], in a browser too.
pub(in crate::device) async fn open_later(
    adapter: &wgpu::Adapter,
    report: AdapterReport,
) -> Result<GpuDevice> {
    open_with_later(adapter, report, Cache::user()).await
}

/// As [`open`], with the pipelines of any cache.
pub(super) fn open_with(
    adapter: &wgpu::Adapter,
    report: AdapterReport,
    cache: Cache,
) -> Result<GpuDevice> {
    wait(open_with_later(adapter, report, cache))
}

async fn open_with_later(
    adapter: &wgpu::Adapter,
    mut report: AdapterReport,
    cache: Cache,
) -> Result<GpuDevice> {
    report.require_usable()?;
    let mut wanted = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::PIPELINE_CACHE;
    // Elsewhere it would do nothing but let drivers vary the subgroups of every pipeline. A browser
    // asks shaders to say that they shuffle, in words that other compilers do not take.
    if report.fixed_subgroup().is_some() && !cfg!(target_family = "wasm") {
        wanted |= wgpu::Features::SUBGROUP;
    }
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("bochner"),
        required_features: adapter.features() & wanted,
        required_limits: adapter.limits(),
        ..Default::default()
    };
    let mut opened = None;
    if report.units.is_ok() {
        let with_units = wgpu::DeviceDescriptor {
            required_features: descriptor.required_features | units::FEATURES,
            experimental_features: driver_code::experimental_features(),
            ..descriptor.clone()
        };
        match adapter.request_device(&with_units).await {
            Ok(both) => opened = Some(both),
            // Whatever their driver thinks of them, nothing else needs them.
            Err(e) => report.units = Err(one_line(&e.to_string())),
        }
    }
    let opened = match opened {
        Some(both) => Ok(both),
        None => adapter.request_device(&descriptor).await,
    };
    let (device, queue) = opened.map_err(|e| {
        Error::device(format!(
            "{} does not open: {} (largest binding {})",
            report.describe(),
            one_line(&e.to_string()),
            human_bytes(report.max_binding_bytes)
        ))
    })?;
    let saved = SavedPipelines::load(&device, &adapter.get_info(), cache);
    let units = units::Units::usual()?;
    Ok(GpuDevice::new(device, queue, (report, units), saved))
}

impl GpuDevice {
    /// The size of subgroups, where all have the same and shaders may shuffle in them.
    #[doc(hidden)]
    pub fn subgroup(&self) -> Option<u32> {
        let shuffles = self.0.device.features().contains(wgpu::Features::SUBGROUP);
        self.0.report.fixed_subgroup().filter(|_| shuffles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Class, tile};

    #[test]
    fn discrete_gpus_of_intel_start_on_the_tiles_of_integrated_ones() {
        let mut report = AdapterReport::example("any", AdapterKind::Other);
        for (kind, vendor, expected) in [
            (AdapterKind::Discrete, INTEL, AdapterKind::Integrated),
            (AdapterKind::Discrete, 0x10de, AdapterKind::Discrete),
            (AdapterKind::Discrete, 0, AdapterKind::Discrete),
            (AdapterKind::Integrated, INTEL, AdapterKind::Integrated),
            (AdapterKind::Software, INTEL, AdapterKind::Software),
        ] {
            (report.kind, report.vendor) = (kind, vendor);
            assert_eq!(report.tiles_of(), expected, "{kind} {vendor:x}");
            // 4 x 8 sums an invocation and no more, whatever the work.
            if vendor == INTEL && kind != AdapterKind::Software {
                for &class in Class::ALL {
                    let tile = tile::usual(report.tiles_of(), class);
                    assert!(tile.tm * tile.tn <= 32, "{}", tile.name);
                }
            }
        }
    }
}
