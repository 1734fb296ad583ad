//! Where structured maps become cheaper than the dense one, and how near each comes to the kernel
//! at equal D.

use crate::{
    Device, Result,
    analysis::{ErrorSummary, ExactKernel, KernelError},
    data::Rows,
    features::{Affine, Fastfood, FeatureMap, Form, Fourier, MapKind, Sorf, select},
    kernels::Gaussian,
    seed::{Seed, Stream},
};
use ndarray::Array2;

/// One map at one d and D.
#[derive(Debug, Clone)]
pub struct Crossed {
    /// Which map.
    pub kind: MapKind,
    /// Median seconds of a row's features on the device.
    pub seconds: f64,
    /// Kernel errors over seeds, the same for all maps and devices.
    pub errors: ErrorSummary,
}

impl Crossed {
    /// Mean errors over seeds.
    pub fn error(&self) -> KernelError {
        self.errors.mean()
    }
}

/// Input columns of the usual table.
pub const CROSSING_DIMS: [usize; 6] = [16, 64, 256, 784, 1024, 4096];
/// Its numbers of features.
pub const CROSSING_FEATURES: [usize; 2] = [1024, 8192];

/// Rows that are compared with the exact kernel.
const ROWS: usize = 200;
/// Seeds from which each map is drawn.
const SEEDS: u64 = 5;

/// Dense Monte Carlo features, Fastfood and SORF in paired form, at equal d and D: their times on
/// `device` as [`MapSpec::select`](crate::features::MapSpec::select) takes them, and their errors
/// against the exact Gaussian kernel on 200 standard normal rows at the median distance, over five
/// seeds. Errors when nothing fits the device, and as the maps.
pub fn crossing(device: &Device, dim: usize, features: usize) -> Result<Vec<Crossed>> {
    let costs = select::measure(device, &select::MEASURED, dim, features, Form::Paired)?;
    let mut draws = Seed(0).stream(Stream::Sample, 1);
    let rows = Array2::from_shape_simple_fn((ROWS, dim), || draws.normal());
    // Two such rows are about sqrt(2 d) apart.
    let input = || Affine::identity(dim).lengthscale((2.0 * dim as f64).sqrt());
    let exact = ExactKernel::new(&Gaussian, &input()?, &Rows::from(&rows))?;
    let cross = |cost: select::MapCost| {
        let run = |seed: u64| {
            let map: Box<dyn FeatureMap> = match cost.kind {
                MapKind::Fastfood => Box::new(
                    Fastfood::new(Gaussian)
                        .features(features)
                        .seed(Seed(seed))
                        .build(input()?)?,
                ),
                MapKind::Sorf => Box::new(
                    Sorf::new(Gaussian)
                        .features(features)
                        .seed(Seed(seed))
                        .build(input()?)?,
                ),
                _ => Box::new(
                    Fourier::new(Gaussian)
                        .features(features)
                        .seed(Seed(seed))
                        .build(input()?)?,
                ),
            };
            // Accuracy is a matter of the map, not of the device.
            exact.error(map.as_ref(), &Device::cpu())
        };
        Ok(Crossed {
            kind: cost.kind,
            seconds: cost.seconds,
            errors: ErrorSummary {
                runs: (0..SEEDS).map(run).collect::<Result<_>>()?,
            },
        })
    };
    costs.into_iter().map(cross).collect()
}
