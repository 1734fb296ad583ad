// z = amplitude * nonlinearity(x W + phase) as projection.wgsl has it, by matrix units: products of
// f16 that are summed in f32. maps/src/ops/projection/units/arithmetic.rs is the same arithmetic,
// one number after another, and says what it loses.
//
// Grid: (ceil(freqs / BN), ceil(rows of the dispatch / BM)) workgroups of SR x SC subgroups of SIZE
// invocations. A subgroup keeps FM x FN fragments of F x F sums. Requires: that subgroups have SIZE
// invocations (what is written is wrong if not, and nothing else happens); x rows padded with zeros
// to depth4 vec4s; w the frequencies as f16, [s, d], each padded with zeros to whole stages;
// scale = what a row is scaled by; unscale = what the products of a frequency are multiplied by,
// and feature = (phase in turns, amplitude), both padded to whole vec4s of frequencies. WHOLE: as
// in projection.wgsl. QUADS: f16 lie in workgroup memory as vec4s, from which Vulkan alone loads
// fragments.
//
// Fragments are read from where a multiple of 16 bytes begins, and a driver may put any variable of
// workgroup memory before another: so each is whole 16 bytes long. With two words more here an H200
// read fragments of something else.
//@ let SR = F / 4
//@ let SC = 2
//@ let FM = 32 / F
//@ let FN = 4
//@ let BK = 32
//@ let FLUSH = 64
//@ let BM = SR * FM * F
//@ let BN = SC * FN * F
//@ let THREADS = SR * SC * SIZE
//@ let K4 = BK / 4
// Rows in workgroup memory begin an odd number of 16 bytes apart, and so in different banks.
//@ let APART4 = K4 + 2
enable f16;
enable wgpu_cooperative_matrix;

struct Params {
    rows: u32,
    depth4: u32,
    freqs: u32,
    x_stride4: u32,
    w_stride4: u32,
    z_stride: u32,
    // The first row of this dispatch.
    row0: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> w: array<vec4<f16>>;
@group(0) @binding(3) var<storage, read> scale: array<f32>;
@group(0) @binding(4) var<storage, read> unscale: array<vec4f>;
@group(0) @binding(5) var<storage, read> feature: array<vec2f>;
//@ if WHOLE
@group(0) @binding(6) var<storage, read_write> z: array<vec4f>;
//@ else
@group(0) @binding(6) var<storage, read_write> z: array<f32>;
//@ end

// Of a stage: what one f16 holds of x, what the other one adds, and w, a row each.
//@ if QUADS
//@ let APART = APART4
alias Half = vec4<f16>;
//@ else
//@ let APART = 4 * APART4
alias Half = f16;
//@ end
var<workgroup> high: array<Half, ${BM * APART}>;
var<workgroup> low: array<Half, ${BM * APART}>;
var<workgroup> right: array<Half, ${BN * APART}>;
// Sums of one fragment of each subgroup, on their way to the lanes.
var<workgroup> strip: array<f32, ${SR * SC * F * F}>;

//@ include features
//@ include halves

fn load_x(start: u32, k4: u32) -> vec4f {
    return select(vec4f(0.0), x[start + k4], k4 < params.depth4);
}

@compute @workgroup_size(${THREADS})
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) member: u32,
) {
    let group_row = params.row0 + group.y * ${BM}u;
    let group_col = group.x * ${BN}u;
    let last_row = params.rows - 1u;
    let last_col = params.freqs - 1u;
    // An invocation brings the same rows in each stage, and the same depths of them.
//@ let XS = (BM * K4 + THREADS - 1) / THREADS
//@ let WS = (BN * K4 + THREADS - 1) / THREADS
    let bring_k4 = lane % ${K4}u;
//@ for p in 0..XS
    let x_row${p} = lane / ${K4}u + ${p * THREADS / K4}u;
    let x_from${p} = min(group_row + x_row${p}, last_row);
    let x_start${p} = x_from${p} * params.x_stride4;
    let x_scale${p} = scale[x_from${p}];
    var x_next${p} = load_x(x_start${p}, bring_k4);
//@ end
//@ for p in 0..WS
    let w_row${p} = lane / ${K4}u + ${p * THREADS / K4}u;
    let w_start${p} = min(group_col + w_row${p}, last_col) * params.w_stride4;
    var w_next${p} = w[w_start${p} + bring_k4];
//@ end
    let place = subgroup % ${SR * SC}u;
    let own_row = place / ${SC}u * ${FM * F}u;
    let own_col = place % ${SC}u * ${FN * F}u;
//@ for i in 0..FM
//@ for j in 0..FN
    var sum${i}_${j} = coop_mat${F}x${F}<f32, C>();
    var total${i}_${j} = coop_mat${F}x${F}<f32, C>();
//@ end
//@ end
    for (var k4 = 0u; k4 < params.depth4; k4 += ${K4}u) {
//@ for p in 0..XS
//@ if XS * THREADS > BM * K4
        if x_row${p} < ${BM}u
//@ end
        {
            let v = x_next${p} * x_scale${p};
            let upper = nearest_half(v);
            let upper_half = vec4<f16>(upper);
            let lower_half = vec4<f16>(nearest_half(v - upper));
//@ if QUADS
            let at = x_row${p} * ${APART}u + bring_k4;
            high[at] = upper_half;
            low[at] = lower_half;
//@ else
            let at = x_row${p} * ${APART}u + 4u * bring_k4;
//@ for c in 0..4
            high[at + ${c}u] = upper_half[${c}];
            low[at + ${c}u] = lower_half[${c}];
//@ end
//@ end
        }
//@ end
//@ for p in 0..WS
//@ if WS * THREADS > BN * K4
        if w_row${p} < ${BN}u
//@ end
        {
//@ if QUADS
            right[w_row${p} * ${APART}u + bring_k4] = w_next${p};
//@ else
            let at = w_row${p} * ${APART}u + 4u * bring_k4;
//@ for c in 0..4
            right[at + ${c}u] = w_next${p}[${c}];
//@ end
//@ end
        }
//@ end
        // What others brought of this stage is read below.
        workgroupBarrier();
        // The next stage is on its way while this one is worked on.
        if k4 + ${K4}u < params.depth4 {
//@ for p in 0..XS
            x_next${p} = load_x(x_start${p}, k4 + ${K4}u + bring_k4);
//@ end
//@ for p in 0..WS
            w_next${p} = w[w_start${p} + k4 + ${K4}u + bring_k4];
//@ end
        }
//@ let NEXT = F * APART / (4 * APART4)
//@ for part in 0..BK / F
        {
            let k = ${part * NEXT}u;
//@ for j in 0..FN
            let b${j} = coopLoad<coop_mat${F}x${F}<f16, B>>(
                &right[(own_col + ${j * F}u) * ${APART}u + k], ${APART}u);
//@ end
//@ for i in 0..FM
            let a${i} = coopLoadT<coop_mat${F}x${F}<f16, A>>(
                &high[(own_row + ${i * F}u) * ${APART}u + k], ${APART}u);
//@ end
//@ for i in 0..FM
//@ for j in 0..FN
            sum${i}_${j} = coopMultiplyAdd(a${i}, b${j}, sum${i}_${j});
//@ end
//@ end
//@ for i in 0..FM
            let rest${i} = coopLoadT<coop_mat${F}x${F}<f16, A>>(
                &low[(own_row + ${i * F}u) * ${APART}u + k], ${APART}u);
//@ end
//@ for i in 0..FM
//@ for j in 0..FN
            sum${i}_${j} = coopMultiplyAdd(rest${i}, b${j}, sum${i}_${j});
//@ end
//@ end
        }
//@ end
        if (k4 + ${K4}u) % ${FLUSH / 4}u == 0u {
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
    let own_strip = place * ${F * F}u;
//@ let F4 = F / 4
//@ for i in 0..FM
//@ for j in 0..FN
    total${i}_${j} = total${i}_${j} + sum${i}_${j};
    coopStoreT(total${i}_${j}, &strip[own_strip], ${F}u);
    workgroupBarrier();
    for (var q = member; q < ${F * F4}u; q += ${SIZE}u) {
        let row = group_row + own_row + ${i * F}u + q / ${F4}u;
        let col = group_col + own_col + ${j * F}u + 4u * (q % ${F4}u);
        if row < params.rows && col < params.freqs {
            let at = own_strip + 4u * q;
            let sums = vec4f(strip[at], strip[at + 1u], strip[at + 2u], strip[at + 3u]);
            // The inverse of a power of two.
            let inverse = bitcast<f32>(0x7f000000u - bitcast<u32>(scale[row]));
            let f0 = feature[col];
            let f1 = feature[col + 1u];
            let f2 = feature[col + 2u];
            let f3 = feature[col + 3u];
            let t = sums * inverse * unscale[col / 4u] + vec4f(f0.x, f1.x, f2.x, f3.x);
            let amplitude = vec4f(f0.y, f1.y, f2.y, f3.y);
            write_features(row * params.z_stride + col, t, amplitude, min(4u, params.freqs - col));
        }
    }
    // The next fragment overwrites the strip.
    workgroupBarrier();
//@ end
//@ end
}
