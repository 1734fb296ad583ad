// y = f(x W + phase) beta, the features never stored: a workgroup owns BM rows and walks over all
// frequencies, or over those of one split, whose sums then lie one split after another in y.
//
// With BK > 0 features of a strip of 4 TX frequencies go through workgroup memory, cosines first
// and then sines: of their product with beta an invocation forms SUMS rows by four targets, rows BM
// / SUMS apart. Each strip is summed from zero, in the order of its frequencies, and strips are
// added in order. Else every invocation sums the features that it has, and the TX of a row are
// added last.
//
// Grid: (ceil(rows of the dispatch / BM), splits) workgroups of TX x TY invocations, each TM x TN
// products in registers; 4 * Q targets, from target vec4 number q0 on. Requires: as
// projection.wgsl; beta [D][beta_stride4] vec4s of targets.
//@ let BM = TY * TM
//@ include nonlinearity

struct Params {
    rows: u32,
    depth4: u32,
    freqs: u32,
    x_stride4: u32,
    w_stride4: u32,
    beta_stride4: u32,
    q0: u32,
    y_stride4: u32,
    // The first row of this dispatch.
    row0: u32,
    // vec4s of frequencies in a split, a whole number of tiles.
    split_cols4: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> w: array<vec4f>;
@group(0) @binding(3) var<storage, read> feature: array<vec2f>;
@group(0) @binding(4) var<storage, read> beta: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> y: array<vec4f>;

//@ let GATHER = 0
//@ let STRIP = (BK > 0) * BM * TX
//@ let PARTS = 1 + (NONLINEARITY == 0)
//@ let SUMS = (BM * Q + TX * TY - 1) / (TX * TY)
//@ include product
//@ include product_of_x
//@ if BK > 0
// The coefficients of a frequency; beyond the last, where features are zero, some that are finite.
fn coefficient(part: u32, frequency: u32, quad: u32) -> vec4f {
    let row = part * params.freqs + min(frequency, params.freqs - 1u);
    return beta[row * params.beta_stride4 + min(params.q0 + quad, params.beta_stride4 - 1u)];
}

// Where four features of a row lie: neighbours read other rows of the same frequencies, a whole
// number of banks apart, and so the frequencies are told apart by the row.
fn place(row: u32, col4: u32) -> u32 {
    return row * ${TX}u + (col4 ^ (row % ${TX}u));
}

//@ else
// Two rows of every invocation at a time: all of them would not fit.
var<workgroup> partial: array<vec4f, ${2 * THREADS}>;

fn coefficient(feature_at: u32, q: u32) -> vec4f {
    let at = min(params.q0 + q, params.beta_stride4 - 1u);
    return beta[feature_at * params.beta_stride4 + at];
}

//@ end
@compute @workgroup_size(${TX}, ${TY})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
//@ include lanes
    let group_row = params.row0 + group.x * ${BM}u;
//@ if BK > 0
    let index = local.y * ${TX}u + local.x;
    let quad = index % ${Q}u;
    let own_row = index / ${Q}u;
    let sums = index < ${BM * Q / SUMS}u;
//@ for i in 0..SUMS
    var total${i} = vec4f(0.0);
//@ end
//@ else
//@ for i in 0..TM
//@ for q in 0..Q
    var sum${i}_${q} = vec4f(0.0);
//@ end
//@ end
//@ end
    let last_row = params.rows - 1u;
    let last_col4 = params.w_stride4 - 1u;
    let a_stride4 = params.x_stride4;
    let depth4 = params.depth4;
    let first_col4 = group.y * params.split_cols4;
    let end_col4 = min(params.w_stride4, first_col4 + params.split_cols4);
    for (var group_col4 = first_col4; group_col4 < end_col4; group_col4 += ${TX * TN4}u) {
//@ include product_loop
//@ if BK > 0
//@ for j in 0..TN4
        {
            let strip = 4u * (group_col4 + ${j * TX}u);
            let col = strip + 4u * lane_x;
            var phase = vec4f(0.0);
            // Zero for what lies beyond the last frequency.
            var amplitude = vec4f(0.0);
            if col < params.freqs {
                let f0 = feature[col];
                let f1 = feature[col + 1u];
                let f2 = feature[col + 2u];
                let f3 = feature[col + 3u];
                phase = vec4f(f0.x, f1.x, f2.x, f3.x);
                amplitude = vec4f(f0.y, f1.y, f2.y, f3.y);
            }
//@ for i in 0..SUMS
            var sum${i} = vec4f(0.0);
//@ end
//@ for part in 0..PARTS
//@ for i in 0..TM
//@ if part == 0
            stage[place(lane_y * ${TM}u + ${i}u, lane_x)] =
                nonlinear(acc${i}_${j} + phase, amplitude);
//@ else
            stage[place(lane_y * ${TM}u + ${i}u, lane_x)] =
                nonlinear_sine(acc${i}_${j} + phase, amplitude);
//@ end
//@ end
            // What others brought of this strip is read below.
            workgroupBarrier();
            if sums {
                for (var c = 0u; c < ${TX}u; c++) {
//@ for e in 0..4
                    let beta${e} = coefficient(${part}u, strip + 4u * c + ${e}u, quad);
//@ end
//@ for i in 0..SUMS
                    let z${i} = stage[place(own_row + ${i * (BM / SUMS)}u, c)];
//@ for e in 0..4
                    sum${i} = fma(vec4f(z${i}[${e}]), beta${e}, sum${i});
//@ end
//@ end
                }
            }
            // The next features, or operands, overwrite what neighbours still read.
            workgroupBarrier();
//@ end
//@ for i in 0..SUMS
            total${i} += sum${i};
//@ end
        }
//@ end
    }
    if sums && params.q0 + quad < params.y_stride4 {
//@ for i in 0..SUMS
        let row${i} = group_row + own_row + ${i * (BM / SUMS)}u;
        if row${i} < params.rows {
            let at = (group.y * params.rows + row${i}) * params.y_stride4;
            y[at + params.q0 + quad] = total${i};
        }
//@ end
    }
//@ else
//@ for j in 0..TN4
        let col${j} = 4u * (group_col4 + ${j * TX}u + lane_x);
        if col${j} < params.freqs {
            let f0 = feature[col${j}];
            let f1 = feature[col${j} + 1u];
            let f2 = feature[col${j} + 2u];
            let f3 = feature[col${j} + 3u];
            let phase = vec4f(f0.x, f1.x, f2.x, f3.x);
            // Zero for the frequencies of the padding, whose coefficients are then read from the
            // last row.
            let amplitude = vec4f(f0.y, f1.y, f2.y, f3.y);
            let last = params.freqs - 1u;
//@ for q in 0..Q
//@ for c in 0..4
            let beta${q}_${c} = coefficient(min(col${j} + ${c}u, last), ${q}u);
//@ if NONLINEARITY == 0
            let gamma${q}_${c} = coefficient(params.freqs + min(col${j} + ${c}u, last), ${q}u);
//@ end
//@ end
//@ end
//@ for i in 0..TM
            {
                let t = acc${i}_${j} + phase;
                let z = nonlinear(t, amplitude);
//@ if NONLINEARITY == 0
                let z_sin = nonlinear_sine(t, amplitude);
//@ end
//@ for q in 0..Q
//@ for c in 0..4
                sum${i}_${q} = fma(vec4f(z[${c}]), beta${q}_${c}, sum${i}_${q});
//@ if NONLINEARITY == 0
                sum${i}_${q} = fma(vec4f(z_sin[${c}]), gamma${q}_${c}, sum${i}_${q});
//@ end
//@ end
//@ end
            }
//@ end
        }
//@ end
    }
    let index = local.y * ${TX}u + local.x;
//@ for q in 0..Q
//@ for pair in 0..TM / 2
//@ for i in 0..2
    partial[(lane_y * 2u + ${i}u) * ${TX}u + lane_x] = sum${2 * pair + i}_${q};
//@ end
    workgroupBarrier();
    if index < ${2 * TY}u {
        let row = group_row + index / 2u * ${TM}u + ${2 * pair}u + index % 2u;
        var total = partial[index * ${TX}u];
        for (var k = 1u; k < ${TX}u; k++) { total += partial[index * ${TX}u + k]; }
        if row < params.rows && params.q0 + ${q}u < params.y_stride4 {
            y[(group.y * params.rows + row) * params.y_stride4 + params.q0 + ${q}u] = total;
        }
    }
    // The next rows overwrite what neighbours still read.
    workgroupBarrier();
//@ end
//@ end
//@ end
}
