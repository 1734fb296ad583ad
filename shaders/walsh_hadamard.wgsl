// y = H x for rows of N = 1 << LOG_N elements, unnormalised; from x, or where y stands already
// (IN_PLACE).
//
// Neither QUADS nor STRIDED: whole rows of N <= 8192. Grid: one workgroup per ROWS rows, T x ROWS
// invocations, each E elements in registers, one exchange through workgroup memory or two (ROWS * N
// floats <= 16 KiB, or N = 8192 in 32 KiB). QUADS: the same for 16 <= N <= 1024 with everything in
// vec4s, eight in each of 128 invocations, ROWS = 4096 / N; two exchanges, so that neighbours load
// neighbours and store neighbours. STRIDED: one pass over longer rows in place: levels between
// elements inner4 vec4s apart, E = 1 << LOG_E of them, in COLUMNS neighbouring columns an
// invocation. Grid: (ceil(4 row4 / COLUMNS / E / 64), rows) workgroups of 64 invocations. Requires:
// rows whole vec4s apart. The padding of rows shorter than a vec4 is left alone.
//@ include row_layout
//@ include columns
struct Params {
    rows: u32,
    x_stride4: u32,
    y_stride4: u32,
    row4: u32,
    inner4: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<Columns>;

//@ if STRIDED
@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_id) local: vec3u,
) {
    let column = group.x * 64u + local.x;
    let inner = params.inner4 * ${4 / COLUMNS}u;
    if column >= params.row4 * ${4 / COLUMNS}u / ${E}u { return; }
    let outer = column / inner;
    let at = group.y * params.y_stride4 * ${4 / COLUMNS}u + outer * inner * ${E}u + column % inner;
//@ for q in 0..E
    var v${q} = y[at + ${q}u * inner];
//@ end
//@ let FIRST = 1
//@ let LAST = E
//@ include butterflies
//@ for q in 0..E
    y[at + ${q}u * inner] = v${q};
//@ end
}
//@ else
//@ if QUADS
//@ let Q = N / 4
var<workgroup> exchange: array<vec4f, 1024>;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_id) local: vec3u,
) {
    let t = local.x;
    let first = (group.y * groups.x + group.x) * ${ROWS}u;
    // Register r: vec4 t % 32 + 32 r + 256 (t / 32) of the workgroup's. Levels inside it and, of
    // those between vec4s, the two that lie farthest apart.
    let a = t % 32u + 256u * (t / 32u);
//@ for r in 0..8
    let from${r} = a + ${32 * r}u;
    // Rows beyond the last are computed from the last and not stored.
    let from_row${r} = min(first + from${r} / ${Q}u, params.rows - 1u);
//@ if IN_PLACE
    let x${r} = y[from_row${r} * params.y_stride4 + from${r} % ${Q}u];
//@ else
    let x${r} = x[from_row${r} * params.x_stride4 + from${r} % ${Q}u];
//@ end
    let p${r} = vec4f(x${r}.xz + x${r}.yw, x${r}.xz - x${r}.yw);
    var v${r} = vec4f(p${r}.xz + p${r}.yw, p${r}.xz - p${r}.yw);
//@ end
//@ let FIRST = 2
//@ let LAST = Q / 32
//@ include butterflies
    // The exchange holds vec4 i at i ^ (i / 8 % 8): eight neighbours hit all banks.
    let at_a = a ^ (t / 8u % 4u);
//@ for r in 0..8
    exchange[(at_a ^ ${r % 2 * 4}u) + ${32 * r}u] = v${r};
//@ end
    workgroupBarrier();
    // Register r: vec4 8 t + r. Nobody else touches these between the barriers.
    let at_b = t % 8u;
//@ for r in 0..8
    v${r} = exchange[8u * t + (at_b ^ ${r}u)];
//@ end
//@ let FIRST = 1
//@ let LAST = 8
//@ if Q < 8
//@ let LAST = Q
//@ end
//@ include butterflies
//@ for r in 0..8
    exchange[8u * t + (at_b ^ ${r}u)] = v${r};
//@ end
    workgroupBarrier();
    // Register r: vec4 t % 8 + 8 r + 64 (t / 8).
    let block = 64u * (t / 8u);
//@ for r in 0..8
    v${r} = exchange[block + ${8 * r}u + (at_b ^ ${r}u)];
//@ end
//@ let FIRST = 1
//@ let LAST = 8
//@ if Q < 64
//@ let LAST = Q / 8
//@ end
//@ include butterflies
//@ for r in 0..8
    let to${r} = block + at_b + ${8 * r}u;
    let row${r} = first + to${r} / ${Q}u;
    if row${r} < params.rows { y[row${r} * params.y_stride4 + to${r} % ${Q}u] = v${r}; }
//@ end
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
//@ include row_start
    // Rows beyond the last are computed from the last and not stored.
    let from_row = min(row, params.rows - 1u);
//@ for h in 0..E/LOW
//@ for l4 in 0..LOW4
//@ if IN_PLACE
    let in${h}_${l4} = y[from_row * params.y_stride4 + start / 4u + ${APART_A * h / 4 + l4}u];
//@ else
    let in${h}_${l4} = x[from_row * params.x_stride4 + start / 4u + ${APART_A * h / 4 + l4}u];
//@ end
//@ for c in 0..WIDTH
    var v${LOW * h + 4 * l4 + c} = in${h}_${l4}[${c}];
//@ end
//@ end
//@ end
//@ include transform
//@ if T > 1
//@ include row_end
    if row < params.rows {
//@ for u in 0..(E + T - 1) / T
        let to${u} = row * params.y_stride4 + first${u} / 4u;
        let c${u} = first${u} % 4u;
//@ end
//@ for r in 0..E
        y[to${r / T} + ${APART_B / 4 * (r % T) + r / 16 * UPPER / 4}u][c${r / T}] = v${r};
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
