//! The page's device: one for all models, opened anew after it was lost.

use bochner::{Device, DeviceChoice, Error, Result};
use std::cell::RefCell;

thread_local! {
    static GPU: RefCell<Option<Device>> = const { RefCell::new(None) };
}

/// One line for people: a browser says little of an adapter.
pub(crate) fn describe(device: &Device) -> String {
    let Some(gpu) = device.as_gpu() else {
        let vectors = if cfg!(target_feature = "simd128") {
            "vectors of 128 bits"
        } else {
            "no vectors"
        };
        return format!("CPU, WebAssembly, {vectors}");
    };
    match (gpu.report().name.as_str(), gpu.is_software()) {
        ("", true) => "WebGPU, software".into(),
        ("", false) => "WebGPU".into(),
        (name, _) => format!("WebGPU, {name}"),
    }
}

/// The device of a name, and why it is not a GPU where one was hoped for.
pub(crate) async fn open(name: &str) -> Result<(Device, Option<String>)> {
    let choice = match name {
        "auto" => DeviceChoice::Auto,
        "cpu" => DeviceChoice::Cpu,
        // A browser says little of an adapter, and one that is software does as well for a test.
        "gpu" => DeviceChoice::Named(String::new()),
        _ => {
            let problem = format!("no device is called {name:?}; use auto, cpu or gpu");
            return Err(Error::parameter(problem));
        }
    };
    if choice == DeviceChoice::Cpu {
        return Ok((Device::cpu(), None));
    }
    // One that was lost says so here.
    let kept = GPU.with_borrow(Clone::clone).filter(|gpu| {
        let software = gpu.as_gpu().is_some_and(|gpu| gpu.is_software());
        gpu.synchronize().is_ok() && (choice != DeviceChoice::Auto || !software)
    });
    if let Some(gpu) = kept {
        return Ok((gpu, None));
    }
    // The library's words are for those who can name an adapter.
    let opened = Device::open_later(&choice).await.map_err(|error| {
        let none = error.to_string().starts_with("no adapter is called");
        if none {
            Error::device("no GPU: the browser has no adapter for WebGPU; use cpu or auto")
        } else {
            error
        }
    });
    let (device, note) = opened?;
    if device.is_gpu() {
        GPU.set(Some(device.clone()));
    }
    let none = |_| "no GPU: the browser has no adapter for WebGPU that is hardware".to_owned();
    Ok((device, note.map(none)))
}
