// c = a b for row-major matrices: a [rows, depth], b [depth, cols], c [rows, cols].
//
// NARROW (few columns, bound by reading a): grid ceil(rows / (GROUPS * TM)) workgroups of LANES x
// GROUPS invocations; LANES neighbours share TM rows, read neighbouring vec4s of them, and add up
// through workgroup memory. 4 Q columns from vec4 q0. Else: grid (ceil(cols / BN), ceil(rows / BM))
// workgroups of TX x TY, each invocation TM x TN products in registers. Requires: rows whole vec4s
// apart, zero in the padding; that of c is written, from row c_row0 on.
struct Params {
    rows: u32,
    depth: u32,
    a_stride4: u32,
    b_stride4: u32,
    c_stride4: u32,
    q0: u32,
    c_row0: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> c: array<vec4f>;

// Four neighbours of the row of a that starts there, zero beyond its end.
fn load_a(start: u32, k4: u32) -> vec4f {
//@ if NARROW
    return a[start + k4];
//@ else
//@ if BK > 0
    if k4 >= params.a_stride4 { return vec4f(0.0); }
//@ end
    return a[start + k4];
//@ end
}

fn load_b(k: u32, col4: u32) -> vec4f {
    return b[min(k, params.depth - 1u) * params.b_stride4 + min(col4, params.b_stride4 - 1u)];
}

//@ if NARROW
var<workgroup> partial: array<vec4f, ${LANES * GROUPS * TM}>;

@compute @workgroup_size(${LANES}, ${GROUPS})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let group_row = group.x * ${GROUPS * TM}u;
    let row = group_row + local.y * ${TM}u;
//@ for i in 0..TM
//@ for q in 0..Q
    var acc${i}_${q} = vec4f(0.0);
//@ end
//@ end
//@ for i in 0..TM
    let start${i} = min(row + ${i}u, params.rows - 1u) * params.a_stride4;
//@ end
    for (var k4 = local.x; 4u * k4 < params.depth; k4 += ${LANES}u) {
//@ for i in 0..TM
        let a${i} = load_a(start${i}, k4);
//@ end
//@ for k in 0..4
//@ for q in 0..Q
        let b${k}_${q} = load_b(4u * k4 + ${k}u, params.q0 + ${q}u);
//@ for i in 0..TM
        acc${i}_${q} = fma(vec4f(a${i}[${k}]), b${k}_${q}, acc${i}_${q});
//@ end
//@ end
//@ end
    }
    let lane = local.y * ${LANES}u + local.x;
//@ for q in 0..Q
//@ for i in 0..TM
    partial[(local.y * ${TM}u + ${i}u) * ${LANES}u + local.x] = acc${i}_${q};
//@ end
    workgroupBarrier();
    if lane < ${GROUPS * TM}u {
        var total = partial[lane * ${LANES}u];
        for (var k = 1u; k < ${LANES}u; k++) { total += partial[lane * ${LANES}u + k]; }
        if group_row + lane < params.rows && params.q0 + ${q}u < params.c_stride4 {
            c[(params.c_row0 + group_row + lane) * params.c_stride4 + params.q0 + ${q}u] = total;
        }
    }
    // The next four columns overwrite what neighbours still read.
    workgroupBarrier();
//@ end
}
//@ else
//@ let BM = TY * TM
//@ let GATHER = 0
//@ let STRIP = 0
//@ include product

@compute @workgroup_size(${TX}, ${TY})
fn main(
    @builtin(workgroup_id) group: vec3u,
//@ if BAND
    @builtin(num_workgroups) groups: vec3u,
//@ end
    @builtin(local_invocation_id) local: vec3u,
) {
//@ include lanes
//@ include order
    let group_row = tile_y * ${BM}u;
    let group_col4 = tile_x * ${BN4}u;
    let row = group_row + lane_y * ${TM}u;
    let last_row = params.rows - 1u;
    let last_col4 = params.b_stride4 - 1u;
    let a_stride4 = params.a_stride4;
    let depth4 = (params.depth + 3u) / 4u;
//@ include product_loop
//@ for j in 0..TN4
    let col${j} = group_col4 + ${j * TX}u + lane_x;
    if col${j} < params.c_stride4 {
//@ for i in 0..TM
        if row + ${i}u < params.rows {
            c[(params.c_row0 + row + ${i}u) * params.c_stride4 + col${j}] = acc${i}_${j};
        }
//@ end
    }
//@ end
}
//@ end
