// Fused multiply-adds on registers alone: what the arithmetic units of a device give.
//
// Every invocation runs CHAINS independent chains of vec4s, `rounds` times UNROLL steps of acc =
// fma(acc, scale, shift), and writes their sum, so that nothing can be left out. Operands come from
// the uniform, so that nothing can be computed ahead. Grid: `workgroups` of 256 invocations; one
// vec4 of `sums` each.
struct Params {
    scale: vec4f,
    shift: vec4f,
    rounds: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> sums: array<vec4f>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let scale = params.scale;
    let shift = params.shift;
    let start = vec4f(f32(id.x & 1023u)) * shift;
//@ for c in 0..CHAINS
    var acc${c} = start + ${c}.0 * shift;
//@ end
    for (var round = 0u; round < params.rounds; round++) {
//@ for u in 0..UNROLL
//@ for c in 0..CHAINS
        acc${c} = fma(acc${c}, scale, shift);
//@ end
//@ end
    }
    var sum = acc0;
//@ for c in 1..CHAINS
    sum += acc${c};
//@ end
    sums[id.x] = sum;
}
