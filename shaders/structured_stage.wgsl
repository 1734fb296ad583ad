// One step of a structured map whose rows exceed workgroup memory; Walsh-Hadamard passes run between the steps.
//
// STAGE 0: y = B x, x padded with zeros (the same for D3). STAGE 1: y = G P x. STAGE 2: y = D x.
// STAGE 3: y = amplitude * cos2pi(radius * x + phase), FORM 0 paired cosine and sine, 1 cosine with phase.
// Grid: (ceil(n / 256), rows) workgroups of 256 invocations, one element each.
// Requires: tables as structured.wgsl; permutation = plain indices, two a word where PACKED.
//@ include cos2pi
struct Params {
    n: u32,
    x_row0: u32,
    y_row0: u32,
    depth: u32,
    x_stride: u32,
    y_stride: u32,
    freqs: u32,
    block: u32,
    sign_at: u32,
    amplitude: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> signs: array<u32>;
@group(0) @binding(3) var<storage, read> permutation: array<u32>;
@group(0) @binding(4) var<storage, read> diagonal: array<f32>;
@group(0) @binding(5) var<storage, read> feature: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let i = group.x * 256u + local.x;
    if i >= params.n { return; }
    let from_row = (params.x_row0 + group.y) * params.x_stride;
    let to_row = (params.y_row0 + group.y) * params.y_stride;
//@ if STAGE == 0
    let v = select(0.0, x[from_row + min(i, params.depth - 1u)], i < params.depth);
//@ end
//@ if STAGE == 2
    let v = x[from_row + i];
//@ end
//@ if STAGE % 2 == 0
    let word = signs[params.sign_at + i / 32u];
    y[to_row + i] = bitcast<f32>(bitcast<u32>(v) ^ ((word << (31u - i % 32u)) & 0x80000000u));
//@ end
//@ if STAGE == 1
    let at = params.block * params.n + i;
//@ if PACKED
    let place = (permutation[at / 2u] >> (16u * (at % 2u))) & 0xffffu;
//@ else
    let place = permutation[at];
//@ end
    y[to_row + i] = diagonal[at] * x[from_row + place];
//@ end
//@ if STAGE == 3
    let f = params.block * params.n + i;
    if f >= params.freqs { return; }
//@ if FORM == 0
    let t = vec4f(feature[f] * x[from_row + i]);
    y[to_row + params.freqs + f] = params.amplitude * sin2pi(t).x;
//@ else
    let t = vec4f(fma(feature[f], x[from_row + i], feature[params.freqs + f]));
//@ end
    y[to_row + f] = params.amplitude * cos2pi(t).x;
//@ end
}
