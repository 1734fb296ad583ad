// Sums Z'Z as gram.wgsl has them, by matrix units: products of f16 that are summed in f32. Each
// value, after the power of two of its column and block, is the sum of two f16; of their products
// the one of both low parts is left out. maps/src/ops/gram/units/arithmetic.rs is the same
// arithmetic, one number after another, and says what it loses.
//
// Grid, tiles and sums: as in gram.wgsl, with tiles of T x T entries; a workgroup has SR x SC
// subgroups of SIZE invocations, each with FM x FN fragments of F x F sums. Requires: that
// subgroups have SIZE invocations (what is written is wrong if not, and nothing else happens);
// scale = what columns are scaled by, [blocks from first_row on][z_stride4]; BLOCK whole flushes.
// QUADS: f16 lie in workgroup memory as vec4s, from which Vulkan alone loads fragments.
//@ let SR = F / 4
//@ let SC = 2
//@ let FM = 32 / F
//@ let FN = 4
//@ let BK = 16
//@ let FLUSH = 32
//@ let T = 8 * F
//@ let THREADS = SR * SC * SIZE
//@ let T4 = T / 4
//@ let XS = (BK * T4 + THREADS - 1) / THREADS
// Rows in workgroup memory begin an odd number of 16 bytes apart, and so in different banks.
//@ let APART4 = T4 + 2
enable f16;
enable wgpu_cooperative_matrix;

struct Params {
    row0: u32,
    row_end: u32,
    z_stride4: u32,
    z_tiles: u32,
    tile0: u32,
    tile_count: u32,
    // Where the first block of scale begins.
    first_row: u32,
    // Always 0; the compiler does not know.
    zero: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> z: array<vec4f>;
@group(0) @binding(2) var<storage, read> scale: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4f>;

// Of a stage: what one f16 holds of the columns of each operand, and what the other one adds.
//@ if QUADS
//@ let APART = APART4
//@ let EACH = 4
alias Half = vec4<f16>;
//@ else
//@ let APART = 4 * APART4
//@ let EACH = 1
alias Half = f16;
//@ end
var<workgroup> a_high: array<Half, ${BK * APART}>;
var<workgroup> a_low: array<Half, ${BK * APART}>;
var<workgroup> b_high: array<Half, ${BK * APART}>;
var<workgroup> b_low: array<Half, ${BK * APART}>;
// Sums of one fragment of each subgroup, on their way to the lanes.
var<workgroup> strip: array<f32, ${SR * SC * F * F}>;

//@ include halves

//@ if SPLIT == 0
//@ include two_sum

fn add(at: u32, v: vec4f) {
    let sum = plus(Pair(sums[at], sums[at + ${T * T4}u]), v);
    sums[at] = sum.hi;
    sums[at + ${T * T4}u] = sum.lo;
}

//@ end
// Rows beyond the last count as zero.
fn load(k: u32, col4: u32) -> vec4f {
    if k >= params.row_end { return vec4f(0.0); }
    return z[k * params.z_stride4 + col4];
}

// The inverse of powers of two.
fn inverse(power: vec4f) -> vec4f {
    return bitcast<vec4f>(vec4u(0x7f000000u) - bitcast<vec4u>(power));
}

@compute @workgroup_size(${THREADS})
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) member: u32,
) {
    let p = group.y * groups.x + group.x;
    if p >= params.tile_count { return; }
    // As in gram.wgsl: rows of tiles are taken off until the tile lies in what is left.
    var tile_i = 0u;
    var tile_j = params.tile0 + p;
    var in_row = params.z_tiles;
    while tile_j >= in_row {
        tile_j -= in_row;
        in_row -= 1u;
        tile_i += 1u;
    }
    tile_j += tile_i;

    // An invocation brings vec4s of one column of each operand.
    let last4 = params.z_stride4 - 1u;
    let row = lane / ${T4}u;
    let bring4 = lane % ${T4}u;
    let a_col4 = min(tile_i * ${T4}u + bring4, last4);
    let b_col4 = min(tile_j * ${T4}u + bring4, last4);
    let place = subgroup % ${SR * SC}u;
    let own_row = place / ${SC}u * ${FM * F}u;
    let own_col = place % ${SC}u * ${FN * F}u;
    let own_strip = place * ${F * F}u;
//@ if SPLIT
    let block0 = params.row0 + group.z * ${BLOCK}u;
    {
//@ else
    for (var block0 = params.row0; block0 < params.row_end; block0 += ${BLOCK}u) {
//@ end
        let block_end = min(block0 + ${BLOCK}u, params.row_end);
        let scales = (block0 - params.first_row) / ${BLOCK}u * params.z_stride4;
        let a_scale = scale[scales + a_col4];
        let b_scale = scale[scales + b_col4];
//@ for i in 0..FM
//@ for j in 0..FN
        var sum${i}_${j} = coop_mat${F}x${F}<f32, C>();
        var total${i}_${j} = coop_mat${F}x${F}<f32, C>();
//@ end
//@ end
//@ for n in 0..XS
        var a_next${n} = load(block0 + row + ${n * THREADS / T4}u, a_col4);
        var b_next${n} = load(block0 + row + ${n * THREADS / T4}u, b_col4);
//@ end
        for (var k0 = block0; k0 < block_end; k0 += ${BK}u) {
//@ for n in 0..XS
//@ if XS * THREADS > BK * T4
            if row + ${n * THREADS / T4}u < ${BK}u
//@ end
            {
                let at = (row + ${n * THREADS / T4}u) * ${APART}u + bring4 * ${4 / EACH}u;
                let a = a_next${n} * a_scale;
                let a_upper = nearest_half(a);
                let a_upper_half = vec4<f16>(a_upper);
                let a_lower_half = vec4<f16>(nearest_half(a - a_upper));
                let b = b_next${n} * b_scale;
                let b_upper = nearest_half(b);
                let b_upper_half = vec4<f16>(b_upper);
                let b_lower_half = vec4<f16>(nearest_half(b - b_upper));
//@ if QUADS
                a_high[at] = a_upper_half;
                a_low[at] = a_lower_half;
                b_high[at] = b_upper_half;
                b_low[at] = b_lower_half;
//@ else
//@ for c in 0..4
                a_high[at + ${c}u] = a_upper_half[${c}];
                a_low[at + ${c}u] = a_lower_half[${c}];
                b_high[at + ${c}u] = b_upper_half[${c}];
                b_low[at + ${c}u] = b_lower_half[${c}];
//@ end
//@ end
            }
//@ end
            // What others brought of this stage is read below.
            workgroupBarrier();
            // The next stage is on its way while this one is worked on.
            if k0 + ${BK}u < block_end {
//@ for n in 0..XS
                a_next${n} = load(k0 + ${BK}u + row + ${n * THREADS / T4}u, a_col4);
                b_next${n} = load(k0 + ${BK}u + row + ${n * THREADS / T4}u, b_col4);
//@ end
            }
            for (var k = 0u; k < ${BK * APART}u; k += ${F * APART}u) {
//@ for j in 0..FN
                let b${j} = coopLoadT<coop_mat${F}x${F}<f16, B>>(
                    &b_high[k + (own_col + ${j * F}u) / ${EACH}u], ${APART}u);
                let b_rest${j} = coopLoadT<coop_mat${F}x${F}<f16, B>>(
                    &b_low[k + (own_col + ${j * F}u) / ${EACH}u], ${APART}u);
//@ end
//@ for i in 0..FM
                let a${i} = coopLoad<coop_mat${F}x${F}<f16, A>>(
                    &a_high[k + (own_row + ${i * F}u) / ${EACH}u], ${APART}u);
                let a_rest${i} = coopLoad<coop_mat${F}x${F}<f16, A>>(
                    &a_low[k + (own_row + ${i * F}u) / ${EACH}u], ${APART}u);
//@ end
                // The small products first, while a sum has places for them.
//@ for i in 0..FM
//@ for j in 0..FN
                sum${i}_${j} = coopMultiplyAdd(a_rest${i}, b${j}, sum${i}_${j});
//@ end
//@ end
//@ for i in 0..FM
//@ for j in 0..FN
                sum${i}_${j} = coopMultiplyAdd(a${i}, b_rest${j}, sum${i}_${j});
//@ end
//@ end
//@ for i in 0..FM
//@ for j in 0..FN
                sum${i}_${j} = coopMultiplyAdd(a${i}, b${j}, sum${i}_${j});
//@ end
//@ end
            }
            if (k0 + ${BK}u - block0) % ${FLUSH}u == 0u {
//@ for i in 0..FM
//@ for j in 0..FN
                total${i}_${j} = total${i}_${j} + sum${i}_${j};
                sum${i}_${j} = coop_mat${F}x${F}<f32, C>();
//@ end
//@ end
            }
            // The next stage overwrites what neighbours still read.
            workgroupBarrier();
        }
//@ if SPLIT
        let base = (group.z * params.tile_count + p) * ${T * T4}u;
//@ else
        let base = p * ${2 * T * T4}u;
//@ end
//@ let F4 = F / 4
//@ for i in 0..FM
//@ for j in 0..FN
        total${i}_${j} = total${i}_${j} + sum${i}_${j};
        coopStoreT(total${i}_${j}, &strip[own_strip], ${F}u);
        workgroupBarrier();
        for (var q = member; q < ${F * F4}u; q += ${SIZE}u) {
            let i = own_row + ${i * F}u + q / ${F4}u;
            let j4 = own_col / 4u + ${j * F4}u + q % ${F4}u;
            let at = own_strip + 4u * q;
            let sum = vec4f(strip[at], strip[at + 1u], strip[at + 2u], strip[at + 3u]);
            let col = tile_i * ${T}u + i;
            let a_power = scale[scales + min(col / 4u, last4)][col % 4u];
            let b_power = scale[scales + min(tile_j * ${T4}u + j4, last4)];
            let v = sum * (inverse(vec4f(a_power)) * inverse(b_power));
//@ if SPLIT
            sums[base + i * ${T4}u + j4] = v;
//@ else
            add(base + i * ${T4}u + j4, v);
//@ end
        }
        // The next fragment overwrites the strip.
        workgroupBarrier();
//@ end
//@ end
    }
}
