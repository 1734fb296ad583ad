//! Every shader of the registry as the SPIR-V for Vulkan drivers, which `cargo xtask codegen`
//! compiles without a GPU.

use bochner::{
    device::AdapterKind,
    form::Tile,
    registry::{self, Op, Variant},
};
use naga::{
    back::spv,
    proc::{BoundsCheckPolicies, BoundsCheckPolicy},
    valid::{Capabilities, ValidationFlags, Validator},
};
use serde_json::{Value, json};
use std::{collections::HashSet, fs, path::PathBuf};

/// Options that wgpu passes to its translator for a Vulkan device with robust buffers, with the
/// checks of a release build (`device/gpu/driver_code.rs`).
fn options(op: &Op) -> spv::Options<'static> {
    spv::Options {
        lang_version: (1, 6),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: if op.is_unchecked() {
                BoundsCheckPolicy::Unchecked
            } else {
                BoundsCheckPolicy::Restrict
            },
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        ..Default::default()
    }
}

/// Capabilities of all ops beyond WebGPU's minimum.
const CAPABILITIES: Capabilities = Capabilities::SUBGROUP
    .union(Capabilities::SHADER_FLOAT16)
    .union(Capabilities::COOPERATIVE_MATRIX);

fn spirv(op: &Op, variant: &Variant) -> Vec<u32> {
    let text = op.text(variant).expect("expands");
    let module = naga::front::wgsl::parse_str(&text).expect("parses");
    let mut validator = Validator::new(ValidationFlags::all(), CAPABILITIES);
    let info = validator.validate(&module).expect("validates");
    spv::write_vec(&module, &info, &options(op), None).expect("translates")
}

/// `OP__VARIANT.spv`, with the constants of the variant as named in the shader.
fn file(op: &Op, variant: &Variant) -> String {
    let constants = variant.constants().iter();
    let constants: Vec<_> = constants.map(|(name, v)| format!("{name}{v}")).collect();
    format!("{}__{}.spv", op.name, constants.join("-"))
}

fn entry(op: &Op, variant: &Variant) -> Value {
    let kinds = [
        AdapterKind::Discrete,
        AdapterKind::Integrated,
        AdapterKind::Software,
    ];
    let of = kinds
        .into_iter()
        .filter(|&kind| registry::is_default(op, variant, kind));
    json!({
        "file": file(op, variant),
        "op": op.name,
        "variant": variant.to_string(),
        "tile": Tile::from_variant(variant).map(|tile| tile.name),
        "default_of": of.map(|kind| kind.to_string()).collect::<Vec<_>>(),
    })
}

#[test]
fn every_variant_has_a_file_of_its_own() {
    let mut names = HashSet::new();
    for op in registry::shaders() {
        for variant in (op.variants)() {
            assert!(names.insert(file(op, &variant)), "{}{variant}", op.name);
        }
    }
    assert!(names.len() > 300);
}

/// One variant of every op; parity and validation check all of them.
#[test]
fn shaders_become_spirv() {
    const MAGIC: u32 = 0x0723_0203;
    for op in registry::shaders() {
        let variant = (op.variants)().swap_remove(0);
        assert_eq!(spirv(op, &variant)[0], MAGIC, "{}", op.name);
    }
}

#[test]
fn every_op_has_a_default_on_every_kind_of_adapter() {
    for op in registry::shaders().filter(|op| op.name != "projection_naive") {
        let variants = (op.variants)();
        let of = |kind| {
            let is = move |v: &&Variant| registry::is_default(op, v, kind);
            variants.iter().filter(is).map(Variant::to_string)
        };
        let discrete: HashSet<_> = of(AdapterKind::Discrete).collect();
        let software: HashSet<_> = of(AdapterKind::Software).collect();
        assert!(!discrete.is_empty(), "{}", op.name);
        // Shapes for one kind of adapter are not used for the other, for ops that have shapes.
        if ["projection", "predict", "gram", "kernel_block"].contains(&op.name) {
            assert!(!software.is_empty() && software.is_disjoint(&discrete));
            assert!(
                software.len() + discrete.len() < variants.len(),
                "{}",
                op.name
            );
        }
    }
}

#[test]
#[ignore = "writes files: `cargo xtask codegen` asks for them"]
fn every_variant_is_written() {
    let folder = std::env::var_os("BOCHNER_SPIRV").expect("BOCHNER_SPIRV names a folder");
    let folder = PathBuf::from(folder);
    let mut list = Vec::new();
    for op in registry::shaders() {
        for variant in (op.variants)() {
            let words = spirv(op, &variant);
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            fs::write(folder.join(file(op, &variant)), bytes).expect("is written");
            list.push(entry(op, &variant));
        }
    }
    let text = serde_json::to_string_pretty(&list).expect("is JSON");
    fs::write(folder.join("variants.json"), text).expect("is written");
}
