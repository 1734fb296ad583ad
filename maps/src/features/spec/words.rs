//! A description of maps in words.

use super::{LeverageSpec, MapKind, MapSpec};
use crate::settings::Settings;

impl MapSpec {
    /// What concerns the maps that it names, in words; the same as of the builder of a map.
    pub(super) fn in_words(&self) -> Settings {
        let any = |takes: fn(MapKind) -> bool| {
            let mut kinds = self.map.parts().iter().map(|part| part.kind);
            kinds.any(takes)
        };
        let has = |kind| self.map.has(kind);
        let mut settings = Settings::of_map(&self.map);
        if any(MapKind::takes_features) {
            settings = settings
                .text("kernel", self.kernel.spec())
                .text("features", self.features);
        }
        if any(MapKind::takes_form) {
            settings = settings.text("form", self.form);
        }
        settings = match self.leverage {
            Some(leverage) if has(MapKind::Fourier) => by_leverage(settings, leverage),
            _ if any(MapKind::takes_sampling) => settings.text("sampling", self.sampling),
            _ => settings,
        };
        if has(MapKind::Projection) {
            settings = settings.text("entries", self.entries);
        }
        if has(MapKind::AdditiveChi2) {
            settings = settings.maybe("sample-interval", self.interval);
        }
        if has(MapKind::Sorf) {
            settings = settings.text("sorf-radii", self.radii);
        }
        if has(MapKind::Nystrom) {
            settings = settings.text("landmarks-choice", &self.landmarks);
        }
        if let (Some(rank), true) = (
            self.rank,
            has(MapKind::Nystrom) || has(MapKind::Precomputed),
        ) {
            settings = settings.text("rank", rank);
        }
        let drawn = any(|kind| kind.takes_features() && kind != MapKind::AdditiveChi2);
        if drawn {
            settings = settings.text("seed", self.seed.0);
        }
        settings
    }
}

/// How frequencies are chosen by leverage score.
fn by_leverage(settings: Settings, leverage: LeverageSpec) -> Settings {
    let settings = settings
        .text("sampling", "leverage")
        .number("leverage-lambda", leverage.lambda);
    match leverage.pool {
        Some(pool) => settings.text("leverage-pool", pool),
        None => settings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        features::{
            AdditiveChi2Features, ArcCosine, Binning, Fastfood, Form, Fourier, HadamardSketch,
            Identity, MapBuilder, Nystrom, RandomProjection, SkewedChi2, Sorf, TensorSketch,
        },
        kernels::{self, Gaussian, Laplacian},
        sampling::Sampling,
        seed::Seed,
    };

    /// Builders of all maps, with the words for the map and for its kernel.
    fn builders(seed: Seed) -> [(Box<dyn MapBuilder>, &'static str, &'static str); 12] {
        [
            (
                Box::new(Fourier::new(Gaussian).features(64).seed(seed)),
                "fourier",
                "gaussian",
            ),
            (
                Box::new(Fastfood::new(Gaussian).features(64).seed(seed)),
                "fastfood",
                "gaussian",
            ),
            (
                Box::new(Sorf::new(Gaussian).features(64).seed(seed)),
                "sorf",
                "gaussian",
            ),
            (
                Box::new(Binning::new(Laplacian).grids(64).seed(seed)),
                "binning",
                "laplacian",
            ),
            (
                Box::new(Nystrom::new(Gaussian).features(64).seed(seed)),
                "nystrom",
                "gaussian",
            ),
            (
                Box::new(ArcCosine::default().features(64).seed(seed)),
                "arc-cosine",
                "arc-cosine:1",
            ),
            (
                Box::new(RandomProjection::default().features(64).seed(seed)),
                "projection",
                "linear",
            ),
            (
                Box::new(TensorSketch::new(2, 1.0).features(64).seed(seed)),
                "tensor-sketch",
                "polynomial:2:1",
            ),
            (
                Box::new(HadamardSketch::new(2, 1.0).features(64).seed(seed)),
                "hadamard-sketch",
                "polynomial:2:1",
            ),
            (
                Box::new(SkewedChi2::default().features(64).seed(seed)),
                "skewed-chi2",
                "skewed-chi2:1",
            ),
            (
                Box::new(AdditiveChi2Features::default().features(64)),
                "additive-chi2",
                "additive-chi2",
            ),
            (Box::new(Identity), "identity", "linear"),
        ]
    }

    /// A builder and a description of the same map say the same, and the words of a description
    /// read back as its kernel and its maps.
    #[test]
    fn builders_and_descriptions_say_the_same() {
        let seed = Seed(3);
        for (builder, map, kernel) in builders(seed) {
            let kernel = kernels::parse(kernel).expect("a kernel");
            let mut spec = MapSpec::new(map.parse().expect("a map"), kernel);
            (spec.features, spec.seed) = (64, seed);
            assert_eq!(builder.settings(), spec.settings(), "{map}");
        }
    }

    #[test]
    fn options_that_do_not_concern_a_map_are_not_said() {
        let mut spec = MapSpec::new(
            "binning".parse().expect("a map"),
            std::sync::Arc::new(Laplacian),
        );
        spec.sampling = Sampling::Orthogonal;
        spec.form = Form::Phase;
        let names: Vec<_> = spec
            .settings()
            .iter()
            .map(|(name, _)| name.to_owned())
            .collect();
        assert_eq!(names, ["map", "kernel", "features", "seed"]);
    }
}
