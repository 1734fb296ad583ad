//! What a bench prints.

use crate::{
    flags,
    report::{self, json},
};
use anyhow::Result;
use bochner::{
    Device, Error,
    bench::{BoundBy, Ceilings, Shape, Timed},
    registry,
};
use serde_json::{Value, json};

/// The results: a table that grows line by line, or one JSON object at the end.
pub(super) struct Results {
    as_json: bool,
    object: serde_json::Map<String, Value>,
    cases: Vec<Value>,
    skipped: Vec<Value>,
}

impl Results {
    pub(super) fn new(as_json: bool, device: &Device) -> Self {
        let mut object = serde_json::Map::new();
        object.insert("device".into(), device.describe().into());
        Self {
            as_json,
            object,
            cases: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// The tile shapes that were measured to be best, in this process or an earlier one.
    pub(super) fn tuned(&mut self, device: &Device) {
        let Some(gpu) = device.as_gpu() else { return };
        let chosen = registry::chosen(gpu).into_iter();
        let chosen = chosen.map(|(class, tile)| (class, Value::from(tile)));
        self.object
            .insert("tuned".into(), Value::Object(chosen.collect()));
    }

    pub(super) fn ceilings(&mut self, c: &Ceilings) -> Result<()> {
        let giga = |v: f64| v / 1e9;
        let copies = c.copies.iter();
        let copies: Vec<Value> = copies
            .map(|&(bytes, rate)| json!({"bytes": bytes, "gb_per_second": giga(rate)}))
            .collect();
        self.object.insert(
            "ceilings".into(),
            json!({
                "copy_gb_per_second": giga(c.copy_bytes_per_second()),
                "copies": copies,
                "gflop_per_second": giga(c.flops_per_second),
                "upload_gb_per_second": c.upload_bytes_per_second.map(giga),
                "download_gb_per_second": c.download_bytes_per_second.map(giga),
                "dispatch_seconds": c.dispatch_seconds,
                "round_trip_seconds": c.round_trip_seconds,
                "clock": c.clock.to_string(),
            }),
        );
        if self.as_json {
            return Ok(());
        }
        report::to_stdout(&(self.ceilings_in_words(c) + &titles()))
    }

    /// A line for each ceiling.
    fn ceilings_in_words(&self, c: &Ceilings) -> String {
        let giga = |v: f64| v / 1e9;
        let mut text = format!(
            "device      {}\n",
            self.object["device"].as_str().unwrap_or("")
        );
        let mut line = |label: &str, value: String| {
            text.push_str(&format!("{label:<11} {value}\n"));
        };
        let rates = c.copies.iter();
        let rates =
            rates.map(|&(bytes, rate)| format!("{:.1} ({:.0} MB)", giga(rate), bytes / 1e6));
        let rates = rates.collect::<Vec<_>>().join(", ");
        line(
            "copy",
            format!("{rates} GB/s, read and written, by {}", c.clock),
        );
        line(
            "arithmetic",
            format!(
                "{:.1} GFLOP/s of f32 multiply-adds",
                giga(c.flops_per_second)
            ),
        );
        for (label, rate) in [
            ("upload", c.upload_bytes_per_second),
            ("download", c.download_bytes_per_second),
        ] {
            if let Some(rate) = rate {
                line(label, format!("{:.2} GB/s", giga(rate)));
            }
        }
        let trip = duration(c.round_trip_seconds);
        match c.dispatch_seconds {
            Some(each) => line(
                "dispatch",
                format!("{} among many, {trip} alone with the wait", duration(each)),
            ),
            None => line("wake-up", format!("{trip} for all threads")),
        }
        if let Some(Value::Object(tuned)) = self.object.get("tuned") {
            let each = tuned
                .iter()
                .map(|(class, tile)| format!("{class}: {}", tile.as_str().unwrap_or("")));
            line(
                "tuned",
                if tuned.is_empty() {
                    "nothing yet; bochner bench --tune does".into()
                } else {
                    each.collect::<Vec<_>>().join(", ")
                },
            );
        }
        text
    }

    pub(super) fn case(&mut self, timed: &Timed, ceilings: &Ceilings) -> Result<()> {
        let (bound, share) = timed.share(ceilings);
        let median = timed.sample.median();
        let (gflops, gbytes) = (
            timed.work.flops / median / 1e9,
            timed.work.bytes / median / 1e9,
        );
        self.cases.push(json!({
            "op": timed.op,
            "rows": timed.shape.rows,
            "dim": timed.shape.dim,
            "features": timed.shape.features,
            "tile": timed.tile,
            "blocks": timed.blocks,
            "median_seconds": median,
            "min_seconds": timed.sample.min(),
            "p90_seconds": timed.sample.p90(),
            "runs": timed.sample.repetitions(),
            "clock": timed.sample.clock.to_string(),
            "gflop_per_second": gflops,
            "gb_per_second": gbytes,
            "bound": match bound { BoundBy::Arithmetic => "arithmetic", BoundBy::Memory => "copy" },
            "share": share,
            "error": json(timed.error),
        }));
        if self.as_json {
            return Ok(());
        }
        let rate = match bound {
            BoundBy::Arithmetic => format!("{gflops:.1} GFLOP/s"),
            BoundBy::Memory => format!("{gbytes:.1} GB/s"),
        };
        report::to_stdout(&format!(
            "{:<18} {:<22} {:<16} {:>9} {:>9} {:>5} {:>15} {:>5.0}% {:>9.1e}\n",
            timed.op,
            timed.shape.to_string(),
            timed.tile,
            duration(median),
            duration(timed.sample.min()),
            timed.sample.repetitions(),
            rate,
            100.0 * share,
            timed.error
        ))
    }

    pub(super) fn skipped(&mut self, op: &str, shape: Shape, error: &Error) -> Result<()> {
        let why = report::one_line(&flags::explain(error));
        self.skipped.push(json!({
            "op": op,
            "rows": shape.rows,
            "dim": shape.dim,
            "features": shape.features,
            "reason": why,
        }));
        if self.as_json {
            Ok(())
        } else {
            report::to_stdout(&format!(
                "{op:<18} {:<22} skipped: {why}\n",
                shape.to_string()
            ))
        }
    }

    /// All numbers, which programs get on stdout.
    pub(super) fn finish(mut self) -> Result<serde_json::Map<String, Value>> {
        self.object.insert("cases".into(), self.cases.into());
        self.object.insert("skipped".into(), self.skipped.into());
        if self.as_json {
            report::to_stdout(&format!("{}\n", Value::Object(self.object.clone())))?;
        }
        Ok(self.object)
    }
}

/// The titles of the table.
fn titles() -> String {
    format!(
        "\n{:<18} {:<22} {:<16} {:>9} {:>9} {:>5} {:>15} {:>6} {:>9}\n",
        "op", "shape", "tile", "median", "min", "runs", "rate", "share", "error"
    )
}

/// `1.23 ms` and the like.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
