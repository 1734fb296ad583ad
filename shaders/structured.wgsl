// z = amplitude * cos2pi(radius * C x + phase) for one structured block C of N = 1 << LOG_N
// frequencies at a time, x padded with zeros to N: Fastfood (KIND 0) C = H G P H B, SORF (KIND 1)
// C = H D1 H D2 H D3, H unnormalised.
//
// Grid: one workgroup per ROWS rows and block, blocks fastest, so that neighbours find x in cache;
// T x ROWS invocations, E elements in registers, ROWS * N floats <= 16 KiB of workgroup memory, or
// N = 8192 in 32 KiB. Requires: signs = for each block the words of B (or of D3, D2, D1),
// sign_words each, bit i set for -1; permutation = for each block N (at least 8) 16-bit places in
// the exchange, two a word; diagonal = G, N (at least 8) a block; feature = the radii of all
// frequencies, then (FORM 1) their phases. Frequencies beyond the last are not stored. FORM: 0
// paired cosine and sine, 1 cosine with phase.
//@ include row_layout
//@ include cos2pi
struct Params {
    rows: u32,
    row0: u32,
    depth: u32,
    x_stride4: u32,
    freqs: u32,
    z_stride: u32,
    blocks: u32,
    sign_words: u32,
    amplitude: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> signs: array<u32>;
@group(0) @binding(3) var<storage, read> permutation: array<vec4u>;
@group(0) @binding(4) var<storage, read> diagonal: array<vec4f>;
@group(0) @binding(5) var<storage, read> feature: array<f32>;
@group(0) @binding(6) var<storage, read_write> z: array<f32>;

var<workgroup> exchange: array<f32, ${ROWS * N}>;

//@ let GROUP = 4
//@ if E < 4
//@ let GROUP = E
//@ end
// v, or -v where the bit is set.
fn flip(v: f32, word: u32, bit: u32) -> f32 {
    return bitcast<f32>(bitcast<u32>(v) ^ ((word << (31u - bit)) & 0x80000000u));
}

fn store(row: u32, f: vec4u, t: vec4f) {
    let c = params.amplitude * cos2pi(t);
//@ if FORM == 0
    let s = params.amplitude * sin2pi(t);
//@ end
    let at = row * params.z_stride;
//@ for i in 0..GROUP
    if f[${i}] < params.freqs {
        z[at + f[${i}]] = c[${i}];
//@ if FORM == 0
        z[at + params.freqs + f[${i}]] = s[${i}];
//@ end
    }
//@ end
}

//@ let BLOCK = N
//@ if N < 8
//@ let BLOCK = 8
//@ end

@compute @workgroup_size(${T * ROWS})
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_id) local: vec3u,
) {
    let number = group.y * groups.x + group.x;
    let block = number % params.blocks;
    let t = local.x % ${T}u;
    let row = number / params.blocks * ${ROWS}u + local.x / ${T}u;
    let base = local.x / ${T}u * ${N}u;
//@ include row_start
    // Rows beyond the last are computed from the last and not stored.
    let x_row = (params.row0 + min(row, params.rows - 1u)) * params.x_stride4;
//@ if KIND == 0
    let sign_at = block * params.sign_words;
//@ else
    let sign_at = block * 3u * params.sign_words;
//@ end

    // x, zero beyond d, with the signs of B or D3.
//@ for h in 0..E/LOW
    let i${h} = start + ${APART_A * h}u;
    let word${h} = signs[sign_at + i${h} / 32u] >> (i${h} % 32u);
//@ for l4 in 0..LOW4
    let x${h}_${l4} = x[x_row + min(i${h} / 4u + ${l4}u, params.x_stride4 - 1u)];
//@ for c in 0..WIDTH
    var v${LOW * h + 4 * l4 + c} = flip(
        select(0.0, x${h}_${l4}[${c}], i${h} + ${4 * l4 + c}u < params.depth),
        word${h},
        ${4 * l4 + c}u,
    );
//@ end
//@ end
//@ end
//@ include transform
//@ include row_end

//@ if KIND == 0
    // Nobody else has read what an invocation writes here.
//@ include exchange_put_b
    workgroupBarrier();
//@ for h in 0..E/LOW
    {
        let at = (block * ${BLOCK}u + i${h}) / 8u;
        let places = permutation[at];
//@ for l4 in 0..LOW4
        let g${l4} = diagonal[2u * at + ${l4}u];
//@ for c in 0..WIDTH
        v${LOW * h + 4 * l4 + c} = g${l4}[${c}]
            * exchange[base + ((places[${2 * l4 + c / 2}] >> ${16 * (c % 2)}u) & 0xffffu)];
//@ end
//@ end
    }
//@ end
//@ if T > 1
    // All have read what the next exchange writes.
    workgroupBarrier();
//@ end
//@ else
    // D2, back to layout A, and D1.
//@ for r in 0..E
    {
        let i = first${r / T} + ${APART_B * (r % T) + r / 16 * UPPER}u;
        v${r} = flip(v${r}, signs[sign_at + params.sign_words + i / 32u], i % 32u);
    }
//@ end
//@ include transform_back
//@ for h in 0..E/LOW
    {
        let word = signs[sign_at + 2u * params.sign_words + i${h} / 32u] >> (i${h} % 32u);
//@ for l in 0..LOW
        v${LOW * h + l} = flip(v${LOW * h + l}, word, ${l}u);
//@ end
    }
//@ end
//@ end
//@ include transform

    if row >= params.rows { return; }
    let last = params.freqs - 1u;
//@ for j in 0..E/GROUP
    {
        var f = vec4u(0u);
        var turns = vec4f(0.0);
//@ for c in 0..GROUP
//@ let R = GROUP * j + c
        f[${c}] = block * ${N}u + first${R / T} + ${APART_B * (R % T) + R / 16 * UPPER}u;
//@ if FORM == 0
        turns[${c}] = feature[min(f[${c}], last)] * v${GROUP * j + c};
//@ else
        turns[${c}] = fma(
            feature[min(f[${c}], last)],
            v${GROUP * j + c},
            feature[params.freqs + min(f[${c}], last)],
        );
//@ end
//@ end
        store(row, f, turns);
    }
//@ end
}
