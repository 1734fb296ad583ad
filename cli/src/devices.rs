//! `bochner devices`: what there is to run on.

use crate::{
    drivers::quietly,
    report::{self, OutputArgs, Value},
};
use anyhow::Result;
use bochner::{
    Device,
    device::{AdapterReport, CpuDevice, cpu::instruction_set},
};
use serde_json::json;
use std::fmt::Write;

/// Arguments of `bochner devices`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Lists the adapters, the CPU backend, and which one `auto` takes.
pub(crate) fn run(args: &Args) -> Result<()> {
    let listing = quietly(Device::report);
    let (device, why) = &listing.auto;
    if args.output.json {
        let mut devices: Vec<Value> = listing.adapters.iter().map(adapter_json).collect();
        devices.push(json!({
            "name": "CPU",
            "kind": "cpu",
            "driver": instruction_set(),
            "backend": "CPU",
            "threads": CpuDevice::shared().threads(),
            "usable": true,
            "refusal": null,
        }));
        let object = json!({
            "devices": devices,
            "auto": {"device": device, "why": why},
            "reason": listing.reason,
        });
        return report::to_stdout(&format!("{object}\n"));
    }
    let mut text = String::new();
    for adapter in &listing.adapters {
        adapter_text(adapter, &mut text);
    }
    writeln!(text, "{}\n", listing.cpu)?;
    let why = match why.is_empty() {
        true => String::new(),
        false => format!(" ({why})"),
    };
    writeln!(text, "auto takes: {device}{why}")?;
    report::to_stdout(&text)
}

fn adapter_json(adapter: &AdapterReport) -> Value {
    json!({
        "name": adapter.name,
        "kind": adapter.kind.to_string(),
        "driver": adapter.driver,
        "backend": adapter.backend,
        "usable": adapter.refusal.is_none(),
        "refusal": adapter.refusal,
        "max_binding_bytes": adapter.max_binding_bytes,
        "workgroup_bytes": adapter.workgroup_bytes,
        "workgroup_invocations": adapter.workgroup_invocations,
        "subgroup": [adapter.subgroup.0, adapter.subgroup.1],
    })
}

fn adapter_text(adapter: &AdapterReport, text: &mut String) {
    let (low, high) = adapter.subgroup;
    let subgroup = match low == high {
        true => low.to_string(),
        false => format!("{low} to {high}"),
    };
    let mut lines = vec![
        ("kind", adapter.kind.to_string()),
        ("driver", format!("{}, {}", adapter.backend, adapter.driver)),
        (
            "limits",
            format!(
                "binding {}, workgroup {} and {} invocations, subgroup {subgroup}",
                indicatif::BinaryBytes(adapter.max_binding_bytes),
                indicatif::BinaryBytes(adapter.workgroup_bytes.into()),
                adapter.workgroup_invocations
            ),
        ),
    ];
    if let Some(refusal) = &adapter.refusal {
        lines.push(("too small", refusal.clone()));
    }
    text.push_str(&adapter.name);
    text.push('\n');
    for (label, line) in lines {
        text.push_str(&format!("  {label:9}  {line}\n"));
    }
}
