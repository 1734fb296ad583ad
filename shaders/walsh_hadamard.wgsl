// y = H x for rows of N = 1 << LOG_N elements, unnormalised; from x, or where y stands already
// (IN_PLACE).
//
// Neither QUADS nor STRIDED: whole rows of N <= 4096. Grid: one workgroup per ROWS rows, T x ROWS
// invocations, each E elements in registers, one exchange through workgroup memory (ROWS * N floats
// <= 16 KiB). QUADS: the same for 16 <= N <= 1024 with everything in vec4s, E = 1 << LOG_E of them
// in T = N / 4 / E <= E invocations: elements of a vec4 and E neighbours first, then, after the
// exchange, the levels between neighbourhoods, so that stores of neighbouring invocations are
// neighbours. STRIDED: one pass over longer rows in place: levels between elements inner4 vec4s
// apart, E = 1 << LOG_E of them. Grid: (ceil(row4 / E / 64), rows) workgroups of 64 invocations,
// each one vec4 of columns. Requires: rows whole vec4s apart. The padding of rows shorter than a
// vec4 is left alone.
//@ if QUADS
//@ let Q = 1
//@ for i in 0..LOG_N-2
//@ let Q = Q * 2
//@ end
//@ let E = 1
//@ for i in 0..LOG_E
//@ let E = E * 2
//@ end
//@ let T = Q / E
//@ else
//@ include row_layout
//@ end
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

//@ if STRIDED
@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_id) local: vec3u,
) {
    let column = group.x * 64u + local.x;
    if column >= params.row4 / ${E}u { return; }
    let outer = column / params.inner4;
    let at = group.y * params.y_stride4 + outer * params.inner4 * ${E}u + column % params.inner4;
//@ for q in 0..E
    var v${q} = y[at + ${q}u * params.inner4];
//@ end
//@ let FIRST = 1
//@ let LAST = E
//@ include butterflies
//@ for q in 0..E
    y[at + ${q}u * params.inner4] = v${q};
//@ end
}
//@ else
//@ if QUADS
//@ if T > 1
var<workgroup> exchange: array<vec4f, ${ROWS * Q}>;
//@ end

@compute @workgroup_size(${T * ROWS})
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_id) local: vec3u,
) {
    let t = local.x % ${T}u;
    let row = (group.y * groups.x + group.x) * ${ROWS}u + local.x / ${T}u;
    // Rows beyond the last are computed from the last and not stored.
    let x_row = min(row, params.rows - 1u);
    // Register s holds vec4 s of this invocation's E neighbours. The two levels inside it:
//@ for s in 0..E
//@ if IN_PLACE
    let x${s} = y[x_row * params.y_stride4 + ${E}u * t + ${s}u];
//@ else
    let x${s} = x[x_row * params.x_stride4 + ${E}u * t + ${s}u];
//@ end
    let p${s} = vec4f(x${s}.xz + x${s}.yw, x${s}.xz - x${s}.yw);
    var v${s} = vec4f(p${s}.xz + p${s}.yw, p${s}.xz - p${s}.yw);
//@ end
//@ let FIRST = 1
//@ let LAST = E
//@ include butterflies
//@ if T > 1
    // The xor spreads what is written and what is read over all banks.
    let base = local.x / ${T}u * ${Q}u;
//@ for s in 0..E
    exchange[base + ${E}u * t + (t ^ ${s}u)] = v${s};
//@ end
    workgroupBarrier();
    // Register T w + j: vec4 t + T w of neighbourhood j.
//@ for w in 0..E/T
//@ for j in 0..T
    v${w * T + j} = exchange[base + ${E * j}u + ((t + ${T * w}u) ^ ${j}u)];
//@ end
//@ end
//@ let LAST = T
//@ include butterflies
//@ end
    if row < params.rows {
        let to = row * params.y_stride4 + t;
//@ for w in 0..E/T
//@ for j in 0..T
        y[to + ${E * j + T * w}u] = v${w * T + j};
//@ end
//@ end
    }
}
//@ else
//@ if T > 1
var<workgroup> exchange: array<f32, ${ROWS * N}>;
//@ end

@compute @workgroup_size(${T * ROWS})
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_id) local: vec3u,
) {
    let t = local.x % ${T}u;
    let row = (group.y * groups.x + group.x) * ${ROWS}u + local.x / ${T}u;
    let base = local.x / ${T}u * ${N}u;
    // Rows beyond the last are computed from the last and not stored.
    let from_row = min(row, params.rows - 1u);
//@ for h in 0..E/LOW
//@ for l4 in 0..LOW4
//@ if IN_PLACE
    let in${h}_${l4} = y[from_row * params.y_stride4 + ${LOW4}u * t + ${LOW4 * T * h + l4}u];
//@ else
    let in${h}_${l4} = x[from_row * params.x_stride4 + ${LOW4}u * t + ${LOW4 * T * h + l4}u];
//@ end
//@ for c in 0..WIDTH
    var v${LOW * h + 4 * l4 + c} = in${h}_${l4}[${c}];
//@ end
//@ end
//@ end
//@ let FIRST = 1
//@ let LAST = E
//@ include butterflies
//@ if T > 1
//@ include exchange_put_a
    workgroupBarrier();
//@ include exchange_get_b
//@ let LAST = T
//@ include butterflies
    if row < params.rows {
//@ for u in 0..E/T
        let q${u} = t + ${T * u}u;
        let to${u} = row * params.y_stride4
            + (q${u} % ${LOW}u) / 4u + ${LOW4 * T}u * (q${u} / ${LOW}u);
        let c${u} = q${u} % 4u;
//@ for s in 0..T
        y[to${u} + ${LOW4 * s}u][c${u}] = v${u * T + s};
//@ end
//@ end
    }
//@ else
    if row < params.rows {
//@ for l4 in 0..(E + 3) / 4
//@ if N > 2
        y[row * params.y_stride4 + ${l4}u] =
            vec4f(v${4 * l4}, v${4 * l4 + 1}, v${4 * l4 + 2}, v${4 * l4 + 3});
//@ else
        y[row * params.y_stride4].x = v0;
        y[row * params.y_stride4].y = v1;
//@ end
//@ end
    }
//@ end
}
//@ end
//@ end
