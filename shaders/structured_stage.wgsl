// One pass of a structured map whose rows of n elements exceed workgroup memory, over scratch rows:
// the factors between its transforms are applied where a pass reads or writes anyway.
//
// STAGE 0, 1, 2: the first LOG_N levels of a transform of y = B x, x padded with zeros (the same
// for D3), of y = G P x, or of y = D x. Grid: (n / N, rows) workgroups, T invocations each, E
// elements in registers, N floats of workgroup memory. STAGE 3: the last LOG_E levels, and y =
// amplitude * cos2pi(radius * x + phase), FORM 0 paired cosine and sine, 1 cosine with phase. Grid:
// (ceil(n / COLUMNS / E / 64), rows) workgroups of 64 invocations, each of COLUMNS neighbouring
// columns, inner4 vec4s apart. Between them go the strided passes of walsh_hadamard.wgsl. Requires:
// n a multiple of N; tables as structured.wgsl; permutation = plain indices, two a word where
// PACKED.
//@ include row_layout
//@ include columns
//@ include cos2pi
struct Params {
    n: u32,
    x_row0: u32,
    y_row0: u32,
    depth: u32,
    x_stride4: u32,
    y_stride: u32,
    freqs: u32,
    block: u32,
    sign_at: u32,
    inner4: u32,
    amplitude: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Columns>;
@group(0) @binding(2) var<storage, read> signs: array<u32>;
@group(0) @binding(3) var<storage, read> permutation: array<u32>;
@group(0) @binding(4) var<storage, read> diagonal: array<f32>;
@group(0) @binding(5) var<storage, read> feature: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;

//@ if STAGE == 3
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let column = group.x * 64u + local.x;
    if column >= params.n / ${COLUMNS * E}u { return; }
    let inner = params.inner4 * ${4 / COLUMNS}u;
    let first = column / inner * inner * ${E}u + column % inner;
    let x_row = (params.x_row0 + group.y) * params.x_stride4 * ${4 / COLUMNS}u;
    let y_row = (params.y_row0 + group.y) * params.y_stride;
//@ for q in 0..E
    var v${q} = x[x_row + first + ${q}u * inner];
//@ end
//@ let FIRST = 1
//@ let LAST = E
//@ include butterflies
    let last = params.freqs - 1u;
//@ for j in 0..E * COLUMNS / 4
    {
        var f = vec4u(0u);
        var h = vec4f(0.0);
//@ for i in 0..4
//@ let Q = (4 * j + i) / COLUMNS
        f[${i}] = params.block * params.n
            + ${COLUMNS}u * (first + ${Q}u * inner) + ${i % COLUMNS}u;
//@ if COLUMNS == 1
        h[${i}] = v${Q};
//@ else
        h[${i}] = v${Q}[${i % COLUMNS}];
//@ end
//@ end
        let at = min(f, vec4u(last));
        let radius = vec4f(feature[at.x], feature[at.y], feature[at.z], feature[at.w]);
//@ if FORM == 0
        let turns = radius * h;
        let s = params.amplitude * sin2pi(turns);
//@ else
        let p = at + params.freqs;
        let phase = vec4f(feature[p.x], feature[p.y], feature[p.z], feature[p.w]);
        let turns = fma(radius, h, phase);
//@ end
        let c = params.amplitude * cos2pi(turns);
//@ for i in 0..4
        if f[${i}] < params.freqs {
            y[y_row + f[${i}]] = c[${i}];
//@ if FORM == 0
            y[y_row + params.freqs + f[${i}]] = s[${i}];
//@ end
        }
//@ end
    }
//@ end
}
//@ else
var<workgroup> exchange: array<f32, ${N}>;

//@ if STAGE % 2 == 0
// v, or -v where the bit is set.
fn flip(v: f32, word: u32, bit: u32) -> f32 {
    return bitcast<f32>(bitcast<u32>(v) ^ ((word << (31u - bit)) & 0x80000000u));
}
//@ else
// G P x at element i of the row that starts at vec4 x_row.
fn mixed(x_row: u32, i: u32) -> f32 {
    let at = params.block * params.n + i;
//@ if PACKED
    let place = (permutation[at / 2u] >> (16u * (at % 2u))) & 0xffffu;
//@ else
    let place = permutation[at];
//@ end
    return diagonal[at] * x[x_row + place / 4u][place % 4u];
}
//@ end

@compute @workgroup_size(${T})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let t = local.x;
    let base = 0u;
//@ include row_start
    let part = group.x * ${N}u;
    let x_row = (params.x_row0 + group.y) * params.x_stride4;
//@ for h in 0..E/LOW
    let i${h} = part + start + ${APART_A * h}u;
//@ if STAGE % 2 == 0
    let word${h} = signs[params.sign_at + i${h} / 32u] >> (i${h} % 32u);
//@ end
//@ for l4 in 0..LOW4
//@ if STAGE == 0
    let x${h}_${l4} = x[x_row + min(i${h} / 4u + ${l4}u, params.x_stride4 - 1u)];
//@ end
//@ if STAGE == 2
    let x${h}_${l4} = x[x_row + i${h} / 4u + ${l4}u];
//@ end
//@ for c in 0..WIDTH
//@ if STAGE == 0
    var v${LOW * h + 4 * l4 + c} = flip(
        select(0.0, x${h}_${l4}[${c}], i${h} + ${4 * l4 + c}u < params.depth),
        word${h},
        ${4 * l4 + c}u,
    );
//@ end
//@ if STAGE == 1
    var v${LOW * h + 4 * l4 + c} = mixed(x_row, i${h} + ${4 * l4 + c}u);
//@ end
//@ if STAGE == 2
    var v${LOW * h + 4 * l4 + c} = flip(x${h}_${l4}[${c}], word${h}, ${4 * l4 + c}u);
//@ end
//@ end
//@ end
//@ end
//@ include transform
//@ include row_end
    let y_row = (params.y_row0 + group.y) * params.y_stride + part;
//@ for r in 0..E
    y[y_row + first${r / T} + ${APART_B * (r % T)}u] = v${r};
//@ end
}
//@ end
