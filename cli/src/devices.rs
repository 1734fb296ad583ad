//! `bochner devices`: what there is to run on.

use crate::{
    drivers::quietly,
    report::{self, OutputArgs, Value},
};
use anyhow::Result;
use bochner::{
    Device,
    device::{AdapterReport, CpuDevice, InstructionSet},
    ops::projection,
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
    let set = InstructionSet::chosen()?;
    let mut listing = quietly(Device::report);
    try_units(&mut listing.adapters)?;
    let listing = listing;
    let (device, why) = &listing.auto;
    if args.output.json {
        let mut devices: Vec<Value> = listing.adapters.iter().map(adapter_json).collect();
        devices.push(json!({
            "name": "CPU",
            "kind": "cpu",
            "driver": set.to_string(),
            "instruction_sets": InstructionSet::here()
                .map(|set| set.to_string())
                .collect::<Vec<_>>(),
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
    let why = if why.is_empty() {
        String::new()
    } else {
        format!(" ({why})")
    };
    writeln!(text, "auto takes: {device}{why}")?;
    report::to_stdout(&text)
}

/// Where an adapter lists matrix units it is opened, and they are tried.
fn try_units(adapters: &mut [AdapterReport]) -> Result<()> {
    let listed = |a: &&mut AdapterReport| a.refusal.is_none() && a.units.is_ok();
    if !adapters.iter_mut().any(|a| listed(&a)) {
        return Ok(());
    }
    let opened = quietly(Device::all_gpus)?;
    let usable = adapters.iter_mut().filter(|a| a.refusal.is_none());
    for (adapter, device) in usable.zip(&opened) {
        if let (true, Device::Gpu(gpu)) = (adapter.units.is_ok(), device) {
            adapter.units = projection::units(gpu)?;
        }
    }
    Ok(())
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
        "units": match &adapter.units {
            Ok(side) => json!({"side": side, "refusal": null}),
            Err(why) => json!({"side": null, "refusal": why}),
        },
    })
}

fn adapter_text(adapter: &AdapterReport, text: &mut String) {
    let (low, high) = adapter.subgroup;
    let subgroup = if low == high {
        low.to_string()
    } else {
        format!("{low} to {high}")
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
    lines.push((
        "units",
        match &adapter.units {
            Ok(side) => format!(
                "{side} x {side} of f16, summed in f32; used where BOCHNER_UNITS asks for them"
            ),
            Err(why) => format!("none: {why}; projections are computed in f32"),
        },
    ));
    if let Some(refusal) = &adapter.refusal {
        lines.push(("too small", refusal.clone()));
    }
    text.push_str(&adapter.name);
    text.push('\n');
    for (label, line) in lines {
        text.push_str(&format!("  {label:9}  {line}\n"));
    }
}
