//! What a page asks of a fit.

use super::settled::Settled;
use crate::{
    errors::{thrown, wrong},
    options,
};
use bochner::{
    features::{Bandwidth, MapChoice, MapKind, MapSpec},
    kernels,
    models::{Fit, RidgeOptions},
    seed::Seed,
};
use wasm_bindgen::JsValue;

/// The kernel where none is said.
const USUAL_KERNEL: &str = "gaussian";

/// Map, kernel, size and width; what is left out is chosen as everywhere in bochner.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) map: String,
    pub(super) kernel: String,
    pub(super) features: usize,
    /// The lengthscale over the one that rows left out choose.
    pub(super) width: f64,
    pub(super) seed: Seed,
    /// Whether the lengthscale is that of a rule, which takes no time.
    pub(super) by_rule: bool,
}

impl Choice {
    pub(super) fn read(given: &JsValue) -> Result<Self, JsValue> {
        let usual = RidgeOptions::default().usual();
        let width = options::number(given, "width")?.unwrap_or(1.0);
        if width <= 0.0 {
            let problem = format!("width is {width}; give a number above 0");
            return Err(wrong(&problem));
        }
        let features = options::count(given, "features", 1)?;
        Ok(Self {
            map: options::text(given, "map")?.unwrap_or_else(|| usual.map.to_string()),
            kernel: options::text(given, "kernel")?.unwrap_or_else(|| USUAL_KERNEL.into()),
            features: features.map_or(usual.features, |features| features as usize),
            width,
            by_rule: options::truth(given, "byRule")?.unwrap_or(false),
            seed: Seed(options::count(given, "seed", 0)?.unwrap_or(0).into()),
        })
    }

    /// What the choice of preparation and bandwidth hangs on: not the size, nor the width.
    pub(super) fn basis(&self) -> (String, String, u64) {
        (self.map.clone(), self.kernel.clone(), self.seed.0)
    }

    /// The map, not drawn.
    pub(super) fn spec(&self) -> Result<MapSpec, JsValue> {
        let map: MapKind = self.map.parse().map_err(|e| thrown(&e))?;
        let kernel = kernels::parse(&self.kernel).map_err(|e| thrown(&e))?;
        let mut spec = MapSpec::new(MapChoice::from(map), kernel);
        spec.features = self.features;
        spec.sampling = RidgeOptions::default().usual().sampling;
        spec.seed = self.seed;
        spec.check().map_err(|e| thrown(&e))?;
        Ok(spec)
    }

    /// The options of `bochner fit` that say the same, beside the file and its target. A width is
    /// said with all that a fit chooses only together with it.
    pub(super) fn words(&self, settled: &Settled, lengthscales: &[f64]) -> String {
        let usual = RidgeOptions::default().usual();
        let mut words = Vec::new();
        if self.map != usual.map.to_string() {
            words.push(format!("--map {}", self.map));
        }
        if self.kernel != USUAL_KERNEL {
            words.push(format!("--kernel {}", self.kernel));
        }
        words.push(format!("--features {}", self.features));
        if self.width != 1.0 {
            let sigma: Vec<String> = lengthscales.iter().map(f64::to_string).collect();
            words.push(format!("--sigma {}", sigma.join(",")));
            words.extend(settled.words());
        } else if self.by_rule {
            words.push(format!("--sigma {}", Bandwidth::Scale));
        }
        if self.seed.0 > 0 {
            words.push(format!("--seed {}", self.seed.0));
        }
        words.join(" ")
    }
}
