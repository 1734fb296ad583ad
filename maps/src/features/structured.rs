//! Structured maps with their parameters drawn: what the Fastfood and SORF builders make.

use super::{Affine, FeatureMap, Form, Formula, LoadedMap};
use crate::{
    Device, Error, Matrix, Result,
    device::memory_left,
    error::Remedy,
    kernels::{Kernel, SpectralMeasure},
    ops::{
        Nonlinearity,
        structured::{Mixing, Structured, StructuredMap},
    },
    seed::{Draws, Seed, Stream},
    store::Store,
    text::counted,
};
use ndarray::Array2;
use std::f64::consts::TAU;

/// A structured map with its parameters drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct StructuredFeatures {
    pub(super) name: &'static str,
    /// Kernel and form, for people.
    pub(super) origin: String,
    pub(super) input: Affine,
    pub(super) map: StructuredMap,
}

/// What a frequency takes, in bytes: its radius, its signs, and what a map adds to them.
pub(super) const BYTES: u128 = 24;

/// What the builders have in common.
pub(super) struct Plan<'a> {
    pub(super) name: &'static str,
    pub(super) kernel: &'a dyn Kernel,
    pub(super) form: Form,
    pub(super) features: usize,
    pub(super) seed: Seed,
}

impl Plan<'_> {
    /// Draws the map. `mixing` makes C for (blocks, n); `radius` gives the factor of a row in a
    /// block from the draws of that block's radii.
    pub(super) fn build(
        &self,
        input: Affine,
        diagonals: usize,
        mixing: impl FnOnce(usize, usize) -> Mixing,
        mut radius: impl FnMut(&dyn SpectralMeasure, usize, usize, &mut Draws) -> Option<f64>,
    ) -> Result<StructuredFeatures> {
        let unsupported = || {
            Error::unsupported(format!(
                "{} needs a kernel whose frequencies have no preferred \
                 direction, such as the gaussian; {} has none \
                 such",
                self.name,
                self.kernel.spec()
            ))
            .help(Remedy::UseMap(super::names::FOURIER))
        };
        let measure = self.kernel.spectrum().ok_or_else(unsupported)?;
        let s = self.form.frequencies(self.features)?;
        memory_left::require(BYTES * s as u128, || format!("a map of {s} frequencies"))?;
        let depth = input.columns();
        let n = depth.next_power_of_two().max(2);
        let blocks = s.div_ceil(n);
        let mut radius_s = Vec::with_capacity(blocks * n);
        for block in 0..blocks {
            let mut draws = self.seed.stream(Stream::Radii, block as u64);
            for _ in 0..n {
                let r = radius(measure, n, block, &mut draws).ok_or_else(unsupported)?;
                radius_s.push(r as f32);
            }
        }
        radius_s.truncate(s);
        let mut draws = self.seed.stream(Stream::Phases, 0);
        let map = StructuredMap {
            depth,
            padded: n,
            signs: signs(self.seed, blocks * diagonals, n),
            mixing: mixing(blocks, n),
            radius_s,
            phase_s: match self.form {
                Form::Paired => vec![0.0; s],
                Form::Phase => (0..s).map(|_| draws.uniform() as f32).collect(),
            },
            amplitude: (2.0 / self.features as f64).sqrt() as f32,
            nonlinearity: self.form.nonlinearity(),
        };
        map.check()?;
        Ok(StructuredFeatures {
            name: self.name,
            origin: format!("the {} kernel, {}", self.kernel.spec(), self.form),
            input: input.times(1.0 / TAU),
            map,
        })
    }
}

/// `rows` diagonals of n random signs, as bits.
fn signs(seed: Seed, rows: usize, n: usize) -> Array2<u32> {
    let mut signs = Array2::zeros((rows, n.div_ceil(32)));
    for (row, mut words) in signs.rows_mut().into_iter().enumerate() {
        let mut draws = seed.stream(Stream::Signs, row as u64);
        for i in 0..n {
            if draws.sign() < 0.0 {
                words[i / 32] |= 1 << (i % 32);
            }
        }
    }
    signs
}

impl StructuredFeatures {
    /// Signs, permutations, diagonals, radii and phases.
    #[doc(hidden)]
    pub fn parameters(&self) -> &StructuredMap {
        &self.map
    }

    pub(super) fn read(store: &Store, name: &'static str, fastfood: bool) -> Result<Self> {
        let code: usize = store.get("nonlinearity")?;
        let nonlinearity = Nonlinearity::ALL
            .into_iter()
            .nth(code)
            .ok_or_else(|| Error::format(format!("nonlinearity {code} is not known")))?;
        let input = Affine::read(store)?;
        let vector = |name: &str| -> Result<Vec<f32>> {
            let array = store.f32(name)?;
            match array.nrows() {
                1 => Ok(array.into_raw_vec_and_offset().0),
                rows => Err(Error::shape(format!("{name:?} has {rows} rows, not 1"))),
            }
        };
        let map = StructuredMap {
            depth: input.columns(),
            padded: store.get("padded")?,
            signs: store.u32("signs")?,
            mixing: if fastfood {
                Mixing::Fastfood {
                    permutation_bn: store.u32("permutation")?,
                    gaussian_bn: store.f32("gaussian")?,
                }
            } else {
                Mixing::Sorf
            },
            radius_s: vector("radii")?,
            phase_s: vector("phases")?,
            amplitude: store.get("amplitude")?,
            nonlinearity,
        };
        map.check()?;
        Ok(Self {
            name,
            origin: store.text("origin")?.to_owned(),
            input,
            map,
        })
    }
}

impl FeatureMap for StructuredFeatures {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> String {
        format!(
            "{} features of {}, {} padded to {}, to {}",
            self.name,
            self.origin,
            counted(self.input_dim(), "column"),
            self.map.padded,
            self.output_dim()
        )
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.map.outputs()
    }

    fn formula(&self) -> Result<Formula> {
        Ok(Formula::structured(&self.map))
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        Ok(Box::new(Structured::load(device, &self.map)?))
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        let row = |v: &[f32]| Array2::from_shape_fn((1, v.len()), |(_, j)| v[j]);
        store.set("map", self.name);
        store.set("origin", &self.origin);
        store.set("nonlinearity", self.map.nonlinearity.code());
        store.set("padded", self.map.padded);
        // Rust prints the shortest text that reads back to the same float.
        store.set("amplitude", self.map.amplitude);
        store.put_u32("signs", self.map.signs.view());
        if let Mixing::Fastfood {
            permutation_bn,
            gaussian_bn,
        } = &self.map.mixing
        {
            store.put_u32("permutation", permutation_bn.view());
            store.put_f32("gaussian", gaussian_bn.view());
        }
        store.put_f32("radii", row(&self.map.radius_s).view());
        store.put_f32("phases", row(&self.map.phase_s).view());
        self.input.write(store);
        Ok(())
    }
}

impl LoadedMap for Structured {
    fn featurize(&mut self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        self.run(x_nd, z_nd)
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        Structured::predict(self, x_nd, beta_dt, y_nt)
    }
}
