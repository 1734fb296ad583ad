// y = H x for rows of N elements, unnormalised, each row within one subgroup of SIZE invocations;
// from x, or where y stands already (IN_PLACE). No workgroup memory and no barrier: levels across
// invocations are shuffles.
//
// T = min(SIZE, N / 4) invocations share a row, E = N / 4 / T vec4s each: register r holds vec4 t +
// T r, so that neighbours read and write neighbours: levels below T are across invocations, the
// others between registers. They come within vec4s first, then between vec4s 64 and 128 apart, then
// 1, 2, ... 32 apart. The form in workgroup memory has the same order, and so the same bits. Grid:
// one workgroup of 128 invocations per ROWS = 128 / T rows; subgroups must be full, 128 / SIZE of
// them in a workgroup. Requires: wgpu's SUBGROUP; rows whole vec4s apart.
struct Params {
    rows: u32,
    x_stride4: u32,
    y_stride4: u32,
    row4: u32,
    inner4: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let t = lane % ${T}u;
    let row = (group.y * groups.x + group.x) * ${ROWS}u + subgroup * ${SIZE / T}u + lane / ${T}u;
    // Rows beyond the last are computed from the last and not stored: nobody leaves before a
    // shuffle.
    let from_row = min(row, params.rows - 1u);
//@ for r in 0..E
//@ if IN_PLACE
    let x${r} = y[from_row * params.y_stride4 + t + ${T * r}u];
//@ else
    let x${r} = x[from_row * params.x_stride4 + t + ${T * r}u];
//@ end
    let p${r} = vec4f(x${r}.xz + x${r}.yw, x${r}.xz - x${r}.yw);
    var v${r} = vec4f(p${r}.xz + p${r}.yw, p${r}.xz - p${r}.yw);
//@ end
//@ for k in 0..8
//@ let LEVEL = (k + 6) % 8
//@ let APART = 1
//@ for i in 0..LEVEL
//@ let APART = APART * 2
//@ end
//@ if APART < T
    // The upper of two partners takes their difference, the lower their sum. The product is exact.
    let sign${LEVEL} = select(1.0, -1.0, (lane & ${APART}u) != 0u);
//@ for r in 0..E
    v${r} = subgroupShuffleXor(v${r}, ${APART}u) + sign${LEVEL} * v${r};
//@ end
//@ else
//@ let FIRST = APART / T
//@ let LAST = 0
//@ if APART < T * E
//@ let LAST = 2 * FIRST
//@ end
//@ include butterflies
//@ end
//@ end
    if row < params.rows {
//@ for r in 0..E
        y[row * params.y_stride4 + t + ${T * r}u] = v${r};
//@ end
    }
}
