// Sums Z'[Z | Y], upper triangle of tiles only (SQUARE: all, a baseline). Blocks of BLOCK rows are
// summed in f32, from row0 on. They are added one after another to compensated pairs; or, SPLIT,
// each is left by a workgroup of its own, for gram_add.wgsl.
//
// Grid: one workgroup per tile of T x T entries (SPLIT: x blocks in z), TX x TY invocations, each
// TM x TN entries. Tile p counts the row tiles i of Z'Z from the top and, within one, the column
// tiles i .. z_tiles of Z and then the y_tiles of Y; those of a panel start at tile0. In sums tiles
// lie one after another, row-major, each with all its high parts before its low ones; SPLIT, f32
// sums [blocks][tiles]. Requires: square tiles; BLOCK whole stages; z and y rows whole vec4s apart.
// Columns in the padding give entries that nobody reads.
//@ let T = TX * TN
//@ let TN4 = TN / 4
//@ let TM4 = TM / 4
//@ let T4 = T / 4
//@ let THREADS = TX * TY

struct Params {
    row0: u32,
    row_end: u32,
    z_stride4: u32,
    y_stride4: u32,
    z_tiles: u32,
    y_tiles: u32,
    tile0: u32,
    tile_count: u32,
    // Always 0; the compiler does not know.
    zero: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> z: array<vec4f>;
@group(0) @binding(2) var<storage, read> y: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4f>;

//@ if BK > 0
var<workgroup> a_tile: array<vec4f, ${STAGES * BK * T4}>;
var<workgroup> b_tile: array<vec4f, ${STAGES * BK * T4}>;
//@ end

//@ if SPLIT == 0
//@ include two_sum

//@ end
// Rows beyond the last count as zero; without stages nobody asks for them.
fn load_a(k: u32, col4: u32) -> vec4f {
    if k >= params.row_end { return vec4f(0.0); }
    return z[k * params.z_stride4 + col4];
}

fn load_b(k: u32, tile: u32, col4: u32) -> vec4f {
//@ if BK > 0
    if k >= params.row_end { return vec4f(0.0); }
//@ end
    if tile < params.z_tiles {
        return z[k * params.z_stride4 + min(tile * ${T4}u + col4, params.z_stride4 - 1u)];
    }
    let at = (tile - params.z_tiles) * ${T4}u + col4;
    return y[k * params.y_stride4 + min(at, params.y_stride4 - 1u)];
}

@compute @workgroup_size(${TX}, ${TY})
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_id) local: vec3u,
) {
//@ include lanes
    let p = group.y * groups.x + group.x;
    if p >= params.tile_count { return; }
//@ if SQUARE
    let in_row = params.z_tiles + params.y_tiles;
    let tile_i = (params.tile0 + p) / in_row;
    let tile_j = (params.tile0 + p) % in_row;
//@ else
    // Each row of tiles starts at the diagonal and is one shorter than the row above: they are
    // taken off until the tile lies in what is left.
    var tile_i = 0u;
    var tile_j = params.tile0 + p;
    var in_row = params.z_tiles + params.y_tiles;
    while tile_j >= in_row {
        tile_j -= in_row;
        in_row -= 1u;
        tile_i += 1u;
    }
    tile_j += tile_i;
//@ end

    let last4 = params.z_stride4 - 1u;
    let col4_i = tile_i * ${T4}u;
//@ if BK > 0
    let lane = local.y * ${TX}u + local.x;
    // An invocation brings vec4s of one column of each operand.
    let row = lane / ${T4}u;
    let a_col4 = min(col4_i + lane % ${T4}u, last4);
    let b_col4 = lane % ${T4}u;
//@ end
    let place = lane_y * ${TM * T4}u + lane_x;
//@ if SPLIT
    let block0 = params.row0 + group.z * ${BLOCK}u;
    {
//@ else
    for (var block0 = params.row0; block0 < params.row_end; block0 += ${BLOCK}u) {
//@ end
        let block_end = min(block0 + ${BLOCK}u, params.row_end);
//@ for i in 0..TM
//@ for j in 0..TN4
        var acc${i}_${j} = vec4f(0.0);
//@ end
//@ end
//@ if BK > 0
//@ let ROLLS = AHEAD * (STAGES - 1)
//@ for n in 0..BK * T4 / THREADS
        var a_next${n} = load_a(block0 + row + ${n * (THREADS / T4)}u, a_col4);
        var b_next${n} = load_b(block0 + row + ${n * (THREADS / T4)}u, tile_j, b_col4);
//@ end
//@ if ROLLS
        {
            let part = 0u;
//@ include gram_put
        }
        workgroupBarrier();
//@ for j in 0..TN4
        var b_first${j} = b_tile[${j * TX}u + lane_x];
//@ end
//@ for i in 0..TM4
        var a_first${i} = a_tile[lane_y * ${TM4}u + ${i}u];
//@ end
//@ end
        for (var k0 = block0; k0 < block_end; k0 += ${BK}u) {
            let next0 = k0 + ${BK}u;
//@ if STAGES == 2
            let part = (k0 - block0) / ${BK}u % 2u * ${BK * T4}u;
//@ else
            let part = 0u;
//@ end
//@ if ROLLS == 0
//@ include gram_put
            workgroupBarrier();
//@ end
            // The next stage is on its way while this one is worked on.
            if next0 < block_end {
//@ for n in 0..BK * T4 / THREADS
                a_next${n} = load_a(next0 + row + ${n * (THREADS / T4)}u, a_col4);
                b_next${n} = load_b(next0 + row + ${n * (THREADS / T4)}u, tile_j, b_col4);
//@ end
            }
            // As in product_loop, UNROLL depths are written out, and loads go AHEAD.
//@ if UNROLL < BK
            for (var k = 0u; k < ${BK}u; k += ${UNROLL}u) {
//@ else
            {
                let k = 0u;
//@ end
//@ if ROLLS
//@ for j in 0..TN4
                let b0_${j} = b_first${j};
//@ end
//@ for i in 0..TM4
                let a0_${i} = a_first${i};
//@ end
//@ else
//@ if AHEAD
//@ let U = 0
//@ include gram_load
//@ end
//@ end
//@ for u in 0..UNROLL
//@ let U = u + AHEAD
//@ if U < UNROLL
//@ include gram_load
//@ else
//@ if ROLLS
                if next0 < block_end {
                    let part = (next0 - block0) / ${BK}u % 2u * ${BK * T4}u;
//@ include gram_put
                    workgroupBarrier();
//@ for j in 0..TN4
                    b_first${j} = b_tile[part + ${j * TX}u + lane_x];
//@ end
//@ for i in 0..TM4
                    a_first${i} = a_tile[part + lane_y * ${TM4}u + ${i}u];
//@ end
                }
//@ end
//@ end
//@ for i in 0..TM
//@ for j in 0..TN4
                acc${i}_${j} = fma(vec4f(a${u}_${i / 4}[${i % 4}]), b${u}_${j}, acc${i}_${j});
//@ end
//@ end
//@ end
            }
//@ if STAGES == 1
            // The next stage overwrites what neighbours still read.
            workgroupBarrier();
//@ end
        }
//@ else
        for (var k = block0; k < block_end; k++) {
//@ for j in 0..TN4
            let b${j} = load_b(k, tile_j, ${j * TX}u + lane_x);
//@ end
//@ for i in 0..TM4
            let a${i} = z[k * params.z_stride4 + min(col4_i + lane_y * ${TM4}u + ${i}u, last4)];
//@ end
//@ for i in 0..TM
//@ for j in 0..TN4
            acc${i}_${j} = fma(vec4f(a${i / 4}[${i % 4}]), b${j}, acc${i}_${j});
//@ end
//@ end
        }
//@ end
//@ if SPLIT
        let base = (group.z * params.tile_count + p) * ${T * T4}u + place;
//@ for i in 0..TM
//@ for j in 0..TN4
        sums[base + ${i * T4 + j * TX}u] = acc${i}_${j};
//@ end
//@ end
//@ else
        let base = p * ${2 * T * T4}u + place;
//@ for i in 0..TM
//@ for j in 0..TN4
        add(base + ${i * T4 + j * TX}u, acc${i}_${j});
//@ end
//@ end
//@ end
    }
}
//@ if SPLIT == 0

fn add(at: u32, v: vec4f) {
    let sum = plus(Pair(sums[at], sums[at + ${T * T4}u]), v);
    sums[at] = sum.hi;
    sums[at + ${T * T4}u] = sum.lo;
}
//@ end
