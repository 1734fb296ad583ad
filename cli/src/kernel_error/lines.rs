//! The lines of the table: every map in every sampling and form that is compared.

use super::{Args, Listed};
use crate::{
    flags,
    map::{Drawing, MapOption},
    report::Usage,
};
use anyhow::Result;
use bochner::{
    Error,
    features::{Form, MapChoice, MapKind, MapSpec, Radii},
    kernels::Kernel,
    sampling::Sampling,
};
use std::{fmt::Write, sync::Arc};

const MONTE_CARLO: Drawing = Drawing::Plain(Sampling::MonteCarlo);

/// One line of the table.
pub(super) struct Line {
    pub(super) label: String,
    pub(super) spec: MapSpec,
    /// Whether the map is chosen for each number of features.
    pub(super) auto: bool,
}

impl Args {
    /// Every map in every sampling and form asked for, but those that cannot serve the kernel where
    /// all were asked for, whose labels come second.
    pub(super) fn lines(&self, kernel: &Arc<dyn Kernel>) -> Result<(Vec<Line>, Vec<String>)> {
        let drawings: Vec<Drawing> = match &self.sampling {
            Listed::All => Sampling::all()
                .map(Drawing::Plain)
                .chain([Drawing::Leverage])
                .collect(),
            Listed::Some(drawings) => drawings.clone(),
        };
        let mut lines = Vec::new();
        for option in self.maps() {
            let auto = option == MapOption::Auto;
            let map = option.named();
            let sampled = takes(&map, MapKind::takes_sampling) && !auto;
            // Another sampling would leave nothing to choose.
            let drawings = if sampled {
                drawings.as_slice()
            } else {
                &[MONTE_CARLO]
            };
            for &drawing in drawings {
                if drawing == Drawing::Leverage && !map.has(MapKind::Fourier) {
                    continue;
                }
                for &form in self.forms(&map, drawing, auto) {
                    let (map, kernel, seed) = (map.clone(), kernel.clone(), self.kernel.seed);
                    let spec = self.tuning.spec(map, kernel, 0, form, drawing, seed);
                    let label = if auto {
                        format!("auto, {form}")
                    } else {
                        label(&spec, sampled.then_some(drawing))
                    };
                    lines.push(Line { label, spec, auto });
                }
            }
        }
        self.usable(lines)
    }

    /// The maps asked for.
    fn maps(&self) -> Vec<MapOption> {
        match &self.map {
            // What draws nothing has no error of its own.
            Listed::All => MapKind::ALL
                .into_iter()
                .filter(|kind| kind.takes_features())
                .map(|kind| MapOption::Named(kind.into()))
                .collect(),
            Listed::Some(maps) => maps.clone(),
        }
    }

    /// The forms in which a map is compared: both, of fourier features by monte-carlo, where none
    /// is asked for.
    fn forms(&self, map: &MapChoice, drawing: Drawing, auto: bool) -> &'static [Form] {
        let both = drawing == MONTE_CARLO && !auto && *map == MapKind::Fourier.into();
        match self.form {
            Some(Form::Phase) if takes(map, MapKind::takes_form) => &[Form::Phase],
            None if both && takes(map, MapKind::takes_form) => &[Form::Paired, Form::Phase],
            _ => &[Form::Paired],
        }
    }

    /// Splits off the lines that the kernel rules out; an error where nothing is left of what was
    /// asked for by name.
    fn usable(&self, lines: Vec<Line>) -> Result<(Vec<Line>, Vec<String>)> {
        let (mut usable, mut left_out) = (Vec::<Line>::new(), Vec::new());
        for line in lines {
            let problem = self.features.iter().find_map(|&features| {
                let spec = MapSpec {
                    features,
                    ..line.spec.clone()
                };
                spec.check().err()
            });
            match problem {
                None => usable.push(line),
                Some(error @ Error::Parameter(_)) => {
                    let problem = flags::explain(&error);
                    return Err(Usage(format!("--features: {problem}")).into());
                }
                Some(error) => left_out.push((line, error)),
            }
        }
        let mut names: Vec<String> = Vec::new();
        for (line, error) in left_out {
            let others = usable.iter().any(|other| other.spec.map == line.spec.map);
            let asked = if others {
                matches!(self.sampling, Listed::Some(_))
            } else {
                matches!(self.map, Listed::Some(_))
            };
            if asked {
                return Err(Usage(flags::explain(&error)).into());
            }
            let name = if others {
                line.label
            } else {
                line.spec.map.to_string()
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok((usable, names))
    }
}

/// Whether a part of the map takes such an option.
fn takes(map: &MapChoice, option: fn(MapKind) -> bool) -> bool {
    map.parts().iter().any(|part| option(part.kind))
}

fn label(spec: &MapSpec, drawing: Option<Drawing>) -> String {
    let mut label = spec.map.to_string();
    let has = |kind| spec.map.has(kind);
    if let Some(drawing) = drawing {
        let _ = write!(label, ", {drawing}");
    }
    if takes(&spec.map, MapKind::takes_form) {
        let _ = write!(label, ", {}", spec.form);
    }
    if has(MapKind::Sorf) && spec.radii == Radii::Constant {
        let _ = write!(label, ", {} radii", spec.radii);
    }
    if has(MapKind::Nystrom) {
        let _ = write!(label, ", {}", spec.landmarks);
    }
    label
}
