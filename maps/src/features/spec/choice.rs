//! The names of the maps, and choices of one or several side by side.

use super::columns::{ColumnChoice, outside_quotes};
use crate::{Error, Result, features::names};
use std::{fmt, str::FromStr};

/// The maps of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapKind {
    /// [`Fourier`](crate::features::Fourier).
    Fourier,
    /// [`Fastfood`](crate::features::Fastfood).
    Fastfood,
    /// [`Sorf`](crate::features::Sorf).
    Sorf,
    /// [`ArcCosine`](crate::features::ArcCosine).
    ArcCosine,
    /// [`Nystrom`](crate::features::Nystrom).
    Nystrom,
    /// [`Binning`](crate::features::Binning).
    Binning,
    /// [`RandomProjection`](crate::features::RandomProjection).
    Projection,
    /// [`TensorSketch`](crate::features::TensorSketch).
    TensorSketch,
    /// [`HadamardSketch`](crate::features::HadamardSketch).
    HadamardSketch,
    /// [`SkewedChi2`](crate::features::SkewedChi2).
    SkewedChi2,
    /// [`AdditiveChi2Features`](crate::features::AdditiveChi2Features).
    AdditiveChi2,
    /// [`Identity`](crate::features::Identity).
    Identity,
    /// [`Precomputed`](crate::features::Precomputed).
    Precomputed,
}

impl MapKind {
    /// All of them.
    #[doc(hidden)]
    pub const ALL: [Self; 13] = [
        Self::Fourier,
        Self::Fastfood,
        Self::Sorf,
        Self::ArcCosine,
        Self::Nystrom,
        Self::Binning,
        Self::Projection,
        Self::TensorSketch,
        Self::HadamardSketch,
        Self::SkewedChi2,
        Self::AdditiveChi2,
        Self::Identity,
        Self::Precomputed,
    ];

    /// Whether the map comes as cosines, so that a [`Form`](crate::features::Form) matters.
    #[doc(hidden)]
    pub fn takes_form(self) -> bool {
        matches!(
            self,
            Self::Fourier | Self::Fastfood | Self::Sorf | Self::SkewedChi2
        )
    }

    /// Whether it makes as many features as it is asked for.
    #[doc(hidden)]
    pub fn takes_features(self) -> bool {
        !matches!(self, Self::Identity | Self::Precomputed)
    }

    /// Whether a [`Sampling`](crate::sampling::Sampling) matters.
    #[doc(hidden)]
    pub fn takes_sampling(self) -> bool {
        matches!(
            self,
            Self::Fourier | Self::ArcCosine | Self::Projection | Self::SkewedChi2
        )
    }
}

impl fmt::Display for MapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fourier => names::FOURIER,
            Self::Fastfood => names::FASTFOOD,
            Self::Sorf => names::SORF,
            Self::ArcCosine => names::ARC_COSINE,
            Self::Nystrom => names::NYSTROM,
            Self::Binning => names::BINNING,
            Self::Projection => names::RANDOM_PROJECTION,
            Self::TensorSketch => names::TENSOR_SKETCH,
            Self::HadamardSketch => names::HADAMARD_SKETCH,
            Self::SkewedChi2 => names::SKEWED_CHI2,
            Self::AdditiveChi2 => names::ADDITIVE_CHI2,
            Self::Identity => names::IDENTITY,
            Self::Precomputed => names::PRECOMPUTED,
        })
    }
}

impl FromStr for MapKind {
    type Err = Error;

    /// Reads the name of a map; `none` is the identity.
    fn from_str(text: &str) -> Result<Self> {
        let name = if text == "none" {
            names::IDENTITY
        } else {
            text
        };
        let found = Self::ALL.iter().find(|kind| kind.to_string() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(Self::to_string).collect();
            Error::parameter(format!(
                "unknown map '{text}'; use one of {}, or several side by side: binning+fourier",
                names.join(", ")
            ))
        })
    }
}

/// One of several maps side by side.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct MapPart {
    /// Which map.
    pub kind: MapKind,
    /// The columns that it looks at; `None` for all.
    pub columns: Option<ColumnChoice>,
    /// The weight of its kernel in the sum.
    pub weight: f64,
    /// Its own number of features; `None` for an even share.
    pub features: Option<usize>,
}

/// One map, or several side by side: `fourier`, `binning+fourier` (each of weight 1/2),
/// `0.3*binning:200+0.7*fourier:800`; each may look at some of the columns:
/// `fourier[age,income]+binning[0:8]:200`.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct MapChoice {
    parts: Vec<MapPart>,
}

impl MapChoice {
    /// The maps, at least one.
    pub fn parts(&self) -> &[MapPart] {
        &self.parts
    }

    /// Whether `kind` is among them.
    pub fn has(&self, kind: MapKind) -> bool {
        self.parts.iter().any(|part| part.kind == kind)
    }

    /// Whether a part looks at some of the columns.
    pub fn has_columns(&self) -> bool {
        self.parts.iter().any(|part| part.columns.is_some())
    }

    /// How many of `features` each part gets: what it names itself, else an even number of an even
    /// share.
    pub(super) fn shares(&self, features: usize) -> impl Iterator<Item = (&MapPart, usize)> {
        let even = match self.parts.len() {
            1 => features,
            n => features / n / 2 * 2,
        };
        let parts = self.parts.iter();
        parts.map(move |part| (part, part.features.unwrap_or(even)))
    }
}

impl From<MapKind> for MapChoice {
    fn from(kind: MapKind) -> Self {
        let part = MapPart {
            kind,
            columns: None,
            weight: 1.0,
            features: None,
        };
        Self { parts: vec![part] }
    }
}

impl fmt::Display for MapChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.parts.iter().enumerate() {
            if i > 0 {
                f.write_str("+")?;
            }
            if part.weight != 1.0 {
                write!(f, "{}*", part.weight)?;
            }
            write!(f, "{}", part.kind)?;
            if let Some(columns) = &part.columns {
                write!(f, "{columns}")?;
            }
            if let Some(features) = part.features {
                write!(f, ":{features}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for MapChoice {
    type Err = Error;

    /// Reads `[WEIGHT*]MAP[COLUMNS][:FEATURES]`, several of them joined by `+`, where COLUMNS stand
    /// in brackets. A weight left out is 1 over the number of maps, with which maps of one kernel
    /// add up to that kernel.
    fn from_str(text: &str) -> Result<Self> {
        let pieces: Vec<&str> = outside_quotes(text, '+').collect();
        let parts = pieces.iter().map(|piece| part(piece, text, pieces.len()));
        let parts = parts.collect::<Result<_>>()?;
        Ok(Self { parts })
    }
}

/// One of `all` maps that `text` has side by side.
fn part(piece: &str, text: &str, all: usize) -> Result<MapPart> {
    let bad = |what: &str, value: &str| {
        Error::parameter(format!(
            "{what} '{value}' in map '{text}' must be a positive number, as in 0.5*binning:200+0.5*fourier"
        ))
    };
    let (before, columns, behind) = bracketed(piece)?;
    let (weight, name) = match before.split_once('*') {
        None => (1.0 / all as f64, before),
        Some((weight, rest)) => match weight.trim().parse::<f64>() {
            Ok(w) if w > 0.0 && w.is_finite() => (w, rest.trim()),
            _ => return Err(bad("weight", weight)),
        },
    };
    let (name, count) = match (columns, name.split_once(':')) {
        (None, Some((name, count))) => (name.trim(), Some(count)),
        _ => (name, behind),
    };
    let features = count.map(|count| match count.trim().parse::<usize>() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(bad("the number of features", count)),
    });
    Ok(MapPart {
        kind: name.parse()?,
        columns: columns.map(ColumnChoice::read).transpose()?,
        weight,
        features: features.transpose()?,
    })
}

/// What stands before the brackets of columns, in them, and behind them after a colon.
fn bracketed(piece: &str) -> Result<(&str, Option<&str>, Option<&str>)> {
    let Some((before, rest)) = piece.split_once('[') else {
        return Ok((piece, None, None));
    };
    let unclosed = || {
        Error::parameter(format!(
            "the columns of map '{piece}' stand in brackets with nothing but :FEATURES behind \
             them, as in fourier[age,income]:200"
        ))
    };
    let inner = outside_quotes(rest, ']').next().unwrap_or_default();
    // The same place in the text that was not trimmed.
    let end = rest.find(inner).map_or(0, |at| at + inner.len());
    let behind = rest[end..]
        .trim_start()
        .strip_prefix(']')
        .ok_or_else(unclosed)?
        .trim();
    match behind.strip_prefix(':') {
        Some(count) => Ok((before.trim(), Some(inner), Some(count))),
        None if behind.is_empty() => Ok((before.trim(), Some(inner), None)),
        None => Err(unclosed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_round_trip() {
        for text in [
            "fourier",
            "0.5*binning+0.5*fourier",
            "0.3*nystrom:20+0.7*sorf",
            "fourier[age,income]",
            "0.5*fourier[age]:100+0.25*binning[0:8]:200+2*sorf",
            "1*fourier[a+b,\"c,d]\"]",
        ] {
            let choice: MapChoice = text.parse().expect("a map");
            assert_eq!(choice.to_string(), text.trim_start_matches("1*"));
        }
        for kind in MapKind::ALL {
            let back: MapChoice = kind.to_string().parse().expect("a map");
            assert_eq!(back, MapChoice::from(kind));
        }
        let none: MapChoice = "none".parse().expect("a map");
        assert_eq!(none.to_string(), "identity");
        let even: MapChoice = "binning+fourier".parse().expect("maps");
        assert_eq!(even.to_string(), "0.5*binning+0.5*fourier");
        for bad in [
            "",
            "fourrier",
            "fourier+",
            "0*sorf",
            "x*sorf",
            "sorf:0",
            "sorf:x",
            "sorf[",
            "sorf[]",
            "sorf[a]b",
            "sorf[a]:0",
            "sorf[a",
            "sorf]",
        ] {
            assert!(bad.parse::<MapChoice>().is_err(), "{bad}");
        }
    }
}
