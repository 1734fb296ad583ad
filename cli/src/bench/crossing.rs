//! `bochner bench --crossing`: where structured maps become cheaper than the dense one, and what
//! they cost in accuracy.

use crate::flags;
use crate::report;
use anyhow::Result;
use bochner::{
    Device, Error,
    bench::{CROSSING_DIMS, CROSSING_FEATURES, Crossed, crossing},
    features::MapKind,
};
use serde_json::{Value, json};

/// The sizes asked for, or the usual ones.
pub(super) fn run(
    device: &Device,
    dim: Option<usize>,
    features: Option<usize>,
    as_json: bool,
) -> Result<()> {
    let usual = |given: Option<usize>, usual: &[usize]| match given {
        Some(one) => vec![one],
        None => usual.to_vec(),
    };
    let (dims, sizes) = (
        usual(dim, &CROSSING_DIMS),
        usual(features, &CROSSING_FEATURES),
    );
    let mut cases: Vec<Value> = Vec::new();
    if !as_json {
        let columns = ["fourier", "fastfood", "sorf"].map(|map| format!("{map:^28}"));
        report::to_stdout(&format!(
            "device      {}\nns a row and feature (times cheaper than fourier), relative Frobenius error of Z Z', mean over seeds\n\n\
             {:>5} {:>6} {}\n",
            device.describe(),
            "d",
            "D",
            columns.join(" ")
        ))?;
    }
    for &features in &sizes {
        for &dim in &dims {
            let crossed = match crossing(device, dim, features) {
                Ok(crossed) => crossed,
                Err(error @ (Error::Limit { .. } | Error::OutOfMemory { .. })) => {
                    let why = report::one_line(&flags::explain(&error));
                    cases.push(json!({"dim": dim, "features": features, "skipped": why}));
                    if !as_json {
                        report::to_stdout(&format!("{dim:>5} {features:>6} skipped: {why}\n"))?;
                    }
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            cases.push(case(dim, features, &crossed));
            if !as_json {
                report::to_stdout(&format!(
                    "{dim:>5} {features:>6} {}\n",
                    line(&crossed, features)
                ))?;
            }
        }
    }
    if as_json {
        let object = json!({ "device": device.describe(), "crossing": cases });
        report::to_stdout(&format!("{object}\n"))?;
    }
    Ok(())
}

fn line(crossed: &[Crossed], features: usize) -> String {
    let dense = crossed.iter().find(|c| c.kind == MapKind::Fourier);
    let column = |kind| {
        let Some(own) = crossed.iter().find(|c| c.kind == kind) else {
            return format!("{:^28}", "does not fit");
        };
        let times = match dense {
            Some(dense) => format!("({:.1})", dense.seconds / own.seconds),
            None => String::new(),
        };
        let (mean, spread) = (own.errors.mean().frobenius, own.errors.spread().frobenius);
        format!(
            "{:>7.3} {times:>6} {mean:.4}±{spread:.4}",
            1e9 * own.seconds / features as f64
        )
    };
    let columns = [MapKind::Fourier, MapKind::Fastfood, MapKind::Sorf].map(column);
    columns.join(" ").trim_end().to_owned()
}

fn case(dim: usize, features: usize, crossed: &[Crossed]) -> Value {
    let maps = crossed.iter().map(|own| {
        let (mean, spread) = (own.errors.mean(), own.errors.spread());
        json!({
            "map": own.kind.to_string(),
            "seconds_per_row": own.seconds,
            "frobenius": {"mean": mean.frobenius, "spread": spread.frobenius},
        })
    });
    let maps: Vec<Value> = maps.collect();
    json!({"dim": dim, "features": features, "maps": maps})
}
