//! Unsafe code: what a driver is given unchecked.
#![allow(
    unsafe_code,
    reason = "wgpu has no safe way to go without its checks or to load pipelines"
)]

use super::scope::caught;

/// What wgpu adds to a shader for safety.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Checks {
    /// Loops count their rounds, to be sure of ending.
    pub(super) loops: bool,
    /// Indices are clamped to what they point into.
    pub(super) indices: bool,
}

/// A shader module with these checks. It may go without those of indices only where the op says so
/// ([`super::Op::is_unchecked`]) and the backend guards buffers ([`guards_buffers`]).
pub(super) fn shader_module(
    device: &wgpu::Device,
    descriptor: wgpu::ShaderModuleDescriptor<'_>,
    checks: Checks,
) -> wgpu::ShaderModule {
    let checks = wgpu::ShaderRuntimeChecks {
        force_loop_bounding: checks.loops,
        bounds_checks: checks.indices,
        ..wgpu::ShaderRuntimeChecks::checked()
    };
    // SAFETY: wgpu asks that no loop be endless. All shaders are our own, from shaders/; what users
    // write becomes part of one as an expression alone, which has no loops:
    // ops/nonlinearity/expression.rs holds it to that. Every loop in them counts up by a constant
    // to a bound that no round changes, a number of rows, columns, tiles or rounds far from the end
    // of u32; the one exception counts down by at least one. tests/cpu/shaders.rs looks at each
    // loop.
    //
    // And it asks that no index lie outside of what it points into, where indices are not checked.
    // Those into workgroup memory and into vectors follow from the place of an invocation and from
    // constants alone: tests/cpu/indices.rs walks every variant with every invocation of a
    // workgroup and sees each of them. Users' expressions have no index: no bracket is taken. Those
    // into storage buffers are for the device, which guards them by itself: wgpu opens every Vulkan
    // device with robustBufferAccess, and Direct3D 12 defines what lies beyond a view in a table,
    // where wgpu puts all buffers without dynamic offsets; ours have none.
    unsafe { device.create_shader_module_trusted(descriptor, checks) }
}

/// Whether devices of a backend, as [`super::AdapterReport`] names it, keep shaders inside their
/// buffers without wgpu's help. Metal's do not, and a browser does as it likes.
pub(super) fn guards_buffers(backend: &str) -> bool {
    ["Vulkan", "Dx12"].contains(&backend)
}

/// What opens a device with features that wgpu calls experimental: cooperative matrices alone.
pub(super) fn experimental_features() -> wgpu::ExperimentalFeatures {
    // SAFETY: wgpu asks who enables them to expect gaps in what it checks. Two shaders use them,
    // projection_units.wgsl and gram_units.wgsl: a fragment is loaded and stored at places that
    // follow from the subgroup's number, taken modulo the number of subgroups that there is room
    // for, and from constants, so that it lies inside of its array.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}

/// Compiled pipelines that the driver takes from `data` and adds to; empty where it cannot use
/// `data`.
///
/// `data` must be what [`wgpu::PipelineCache::get_data`] gave for the same adapter and driver, or
/// `None`.
pub(super) fn pipeline_cache(device: &wgpu::Device, data: Option<&[u8]>) -> wgpu::PipelineCache {
    let create = |data| {
        let descriptor = wgpu::PipelineCacheDescriptor {
            label: Some("pipelines"),
            data,
            // Data that wgpu or the driver does not know is no error: pipelines are built anew.
            fallback: true,
        };
        // SAFETY: wgpu asks that the data come from `get_data`. Ours come from a file of
        // `device::cache`, which is given up unless its check sum holds and it was written by this
        // version for this very adapter and driver, all of whose names are its key; wgpu checks
        // vendor, device and driver version in a header of its own, and Vulkan drivers their
        // identifier in theirs. Damage by accident is thus found before the driver sees it. Who can
        // write the user's cache folder on purpose can also write what drivers keep there
        // themselves.
        unsafe { device.create_pipeline_cache(&descriptor) }
    };
    // The one exception: wgpu takes data of another device for the caller's fault, which no
    // fallback covers.
    let (cache, foreign) = caught(device, &[wgpu::ErrorFilter::Validation], || create(data));
    match foreign {
        None => cache,
        Some(e) => {
            log::info!("the cached pipelines are another device's and will be written again: {e}");
            create(None)
        }
    }
}
