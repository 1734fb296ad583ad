//! Compiled pipelines on disk, so that the next process need not wait for the driver's compiler.

use super::driver_code;
use crate::device::cache::Cache;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The name of the entries in the cache.
const NAME: &str = "pipelines";
/// So many new pipelines are stored without waiting for the end of the process, which may never
/// come in good order.
const MANY: usize = 16;

/// The driver's pipelines with their place on disk. Nothing of it is needed: a device does without
/// it.
pub(super) struct SavedPipelines {
    pipelines: wgpu::PipelineCache,
    disk: Cache,
    key: String,
    /// What the driver gave when it was last loaded or stored.
    stored: std::sync::Mutex<Vec<u8>>,
    /// Pipelines built since then.
    new: AtomicUsize,
}

impl SavedPipelines {
    /// What is stored for this adapter and driver; `None` for a device that does not support it.
    pub(super) fn load(
        device: &wgpu::Device,
        info: &wgpu::AdapterInfo,
        disk: Cache,
    ) -> Option<Self> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let key = key(info)?;
        let stored = disk.load(NAME, &key).unwrap_or_default();
        let data = (!stored.is_empty()).then_some(&*stored);
        Some(Self {
            pipelines: driver_code::pipeline_cache(device, data),
            disk,
            key,
            stored: stored.into(),
            new: AtomicUsize::new(0),
        })
    }

    pub(super) fn pipelines(&self) -> &wgpu::PipelineCache {
        &self.pipelines
    }

    /// A pipeline was built. The build took the driver longer than a rare write takes now.
    pub(super) fn built(&self) {
        if self.new.fetch_add(1, Ordering::Relaxed) + 1 >= MANY {
            self.store();
        }
    }

    /// Writes the pipelines to disk if there are new ones that the file does not hold.
    pub(super) fn store(&self) {
        if self.new.swap(0, Ordering::Relaxed) == 0 {
            return;
        }
        let Some(data) = self.pipelines.get_data() else {
            return;
        };
        let mut stored = super::lock(&self.stored);
        if *stored != data {
            self.disk.store(NAME, &self.key, &data);
            *stored = data;
        }
    }
}

/// What compiled pipelines are valid for.
fn key(info: &wgpu::AdapterInfo) -> Option<String> {
    let wgpu_key = wgpu::util::pipeline_cache_key(info)?;
    let wgpu::AdapterInfo {
        name,
        driver,
        driver_info,
        ..
    } = info;
    Some(format!("{wgpu_key} {name} {driver} {driver_info}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device, Matrix, Result,
        features::{Affine, Fastfood, FeatureMap, Fourier, LoadedMap},
        kernels::Gaussian,
        ops::{gram::GramAccumulator, product::product, walsh_hadamard::WalshHadamard},
    };
    use std::{
        fs,
        path::{Path, PathBuf},
        time::Instant,
    };

    /// Every adapter, opened with a cache of its own. Of twins, which share a file, the first.
    fn open(cache: &Cache) -> Vec<Device> {
        let (found, _) = super::super::visible_adapters();
        let mut seen = std::collections::HashSet::new();
        let usable = found.into_iter().filter(|(adapter, report)| {
            report.refusal.is_none() && seen.insert(key(&adapter.get_info()))
        });
        let opened = usable.map(|(adapter, report)| {
            super::super::adapter::open_with(&adapter, report, cache.clone()).map(Device::Gpu)
        });
        opened.collect::<Result<_>>().expect("opens")
    }

    /// The first use of each op, and the same again.
    fn uses(device: &Device) -> Vec<(&'static str, f64, f64)> {
        let (rows, d, features) = (64, 64, 128);
        let matrix = |rows, cols| {
            let host = crate::check::normal(rows, cols, 0);
            Matrix::upload(device, host.view()).expect("fits")
        };
        let load = |map: &dyn FeatureMap| map.load(device).expect("loads");
        let fourier = Fourier::new(Gaussian)
            .features(features)
            .build(Affine::identity(d));
        let fastfood = Fastfood::new(Gaussian)
            .features(features)
            .build(Affine::identity(d));
        let mut dense: Box<dyn LoadedMap> = load(&fourier.expect("builds"));
        let mut structured: Box<dyn LoadedMap> = load(&fastfood.expect("builds"));
        let mut sums = GramAccumulator::new(device, features, 1).expect("fits");
        let transform = WalshHadamard::new(d).expect("a power of two");
        let x_nd = matrix(rows, d);
        let (mut in_place, mut z_nd, beta_dt) =
            (matrix(rows, d), matrix(rows, features), matrix(features, 1));
        let (mut y_nt, b_kt, mut c_nt) = (matrix(rows, 1), matrix(d, 8), matrix(rows, 8));
        let mut timed = Vec::new();
        let mut time = |name, work: &mut dyn FnMut() -> Result<()>| {
            let mut run = || {
                let start = Instant::now();
                work().and_then(|()| device.synchronize()).expect("runs");
                start.elapsed().as_secs_f64()
            };
            timed.push((name, run(), run()));
        };
        time("projection", &mut || dense.featurize(&x_nd, &mut z_nd));
        time("predict", &mut || dense.predict(&x_nd, &beta_dt, &mut y_nt));
        time("Gram", &mut || {
            sums.add(&z_nd, &y_nt)?;
            sums.settle()
        });
        time("product", &mut || product(&x_nd, &b_kt, &mut c_nt));
        time("Walsh-Hadamard", &mut || transform.run(&mut in_place));
        time("Fastfood", &mut || structured.featurize(&x_nd, &mut z_nd));
        timed
    }

    fn features(device: &Device) -> Vec<f32> {
        let map = Fourier::new(Gaussian)
            .features(32)
            .build(Affine::identity(5));
        let mut loaded = map.expect("builds").load(device).expect("loads");
        let x = crate::check::normal(9, 5, 1);
        let x_nd = Matrix::upload(device, x.view()).expect("fits");
        let mut z_nd = Matrix::new(device, 9, 32).expect("fits");
        loaded.featurize(&x_nd, &mut z_nd).expect("runs");
        z_nd.download().expect("reads back").into_iter().collect()
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    #[test]
    fn whatever_the_files_hold_the_numbers_are_the_same_and_the_files_whole_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let without: Vec<_> = open(&Cache::default()).iter().map(features).collect();
        let with = |devices: Vec<Device>| devices.iter().map(features).collect::<Vec<_>>();
        let supported = open(&cache)
            .iter()
            .filter(|d| d.gpu().unwrap().0.saved.is_some())
            .count();
        assert_eq!(files(folder.path()).len(), 0, "nothing was built");
        assert_eq!(with(open(&cache)), without);
        let written = files(folder.path());
        assert_eq!(written.len(), supported);
        let sound: Vec<_> = written.iter().map(|path| fs::read(path).unwrap()).collect();
        assert_eq!(with(open(&cache)), without);
        // Damaged: found by the cache. Foreign: sound for the cache, but not what a driver gave.
        for (path, bytes) in written.iter().zip(&sound) {
            fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        }
        assert_eq!(with(open(&cache)), without);
        let holds = |path: &Path, content: &[u8]| {
            let bytes = fs::read(path).unwrap();
            bytes.windows(content.len()).any(|part| part == content)
        };
        for path in &written {
            assert!(
                holds(path, b"WGPUPLCH"),
                "{} was not written again",
                path.display()
            );
        }
        for device in open(&cache) {
            if let Some(saved) = &device.gpu().unwrap().0.saved {
                cache.store(NAME, &saved.key, b"WGPUPLCH and then nothing of the kind");
            }
        }
        for path in &written {
            assert!(holds(path, b"nothing of the kind"));
        }
        assert_eq!(with(open(&cache)), without);
        for path in &written {
            assert!(
                !holds(path, b"nothing of the kind"),
                "{} was kept",
                path.display()
            );
        }
    }

    /// A folder of caches may be copied from another machine, or a card be replaced by its twin.
    #[test]
    fn pipelines_of_another_device_are_built_anew() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let without: Vec<_> = open(&cache).iter().map(features).collect();
        // wgpu's header: magic (8 bytes), version (4), ABI (4), backend (1), vendor and device
        // (15).
        for (at, what) in [(16, "backend"), (17, "vendor"), (31, "device")] {
            let mut foreign = Vec::new();
            for device in open(&cache) {
                let Some(saved) = &device.gpu().unwrap().0.saved else {
                    continue;
                };
                let mut content = cache.load(NAME, &saved.key).expect("was stored");
                assert!(content.starts_with(b"WGPUPLCH"));
                content[at] ^= 1;
                cache.store(NAME, &saved.key, &content);
                foreign.push((saved.key.clone(), content));
            }
            let with: Vec<_> = open(&cache).iter().map(features).collect();
            assert_eq!(with, without, "another {what}");
            for (key, content) in foreign {
                assert!(
                    cache.load(NAME, &key).is_some_and(|now| now != content),
                    "{what} was kept"
                );
            }
        }
    }

    #[test]
    fn many_new_pipelines_are_stored_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for device in open(&Cache::at(folder.path())) {
            let Some(saved) = &device.gpu().unwrap().0.saved else {
                continue;
            };
            let before = files(folder.path()).len();
            for _ in 1..MANY {
                saved.built();
            }
            assert_eq!(files(folder.path()).len(), before);
            saved.built();
            assert_eq!(files(folder.path()).len(), before + 1);
        }
    }

    #[test]
    #[ignore = "a measurement: MESA_SHADER_CACHE_DISABLE=true cargo test --release --lib start_up \
     -- --ignored --nocapture"]
    fn start_up() {
        let folder = tempfile::tempdir().unwrap();
        let warm = Cache::at(folder.path());
        drop(open(&warm).iter().map(uses).collect::<Vec<_>>());
        for round in 0..3 {
            for (label, cache) in [("without", Cache::default()), ("with", warm.clone())] {
                for device in open(&cache) {
                    println!("round {round}, {label}, {}", device.describe());
                    for (name, first, second) in uses(&device) {
                        println!(
                            "  {name:16} {:7.1} ms more at first",
                            1e3 * (first - second)
                        );
                    }
                }
            }
        }
        for path in files(folder.path()) {
            println!("{} bytes", fs::metadata(path).unwrap().len());
        }
    }
}
