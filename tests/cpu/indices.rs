//! In ops that run without wgpu's bounds checks, every index is in bounds, for every variant,
//! invocation of a workgroup and depth of a stage. Indices of storage buffers are not checked here:
//! devices guard those.

use crate::walk::{Seen, walk};
use bochner::registry;
use naga::valid::{Capabilities, ValidationFlags, Validator};

fn seen(text: &str) -> Seen {
    let module = naga::front::wgsl::parse_str(text).expect("parses");
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let info = validator.validate(&module).expect("validates");
    walk(&module, &info)
}

/// The text with its first array of workgroup memory one element shorter.
fn shorter(text: &str) -> Option<String> {
    let (before, rest) = text.split_once("var<workgroup> ")?;
    let (name, rest) = rest.split_once(": array<vec4f, ")?;
    let (length, rest) = rest.split_once('>')?;
    let length: u32 = length.parse().expect("a length");
    let less = length - 1;
    Some(format!(
        "{before}var<workgroup> {name}: array<vec4f, {less}>{rest}"
    ))
}

#[test]
fn every_index_of_an_unchecked_op_lies_inside() {
    let (mut ops, mut variants, mut indices) = (0, 0, 0);
    for op in registry::shaders().filter(|op| op.is_unchecked()) {
        ops += 1;
        for variant in (op.variants)() {
            let text = op.text(&variant).expect("expands");
            let Seen { indices: n, faults } = seen(&text);
            assert!(faults.is_empty(), "{}{variant}: {faults:?}", op.name);
            variants += 1;
            indices += n;
            // Negative control: the last element is used.
            if let Some(text) = shorter(&text) {
                assert!(n > 0, "{}{variant}: nothing was seen", op.name);
                let faults = seen(&text).faults;
                assert!(!faults.is_empty(), "{}{variant} is too long", op.name);
            }
        }
    }
    println!("{indices} indices of {variants} variants of {ops} ops");
    assert_eq!(ops, 6);
}

/// Negative controls: indices that the interpreter must report.
#[test]
fn the_walk_sees_what_lies_outside() {
    let faults = |body: &str| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read> data: array<u32>;\n\
             var<workgroup> memory: array<vec4f, 64>;\n\
             fn twice(i: u32) -> u32 {{ return 2u * i; }}\n\
             @compute @workgroup_size(8, 4)\n\
             fn main(@builtin(local_invocation_id) local: vec3u,\n\
             @builtin(workgroup_id) group: vec3u) {{\n\
             let lane = local.y * 8u + local.x;\n{body}\n}}"
        );
        seen(&text).faults.len()
    };
    for inside in [
        "memory[lane + 32u] = vec4f(0.0);",
        "memory[twice(lane) + 1u] = vec4f(0.0);",
        "if lane < 16u { memory[lane + 48u] = vec4f(0.0); }",
        "for (var k = 0u; k < 33u; k++) { memory[k + lane] = vec4f(0.0); }",
        "for (var k = 0u; k < data[0]; k++) { memory[lane ^ 32u][local.x % 4u] = 0.0; }",
        "var at = lane; if local.y == 3u { at = 63u; } memory[at] = vec4f(0.0);",
        "for (var k = lane; k < 64u; k += 32u) { memory[k] = vec4f(0.0); }",
        "for (var k = 0u; k < data[0]; k++) { memory[lane + k % 2u * 32u] = vec4f(0.0); }",
        "var at = 0u; if data[0] > 1u { at = data[1] % 2u * 32u; } memory[data[2] % 2u] = vec4f(0.0);",
    ] {
        assert_eq!(faults(inside), 0, "{inside}");
    }
    for outside in [
        "memory[lane + 33u] = vec4f(0.0);",
        "memory[twice(lane) + 2u] = vec4f(0.0);",
        "if lane < 17u { memory[lane + 48u] = vec4f(0.0); }",
        "for (var k = 0u; k < 34u; k++) { memory[k + lane] = vec4f(0.0); }",
        "for (var k = 0u; k < data[0]; k++) { memory[k] = vec4f(0.0); }",
        "for (var k = 0u; k < data[0]; k++) { memory[lane][local.x] = 0.0; }",
        "memory[data[lane]] = vec4f(0.0);",
        "memory[group.x] = vec4f(0.0);",
        "var at = lane; if data[0] == 3u { at = 64u; } memory[at] = vec4f(0.0);",
        "var at = lane; if local.y == 3u { at = 64u; } memory[at] = vec4f(0.0);",
        "for (var k = 0u; k < data[0]; k++) { memory[lane + k % 2u * 33u] = vec4f(0.0); }",
        "for (var k = 0u; k < data[0]; k++) { memory[lane + k % 3u * 32u] = vec4f(0.0); }",
        "memory[lane + data[0] % (lane + 1u)] = vec4f(0.0);",
        "var v = 0u; for (var k = 0u; k < data[0]; k++) { memory[v] = vec4f(0.0); v += 1u; }",
    ] {
        assert!(faults(outside) > 0, "{outside}");
    }
}
