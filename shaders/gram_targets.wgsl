// Z'Y for few targets, of which a column of tiles of gram.wgsl would be mostly padding: blocks of
// BLOCK rows are summed in f32, from row0 on, and left for gram_add.wgsl.
//
// Grid: (ceil(z_stride4 / CX), ceil(y_stride4 / Q), blocks) workgroups of CX x LANES invocations.
// One sums 4 features by 4 Q targets over every row of the block that is its lane modulo LANES, and
// the sums of lanes are added in order. Requires: BLOCK a multiple of UNROLL LANES; partial
// [blocks][block_size4], of which [4 z_stride4][y_stride4] are written. Columns in the padding give
// entries that nobody reads.
struct Params {
    row0: u32,
    row_end: u32,
    z_stride4: u32,
    y_stride4: u32,
    block_size4: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> z: array<vec4f>;
@group(0) @binding(2) var<storage, read> y: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> partial: array<vec4f>;

var<workgroup> stage: array<vec4f, ${CX * LANES}>;

// Rows beyond the last count as zero.
fn load_z(k: u32, col4: u32) -> vec4f {
    if k >= params.row_end { return vec4f(0.0); }
    return z[k * params.z_stride4 + col4];
}

fn load_y(k: u32, col4: u32) -> vec4f {
    return y[min(k, params.row_end - 1u) * params.y_stride4 + col4];
}

@compute @workgroup_size(${CX}, ${LANES})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let col4 = group.x * ${CX}u + local.x;
    let z_col4 = min(col4, params.z_stride4 - 1u);
    let q0 = group.y * ${Q}u;
    let block0 = params.row0 + group.z * ${BLOCK}u;
    let block_end = min(block0 + ${BLOCK}u, params.row_end);
//@ for q in 0..Q
    let y_col4_${q} = min(q0 + ${q}u, params.y_stride4 - 1u);
//@ for c in 0..4
    var acc${c}_${q} = vec4f(0.0);
//@ end
//@ end
    // UNROLL rows are on their way at a time.
    for (var k = block0 + local.y; k < block_end; k += ${UNROLL * LANES}u) {
//@ for u in 0..UNROLL
        let z${u} = load_z(k + ${u * LANES}u, z_col4);
//@ for q in 0..Q
        let y${u}_${q} = load_y(k + ${u * LANES}u, y_col4_${q});
//@ end
//@ end
//@ for u in 0..UNROLL
//@ for q in 0..Q
//@ for c in 0..4
        acc${c}_${q} = fma(vec4f(z${u}[${c}]), y${u}_${q}, acc${c}_${q});
//@ end
//@ end
//@ end
    }
    let at = local.y * ${CX}u + local.x;
    let stores = local.y == 0u && col4 < params.z_stride4;
    let base = group.z * params.block_size4 + 4u * col4 * params.y_stride4 + q0;
//@ for q in 0..Q
//@ for c in 0..4
    stage[at] = acc${c}_${q};
    workgroupBarrier();
    if stores && q0 + ${q}u < params.y_stride4 {
        var sum = acc${c}_${q};
//@ for l in 1..LANES
        sum += stage[local.x + ${l * CX}u];
//@ end
        partial[base + ${c}u * params.y_stride4 + ${q}u] = sum;
    }
    // The next sums overwrite what the first lane still reads.
    workgroupBarrier();
//@ end
//@ end
}
