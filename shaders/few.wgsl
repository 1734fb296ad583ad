// z = f(a b), as projection.wgsl and product.wgsl, for few rows: the columns alone do not fill a
// GPU, so the depth is split too, among the lanes of a workgroup and, where SPLIT, among
// workgroups, whose sums few_sum.wgsl adds up.
//
// Grid: (ceil(columns / 4 TX), ceil(rows / R), splits) workgroups of TX x LANES invocations. An
// invocation takes R rows, four columns, and every LANES-th vec4 of the depth of its split; lanes
// are added in order. Requires: a [rows][a_stride4], zero in the padding; b [depth][b_stride4];
// feature as projection.wgsl unless SPLIT or NONLINEARITY 7. Unless SPLIT, z [row0 +
// rows][z_stride]; else z [splits][rows][ceil(columns / 4)] vec4s of sums.
//@ let P = R
//@ if R > 4
//@ let P = 4
//@ end

struct Params {
    rows: u32,
    depth: u32,
    freqs: u32,
    a_stride4: u32,
    b_stride4: u32,
    z_stride: u32,
    row0: u32,
    // vec4s of depth in a split.
    per_split: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read> feature: array<vec2f>;
//@ if SPLIT
@group(0) @binding(4) var<storage, read_write> z: array<vec4f>;
//@ else
@group(0) @binding(4) var<storage, read_write> z: array<f32>;
//@ include features
//@ end

// Sums of P rows at a time: all of them would not fit.
var<workgroup> partial: array<vec4f, ${P * LANES * TX}>;

@compute @workgroup_size(${TX}, ${LANES})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let group_row = group.y * ${R}u;
    let col4 = group.x * ${TX}u + local.x;
    let b_col4 = min(col4, params.b_stride4 - 1u);
//@ for i in 0..R
    var acc${i} = vec4f(0.0);
//@ end
    let end4 = min((group.z + 1u) * params.per_split, (params.depth + 3u) / 4u);
    for (var k4 = group.z * params.per_split + local.y; k4 < end4; k4 += ${LANES}u) {
//@ for k in 0..4
        let b${k} = b[min(4u * k4 + ${k}u, params.depth - 1u) * params.b_stride4 + b_col4];
//@ end
//@ for i in 0..R
        let a${i} = a[min(group_row + ${i}u, params.rows - 1u) * params.a_stride4 + k4];
//@ for k in 0..4
        acc${i} = fma(vec4f(a${i}[${k}]), b${k}, acc${i});
//@ end
//@ end
    }
//@ for part in 0..R / P
//@ for i in 0..P
    partial[(${i}u * ${LANES}u + local.y) * ${TX}u + local.x] = acc${part * P + i};
//@ end
    workgroupBarrier();
    if local.y < ${P}u {
        let first = local.y * ${LANES * TX}u + local.x;
        var total = partial[first];
        for (var lane = 1u; lane < ${LANES}u; lane++) { total += partial[first + lane * ${TX}u]; }
        finish(group_row + ${part * P}u + local.y, col4, group.z, total);
    }
    // The next rows overwrite what neighbours still read.
    workgroupBarrier();
//@ end
}

fn finish(row: u32, col4: u32, split: u32, total: vec4f) {
    let col = 4u * col4;
    if row >= params.rows || col >= params.freqs { return; }
//@ if SPLIT
    z[(split * params.rows + row) * ((params.freqs + 3u) / 4u) + col4] = total;
//@ else
//@ include finish_features
//@ end
}
