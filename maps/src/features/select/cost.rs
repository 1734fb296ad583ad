//! What a map costs on a device: timed beside others, warm, on few rows.

use crate::clock::Instant;
use crate::{
    Device, Error, Matrix, Result,
    features::{Affine, Fastfood, FeatureMap, Form, LoadedMap, MapKind, Sorf},
    kernels::Gaussian,
    ops::projection::{DenseMap, Projection},
};
use ndarray::Array2;

/// A map and its time.
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(hidden)]
pub struct MapCost {
    /// Which map.
    pub kind: MapKind,
    /// Median seconds of a row's features, without transfers.
    pub seconds: f64,
}

/// The maps that are measured: the dense one, and what may take its place.
pub(crate) const MEASURED: [MapKind; 3] = [MapKind::Fourier, MapKind::Fastfood, MapKind::Sorf];

/// Rounds in which the maps take turns.
const ROUNDS: usize = 7;
/// What is waited for together lasts at least so long, so that waiting costs nothing.
const BATCH_SECONDS: f64 = 2e-3;
const MOST_RUNS: usize = 64;
/// Rows to begin with: fewer take other paths on the CPU and do not fill a tile.
const ROWS: usize = 16;
const MOST_ROWS: usize = 4096;
/// Features of one run at most.
const FEATURE_BYTES: usize = 64 << 20;

/// The costs of `kinds` (of [`MEASURED`]) for rows of `columns` to `features` on `device`, in
/// turns. No kernel matters for them. A map that does not fit the device is left out; errors when
/// none does.
pub(crate) fn measure(
    device: &Device,
    kinds: &[MapKind],
    columns: usize,
    features: usize,
    form: Form,
) -> Result<Vec<MapCost>> {
    let mut loaded: Vec<(MapKind, Box<dyn LoadedMap>)> = Vec::new();
    let mut refusal = None;
    for &kind in kinds {
        match load(device, kind, columns, features, form) {
            Ok(map) => loaded.push((kind, map)),
            Err(error @ (Error::Limit { .. } | Error::OutOfMemory { .. })) => refusal = Some(error),
            Err(error) => return Err(error),
        }
    }
    if let (true, Some(error)) = (loaded.is_empty(), refusal) {
        return Err(error);
    }
    let widest = columns.max(features).next_multiple_of(4);
    let most = (device.max_matrix_bytes() / (4 * widest as u64)).min(MOST_ROWS as u64) as usize;
    let most = most.min(FEATURE_BYTES / (4 * features)).max(1);
    let mut rows = ROWS.min(most);
    // Rows grow until the slowest map is busy for a while: a device with many units needs them.
    loop {
        let mut bench = Bench::new(device, rows, columns, features)?;
        let mut slowest = 0.0_f64;
        for (_, map) in &mut loaded {
            // The first run may compile.
            bench.seconds(map.as_mut(), 1)?;
            slowest = slowest.max(bench.seconds(map.as_mut(), 1)?);
        }
        if slowest >= BATCH_SECONDS || rows == most {
            return bench.take_turns(&mut loaded);
        }
        rows = (2 * rows).min(most);
    }
}

struct Bench<'a> {
    device: &'a Device,
    x_nd: Matrix,
    z_nd: Matrix,
}

impl<'a> Bench<'a> {
    fn new(device: &'a Device, rows: usize, columns: usize, features: usize) -> Result<Self> {
        Ok(Self {
            device,
            x_nd: Matrix::upload(device, plain(rows, columns).view())?,
            z_nd: Matrix::new(device, rows, features)?,
        })
    }

    /// Of one run, of several that are waited for together.
    fn seconds(&mut self, map: &mut dyn LoadedMap, runs: usize) -> Result<f64> {
        self.device.synchronize()?;
        let start = Instant::now();
        for _ in 0..runs {
            map.featurize(&self.x_nd, &mut self.z_nd)?;
        }
        self.device.synchronize()?;
        Ok(start.elapsed().as_secs_f64() / runs as f64)
    }

    fn take_turns(mut self, maps: &mut [(MapKind, Box<dyn LoadedMap>)]) -> Result<Vec<MapCost>> {
        let mut runs = Vec::with_capacity(maps.len());
        for (_, map) in maps.iter_mut() {
            let one = self.seconds(map.as_mut(), 1)?;
            runs.push(((BATCH_SECONDS / one.max(1e-9)).ceil() as usize).clamp(1, MOST_RUNS));
        }
        let mut taken = vec![Vec::with_capacity(ROUNDS); maps.len()];
        for _ in 0..ROUNDS {
            for (((_, map), &runs), taken) in maps.iter_mut().zip(&runs).zip(&mut taken) {
                taken.push(self.seconds(map.as_mut(), runs)?);
            }
        }
        let rows = self.x_nd.rows() as f64;
        let cost = |((kind, _), mut taken): (&(MapKind, _), Vec<f64>)| {
            taken.sort_by(f64::total_cmp);
            MapCost {
                kind: *kind,
                seconds: taken[ROUNDS / 2] / rows,
            }
        };
        Ok(maps.iter().zip(taken).map(cost).collect())
    }
}

fn load(
    device: &Device,
    kind: MapKind,
    columns: usize,
    features: usize,
    form: Form,
) -> Result<Box<dyn LoadedMap>> {
    let input = Affine::identity(columns);
    match kind {
        MapKind::Fastfood => Fastfood::new(Gaussian)
            .features(features)
            .form(form)
            .build(input)?
            .load(device),
        MapKind::Sorf => Sorf::new(Gaussian)
            .features(features)
            .form(form)
            .build(input)?
            .load(device),
        _ => {
            // Drawing d s frequencies would take longer than timing them.
            let freqs = form.frequencies(features)?;
            let dense = DenseMap {
                w_ds: plain(columns, freqs),
                phase_s: vec![0.0; freqs],
                amplitude_s: vec![1.0; freqs],
                nonlinearity: form.nonlinearity(),
            };
            Ok(Box::new(Projection::load(device, &dense)?))
        }
    }
}

/// Numbers within 1 that 11 bits hold, as frequencies are.
fn plain(rows: usize, cols: usize) -> Array2<f32> {
    let value = |i: usize| ((i * 37 % 129) as f32 - 64.0) / 64.0;
    let mut i = 0;
    Array2::from_shape_simple_fn((rows, cols), || {
        i += 1;
        value(i)
    })
}
