// Fused multiply-adds on registers alone: what the arithmetic units of a device give.
//
// Every invocation runs CHAINS independent chains of two vec4s, `rounds` times UNROLL steps of a +=
// b * turn and b += a * back in turn, and writes their sum, so that nothing can be left out. With
// back = -turn points go round ellipses, which neither grow nor shrink. A sum that is added to
// where it stands is what products do, and the only multiply-add of which RDNA 3 issues two at
// once. Operands come from the uniform, so that nothing can be computed ahead. Grid: `workgroups`
// of 256 invocations; one vec4 of `sums` each.
struct Params {
    turn: vec4f,
    back: vec4f,
    rounds: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> sums: array<vec4f>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let turn = params.turn;
    let back = params.back;
    let start = f32(id.x & 1023u) / 1024.0;
//@ for c in 0..CHAINS
    var a${c} = vec4f(start + ${c}.0 / 8.0);
    var b${c} = turn;
//@ end
    for (var round = 0u; round < params.rounds; round++) {
//@ for u in 0..UNROLL/2
//@ for c in 0..CHAINS
        a${c} = fma(b${c}, turn, a${c});
//@ end
//@ for c in 0..CHAINS
        b${c} = fma(a${c}, back, b${c});
//@ end
//@ end
    }
    var sum = a0 + b0;
//@ for c in 1..CHAINS
    sum += a${c} + b${c};
//@ end
    sums[id.x] = sum;
}
