//! A feature map that the library does not have, on the CPU and on every GPU: `cargo run --release
//! --example own_map`.
//!
//! z(x) = x R / sqrt(D) with R of random signs (Achlioptas 2003): z(x)'z(y) estimates x'y, the
//! linear kernel, with D numbers in place of d. It is made of a public op, the matrix product; its
//! file is read back by a reader under its name.

use bochner::{
    Matrix,
    features::Store,
    features::{self, Affine, FeatureMap, LoadedMap, MapData},
    ops::product::product,
    prelude::*,
    seed::Stream,
};
use ndarray::{Array1, Array2};
use std::sync::Arc;

const NAME: &str = "random-signs";

/// What a user chooses.
#[derive(Debug)]
struct RandomSigns {
    features: usize,
    seed: Seed,
}

impl MapBuilder for RandomSigns {
    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        None
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let mut draws = data
            .seed
            .unwrap_or(self.seed)
            .stream(Stream::Frequencies, 0);
        let size = 1.0 / (self.features as f32).sqrt();
        let shape = (data.input.columns(), self.features);
        let signs = Array2::from_shape_simple_fn(shape, || match draws.next_u64() >> 63 {
            0 => size,
            _ => -size,
        });
        Ok(Box::new(Signs {
            input: data.input,
            signs_dd: signs,
        }))
    }
}

/// The map with its signs drawn: what a model keeps.
#[derive(Debug)]
struct Signs {
    input: Affine,
    /// `[d, D]`.
    signs_dd: Array2<f32>,
}

impl Signs {
    fn read(store: &Store) -> Result<Box<dyn FeatureMap>> {
        let (input, signs_dd) = (Affine::read(store)?, store.f32("signs")?);
        if signs_dd.nrows() != input.columns() {
            return Err(Error::format("signs are for other columns than the input"));
        }
        Ok(Box::new(Self { input, signs_dd }))
    }
}

impl FeatureMap for Signs {
    fn name(&self) -> &'static str {
        NAME
    }

    fn describe(&self) -> String {
        format!(
            "random signs, {} columns to {}",
            self.input_dim(),
            self.output_dim()
        )
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.signs_dd.ncols()
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        Ok(Box::new(Loaded {
            signs_dd: Matrix::upload(device, self.signs_dd.view())?,
            weights_dt: None,
        }))
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        store.set("map", NAME);
        self.input.write(store);
        store.put_f32("signs", self.signs_dd.view());
        Ok(())
    }
}

/// The map on a device.
#[derive(Debug)]
struct Loaded {
    signs_dd: Matrix,
    /// Scratch for [`Self::predict`].
    weights_dt: Option<Matrix>,
}

impl LoadedMap for Loaded {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        product(x_nd, &self.signs_dd, z_nd)
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        // (x R) beta = x (R beta), which stores no features.
        let (d, t) = (self.signs_dd.rows(), beta_dt.cols());
        let weights = match self.weights_dt.take() {
            Some(kept) if kept.cols() == t => kept,
            _ => Matrix::new(x_nd.device(), d, t)?,
        };
        let weights = self.weights_dt.insert(weights);
        product(&self.signs_dd, beta_dt, weights)?;
        product(x_nd, weights, y_nt)
    }
}

fn main() -> Result<()> {
    features::register(NAME, Signs::read)?;
    let x = Array2::from_shape_fn((500, 40), |(i, j)| {
        (((i + 3) * (j + 5)) % 509) as f64 / 509.0 - 0.5
    });
    let y: Array1<f64> = x
        .rows()
        .into_iter()
        .map(|x| x[0] - 2.0 * x[7] + 0.5 * x[30])
        .collect();
    let folder = tempfile::tempdir().map_err(|e| Error::io("the temporary folder", e))?;
    let path = folder.path().join("signs.model");

    let mut devices = vec![Device::cpu()];
    devices.extend(Device::all_gpus()?);
    for device in &devices {
        let map = RandomSigns {
            features: 64,
            seed: Seed(1),
        };
        let model = Ridge::on(map).device(device).fit((&x, &y))?;
        model.save(&path)?;
        let read: Model<Array1<f64>> = Model::load(&path)?.device(device);
        let predicted = read.predict(&x)?;
        let worst = (&predicted - &y).fold(0.0_f64, |worst, e| worst.max(e.abs()));
        println!("{}: largest error {worst:.1e}", device.describe());
        assert!(worst < 1e-3, "{worst}");
        assert_eq!(predicted, model.predict(&x)?);
    }
    Ok(())
}
