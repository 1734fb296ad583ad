//! Pipelines, built once per op variant, and the recording of dispatches.

use super::{
    GpuDevice, Recorder, SubmissionPart,
    driver_code::{self, Checks},
    lock,
    op::{Binding, Op, Variant},
    saved::SavedPipelines,
    scope::caught,
};
use crate::{Error, Result, clock::Instant, error::Remedy, text::one_line};
use std::{
    collections::HashMap,
    iter,
    sync::{Arc, Mutex},
};

/// Every pipeline has a slot that is locked while it is built: others are built and found
/// meanwhile.
#[derive(Default)]
pub(super) struct Pipelines(Mutex<HashMap<(&'static str, Variant), Arc<Slot>>>);

type Slot = Mutex<Option<Arc<Built>>>;

struct Built {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

/// One dispatch of an op.
pub(crate) struct Dispatch<'a> {
    pub op: &'static Op,
    pub variant: Variant,
    /// The uniform parameters, 256 bytes at most.
    pub params: &'a [u8],
    /// The storage buffers, in the order of the op's bindings.
    pub buffers: &'a [&'a wgpu::Buffer],
    pub workgroups: [u32; 3],
    /// About how many operations it takes.
    pub work: f64,
}

impl GpuDevice {
    /// Records one dispatch; the device starts on it at the next submission.
    pub(crate) fn dispatch(&self, dispatch: &Dispatch<'_>) -> Result<()> {
        self.0.faults.alive()?;
        let limit = self.0.limits.max_compute_workgroups_per_dimension;
        if let Some(&groups) = dispatch.workgroups.iter().find(|&&g| g > limit) {
            return Err(Error::Limit {
                what: format!("one dispatch of {}", dispatch.op.name),
                needed: format!("{groups} workgroups"),
                allowed: limit.to_string(),
                remedies: vec![Remedy::LessMemory],
            });
        }
        if dispatch.workgroups.contains(&0) {
            return Ok(());
        }
        let built = self.built(dispatch)?;
        let share = dispatch.work / self.0.speed.most_work(dispatch.op.name);
        // A browser has no time on the spot, and timestamps are of what is timed and nothing else.
        let asks = self.0.speed.asks(dispatch.op.name, dispatch.work);
        if asks && !cfg!(target_family = "wasm") && !self.is_timing() {
            return self.timed(dispatch, share, &built);
        }
        let mut recorder = lock(&self.0.recorder);
        if recorder.part.is_full(share) {
            self.submit(&mut recorder);
        }
        self.record(&mut recorder, dispatch, share, &built);
        Ok(())
    }

    /// Does a dispatch alone, to learn from its time how much a submission should have. Other
    /// threads may use the device meanwhile, which makes it longer, and submissions smaller.
    fn timed(&self, dispatch: &Dispatch<'_>, share: f64, built: &Built) -> Result<()> {
        self.flush();
        self.wait(None)?;
        let start = Instant::now();
        let submission = {
            let mut recorder = lock(&self.0.recorder);
            self.record(&mut recorder, dispatch, share, built);
            self.submit(&mut recorder)
        };
        self.wait(submission)?;
        let seconds = start.elapsed().as_secs_f64();
        self.0.speed.learn(dispatch.op.name, dispatch.work, seconds);
        Ok(())
    }

    fn record(&self, recorder: &mut Recorder, dispatch: &Dispatch<'_>, share: f64, built: &Built) {
        let device = &self.0.device;
        let uniforms = recorder.uniforms.get_or_insert_with(|| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("uniforms"),
                size: SubmissionPart::PARAMS_BYTES,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        });
        // Uniform structs are whole multiples of 16 bytes on some drivers.
        let size = (dispatch.op.params_bytes as u64).next_multiple_of(16);
        let params = wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: uniforms,
                offset: recorder.part.add(dispatch.params, share),
                size: wgpu::BufferSize::new(size),
            }),
        };
        let buffers = (1..).zip(dispatch.buffers).map(|(binding, buffer)| {
            let resource = buffer.as_entire_binding();
            wgpu::BindGroupEntry { binding, resource }
        });
        let entries: Vec<_> = iter::once(params).chain(buffers).collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(dispatch.op.name),
            layout: &built.layout,
            entries: &entries,
        });
        let issue = |pass: &mut wgpu::ComputePass<'_>| {
            pass.set_pipeline(&built.pipeline);
            pass.set_bind_group(0, &group, &[]);
            let [x, y, z] = dispatch.workgroups;
            pass.dispatch_workgroups(x, y, z);
        };
        if let Some(mut timing) = recorder.timing.take() {
            // Timestamps are those of passes: each dispatch is one.
            let writes = timing.writes();
            let encoder = self.encoder(recorder);
            issue(
                &mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: None,
                    timestamp_writes: writes,
                }),
            );
            recorder.timing = Some(timing);
            return;
        }
        if recorder.pass.is_none() {
            let pass = self
                .encoder(recorder)
                .begin_compute_pass(&Default::default());
            recorder.pass = Some(pass.forget_lifetime());
        }
        if let Some(pass) = &mut recorder.pass {
            issue(pass);
        }
    }

    fn built(&self, dispatch: &Dispatch<'_>) -> Result<Arc<Built>> {
        let op = dispatch.op;
        let slot = lock(&self.0.pipelines.0)
            .entry((op.name, dispatch.variant.clone()))
            .or_default()
            .clone();
        let mut slot = lock(&slot);
        if let Some(found) = &*slot {
            return Ok(found.clone());
        }
        let new = Arc::new(self.build(op, &dispatch.variant)?);
        *slot = Some(new.clone());
        Ok(new)
    }

    fn build(&self, op: &Op, variant: &Variant) -> Result<Built> {
        let key = &*format!("{}{variant}", op.name);
        let text = op.text(variant)?;
        let device = &self.0.device;
        // A driver's compiler that fails is an internal error, or has no memory left.
        let kinds = [
            wgpu::ErrorFilter::OutOfMemory,
            wgpu::ErrorFilter::Internal,
            wgpu::ErrorFilter::Validation,
        ];
        let (built, fault) = caught(device, &kinds, || {
            let descriptor = wgpu::ShaderModuleDescriptor {
                label: Some(key),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            };
            let module = driver_code::shader_module(device, descriptor, self.checks(op));
            let layout = bind_group_layout(device, op);
            let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(op.name),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(key),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &[],
                    // Every shader writes what it reads of workgroup memory: parity runs check it.
                    zero_initialize_workgroup_memory: false,
                },
                cache: self.0.saved.as_ref().map(SavedPipelines::pipelines),
            });
            Built { pipeline, layout }
        });
        match &fault {
            None => {
                if let Some(saved) = &self.0.saved {
                    saved.built();
                }
                Ok(built)
            }
            Some(e @ wgpu::Error::OutOfMemory { .. }) => Err(Error::device(format!(
                "{} has no memory to build shader {key}: {}",
                self.describe(),
                one_line(&e.to_string())
            ))),
            Some(e) => Err(Error::shader(format!(
                "shader {key} does not build on {}: {}",
                self.describe(),
                one_line(&e.to_string())
            ))),
        }
    }

    /// What is checked in an op's shaders while they run.
    fn checks(&self, op: &Op) -> Checks {
        let all = self.checks_all();
        let guards = driver_code::guards_buffers(&self.0.report.backend);
        Checks {
            loops: all,
            indices: all || !guards || !op.is_unchecked(),
        }
    }

    /// Whether shaders have every check: in debug builds, where `BOCHNER_CHECKS` is `all`, and
    /// where a test asks for it.
    fn checks_all(&self) -> bool {
        #[cfg(test)]
        if self.0.checked.load(std::sync::atomic::Ordering::Relaxed) {
            return true;
        }
        cfg!(debug_assertions) || std::env::var_os("BOCHNER_CHECKS").is_some_and(|v| v == "all")
    }
}

/// How the buffers of an op are bound: its parameters, then those it reads and writes.
fn bind_group_layout(device: &wgpu::Device, op: &Op) -> wgpu::BindGroupLayout {
    let entry = |i: usize, ty: wgpu::BufferBindingType| wgpu::BindGroupLayoutEntry {
        binding: i as u32,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform)];
    entries.extend(op.bindings.iter().enumerate().map(|(i, binding)| {
        let read_only = matches!(binding, Binding::Read(_));
        entry(i + 1, wgpu::BufferBindingType::Storage { read_only })
    }));
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(op.name),
        entries: &entries,
    })
}

#[cfg(test)]
mod tests {
    use crate::{
        Device, Matrix, Result,
        check::Extent,
        features::{Affine, Fastfood, FeatureMap, Fourier},
        kernels::Gaussian,
        ops::{gram::GramAccumulator, walsh_hadamard::WalshHadamard},
    };
    use std::sync::atomic::Ordering;

    /// Every adapter with every check of wgpu in its shaders, or as users have them.
    fn open(checked: bool) -> Vec<Device> {
        let devices = crate::under_test::gpus();
        for device in &devices {
            let inner = &device.gpu().expect("a GPU").0;
            inner.checked.store(checked, Ordering::Relaxed);
        }
        devices
    }

    /// What tests/devices/parity.rs runs as users do, with every check that wgpu has.
    #[test]
    fn every_op_agrees_with_f64_under_all_checks_too_on_devices() {
        for device in open(true) {
            let gpu = device.gpu().expect("a GPU");
            // Nothing is read that was not written, and work may be split anywhere.
            gpu.poison_memory();
            gpu.0.small_dispatches.store(true, Ordering::Relaxed);
            for row in crate::registry::REGISTRY {
                let outcome = (row.check)(&device, Extent::of_tests()).expect("runs");
                assert!(outcome.passed(), "{} on {device:?}: {outcome:?}", row.op);
            }
        }
    }

    type Work = Box<dyn FnMut() -> Result<()>>;

    fn works(device: &Device) -> Vec<(&'static str, Work)> {
        let up = |rows, cols| {
            Matrix::upload(device, crate::check::normal(rows, cols, 0).view()).expect("fits")
        };
        let load = |map: &dyn FeatureMap| map.load(device).expect("loads");
        let (rows, d) = (256, 256);
        let fourier = Fourier::new(Gaussian)
            .features(512)
            .build(Affine::identity(d));
        let fastfood = Fastfood::new(Gaussian)
            .features(1024)
            .build(Affine::identity(d));
        let mut dense = load(&fourier.expect("builds"));
        let mut structured = load(&fastfood.expect("builds"));
        let mut sums = GramAccumulator::new(device, d, 1).expect("fits");
        let transform = WalshHadamard::new(1024).expect("a power of two");
        let (x1, x2, x3, y) = (up(rows, d), up(rows, d), up(rows, d), up(rows, 1));
        let (mut z1, mut z2, mut in_place) = (up(rows, 512), up(rows, 1024), up(rows, 1024));
        vec![
            (
                "projection",
                Box::new(move || dense.featurize(&x1, &mut z1)),
            ),
            (
                "Gram",
                Box::new(move || {
                    sums.add(&x2, &y)?;
                    sums.settle()
                }),
            ),
            (
                "Fastfood",
                Box::new(move || structured.featurize(&x3, &mut z2)),
            ),
            (
                "Walsh-Hadamard",
                Box::new(move || transform.run(&mut in_place)),
            ),
        ]
    }

    #[test]
    #[ignore = "a measurement: cargo test --release --lib runtime_checks -- --ignored --nocapture"]
    fn runtime_checks_on_devices() {
        for devices in open(true).into_iter().zip(open(false)) {
            let devices: [Device; 2] = devices.into();
            println!("{}", devices[0].describe());
            let mut both = [works(&devices[0]), works(&devices[1])];
            for op in 0..both[0].len() {
                let mut times = [Vec::new(), Vec::new()];
                for round in 0..41 {
                    for k in [round % 2, 1 - round % 2] {
                        let gpu = devices[k].gpu().expect("a GPU");
                        let seconds = gpu.time(1, &mut both[k][op].1).expect("runs")[0];
                        // The first round compiles.
                        if round > 0 {
                            times[k].push(seconds);
                        }
                    }
                }
                let median = times.map(|mut t| {
                    t.sort_by(f64::total_cmp);
                    t[t.len() / 2]
                });
                let name = both[0][op].0;
                println!(
                    "  {name:16} as users have it / with every check {:.2}",
                    median[1] / median[0]
                );
            }
        }
    }
}
