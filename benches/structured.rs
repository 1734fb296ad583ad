//! How near the structured ops come to what bounds them: the Walsh-Hadamard transform against a
//! copy and a radix-2 shader, Fastfood and SORF against the dense projection per feature. Rounds
//! are interleaved and medians taken, so that ratios hold on a busy machine too.
//! `cargo bench --bench structured [part of a device's name]`.

mod interleaved;

use bochner::{
    Device, Matrix, Result,
    device::GpuDevice,
    features::{Affine, Fastfood, FeatureMap, Fourier, Sorf},
    form::{Exchange, Way},
    kernels::Gaussian,
    ops::walsh_hadamard::WalshHadamard,
    registry::{self, Variant},
};
use interleaved::{Job, medians};

const ROUNDS: usize = 7;

/// Nanoseconds a feature of each map, and how many times cheaper than dense.
fn maps(device: &Device) -> Result<()> {
    println!("maps, paired, D = 4 d: ns a feature (times cheaper than dense)");
    for d in [64_usize, 128, 256, 512, 784, 1024, 4096] {
        let features = 4 * d.next_power_of_two();
        let rows = (1 << 21) / features;
        let input = || Affine::identity(d);
        let built: [Box<dyn FeatureMap>; 3] = [
            Box::new(Fourier::new(Gaussian).features(features).build(input())?),
            Box::new(Fastfood::new(Gaussian).features(features).build(input())?),
            Box::new(Sorf::new(Gaussian).features(features).build(input())?),
        ];
        let x_nd = Matrix::upload(device, ndarray::Array2::ones((rows, d)).view())?;
        let mut jobs: Vec<Job<'_>> = Vec::new();
        for map in &built {
            let mut loaded = map.load(device)?;
            let mut z_nd = Matrix::new(device, rows, features)?;
            let x_nd = &x_nd;
            let job = move || {
                loaded.featurize(x_nd, &mut z_nd).expect("runs");
                device.synchronize().expect("runs");
            };
            jobs.push((map.name().to_owned(), Box::new(job)));
        }
        let times = medians(ROUNDS, &mut jobs);
        print!("  d = {d:5}, D = {features:5}, {rows:5} rows:");
        for ((name, _), &time) in jobs.iter().zip(&times) {
            let each = 1e9 * time / (rows * features) as f64;
            print!("  {name} {each:.2} ({:.1})", times[0] / time);
        }
        println!();
    }
    Ok(())
}

/// The same rows transformed with either exchange.
fn exchanges(device: &Device, gpu: &GpuDevice) -> Result<()> {
    if let Err(why) = Exchange::SubgroupShuffles.check(gpu) {
        println!("no shuffles: {why}");
        return Ok(());
    }
    println!("Walsh-Hadamard, 2^22 elements: ms with each exchange (times faster than the first)");
    for k in 6..=10 {
        let n = 1_usize << k;
        let rows = (1 << 22) / n;
        let x_nd = Matrix::upload(device, ndarray::Array2::ones((rows, n)).view())?;
        let mut jobs: Vec<Job<'_>> = Vec::new();
        for exchange in Exchange::ALL {
            let transform = WalshHadamard::new(n)?.with_exchange(*exchange);
            let mut y_nd = Matrix::new(device, rows, n)?;
            let x_nd = &x_nd;
            let job = move || {
                transform.run_into(x_nd, &mut y_nd).expect("runs");
                device.synchronize().expect("runs");
            };
            jobs.push((exchange.to_string(), Box::new(job)));
        }
        let times = medians(ROUNDS, &mut jobs);
        print!("  2^{k:2}:");
        for ((name, _), &time) in jobs.iter().zip(&times) {
            print!("  {name} {:.2} ({:.2})", 1e3 * time, times[0] / time);
        }
        println!();
    }
    Ok(())
}

fn host() -> Result<()> {
    println!("Walsh-Hadamard on one thread: microseconds (part of a copy's speed)");
    for k in (4..=20).step_by(2) {
        let n = 1 << k;
        let transform = WalshHadamard::new(n)?;
        let times = (1 << 22) / n;
        // Zeros, because repeated transforms of anything else overflow.
        let mut x = vec![0.0_f32; n];
        let mut copy = vec![0.0_f32; n];
        let from = vec![1.0_f32; n];
        let mut jobs: [Job<'_>; 2] = [
            (
                String::new(),
                Box::new(|| {
                    for _ in 0..times {
                        transform
                            .run_slice(std::hint::black_box(&mut x))
                            .expect("runs");
                    }
                }),
            ),
            (
                String::new(),
                Box::new(|| {
                    for _ in 0..times {
                        std::hint::black_box(&mut copy).copy_from_slice(&from);
                    }
                }),
            ),
        ];
        let each = medians(ROUNDS, &mut jobs)
            .into_iter()
            .map(|t| 1e6 * t / times as f64);
        let each: Vec<f64> = each.collect();
        println!(
            "  2^{k:2}: {:9.3} ({:.0} %)",
            each[0],
            100.0 * each[1] / each[0]
        );
    }
    Ok(())
}

const COPY: &str = "
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&x) { y[id.x] = x[id.x]; }
}";

/// One row a workgroup, one butterfly level a barrier.
const RADIX_2: &str = "
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
var<workgroup> row: array<f32, N>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let at = group.x * Nu;
    for (var i = local.x; i < Nu; i += 256u) { row[i] = x[at + i]; }
    for (var h = 1u; h < Nu; h *= 2u) {
        workgroupBarrier();
        for (var p = local.x; p < Nu / 2u; p += 256u) {
            let i = p / h * 2u * h + p % h;
            let a = row[i];
            let b = row[i + h];
            row[i] = a + b;
            row[i + h] = a - b;
        }
    }
    workgroupBarrier();
    for (var i = local.x; i < Nu; i += 256u) { y[at + i] = row[i]; }
}";

/// Kernels alone on one adapter, through wgpu itself: the copy and radix-2 shaders are no ops of
/// the library.
fn shaders(name: &str) {
    println!("Walsh-Hadamard shaders: part of the copy shader's speed (times a radix-2 shader's)");
    let instance = wgpu::Instance::default();
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let Some(adapter) = adapters.into_iter().find(|a| a.get_info().name == name) else {
        println!("  no adapter {name}");
        return;
    };
    let descriptor = wgpu::DeviceDescriptor {
        required_limits: adapter.limits(),
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).expect("opens");
    let len = 1_usize << 22;
    let buffer = |size: usize, usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: size as u64,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    };
    let x = buffer(4 * len, wgpu::BufferUsages::STORAGE);
    let y = buffer(4 * len, wgpu::BufferUsages::STORAGE);
    for k in 8..=12 {
        let n = 1_usize << k;
        let params = buffer(32, wgpu::BufferUsages::UNIFORM);
        let words = [(len / n) as u32, n as u32 / 4, n as u32 / 4, 0, 0, 0, 0, 0];
        queue.write_buffer(&params, 0, bytemuck::cast_slice(&words));
        let op = registry::shaders().find(|op| op.name == "walsh_hadamard");
        let op = op.expect("an op");
        let variants = (op.variants)();
        let copies = |variant: &&Variant| {
            let wanted = [("LOG_N", k), ("STRIDED", 0), ("IN_PLACE", 0)];
            wanted
                .iter()
                .all(|&(name, value)| variant.get(name) == Some(value))
        };
        let own = variants.iter().find(copies);
        let variant = own.expect("a length of one dispatch");
        let own = op.text(variant).expect("expands");
        let rows = variant.get("ROWS").expect("rows of a workgroup") as usize;
        let radix_2 = RADIX_2
            .replace("Nu", &format!("{n}u"))
            .replace("N>", &format!("{n}>"));
        let texts = [
            (COPY.to_owned(), len / 4 / 256, false),
            (radix_2, len / n, false),
            (own, len / n / rows, true),
        ];
        let mut jobs: Vec<Job<'_>> = Vec::new();
        for (text, groups, with_params) in texts {
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: None,
                source: wgpu::ShaderSource::Wgsl(text.into()),
            });
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: None,
            });
            let mut entries = vec![
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: x.as_entire_binding(),
                },
                wgpu::BindGroupEntry {
                    binding: 2,
                    resource: y.as_entire_binding(),
                },
            ];
            if with_params {
                entries.push(wgpu::BindGroupEntry {
                    binding: 0,
                    resource: params.as_entire_binding(),
                });
            }
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            });
            let (device, queue) = (&device, &queue);
            let job = move || {
                let mut encoder = device.create_command_encoder(&Default::default());
                {
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    pass.set_pipeline(&pipeline);
                    pass.set_bind_group(0, &group, &[]);
                    pass.dispatch_workgroups(groups as u32, 1, 1);
                }
                queue.submit([encoder.finish()]);
                device
                    .poll(wgpu::PollType::wait_indefinitely())
                    .expect("runs");
            };
            jobs.push((String::new(), Box::new(job)));
        }
        let times = medians(ROUNDS, &mut jobs);
        println!(
            "  2^{k}: {:.0} % ({:.1}x), {:.2} GB/s copied",
            100.0 * times[0] / times[2],
            times[1] / times[2],
            8.0 * len as f64 / times[0] / 1e9
        );
    }
}

fn main() -> Result<()> {
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let wanted = wanted.unwrap_or_default().to_lowercase();
    let mut devices = vec![Device::cpu()];
    devices.extend(Device::all_gpus()?);
    for device in &devices {
        if !device.describe().to_lowercase().contains(&wanted) {
            continue;
        }
        println!("{}", device.describe());
        match device {
            Device::Cpu(_) => host()?,
            Device::Gpu(gpu) => {
                exchanges(device, gpu)?;
                shaders(&gpu.report().name);
            }
        }
        maps(device)?;
    }
    Ok(())
}
