// k = k(x, landmark) for every row of x and every landmark, from coordinate differences: |x|^2 +
// |y|^2 - 2 x.y would cancel.
//
// Grid: (ceil(landmarks / BN), ceil(rows / BM)) workgroups of TX x TY invocations, each TM x TN
// entries in registers; columns of an invocation lie TX vec4s apart. The padding of k is written
// with zeros. With TOP k less 1 is written, to the relative precision of f32, and one column of
// ones behind it; the grid counts that column. Requires: x rows padded with zeros to depth4 vec4s;
// w holds 4 * depth4 rows of w_stride4 vec4s, one landmark a column, the rows beyond d zero. PAIR 4
// takes landmarks of length 1 and their true lengths in norm. PAIR, what is gathered over
// coordinates: 0 squared differences, 1 absolute differences, 2 the product of 1 + squares, 3 the
// product of hats, 4 squared differences and squared sums of the normalised rows. FORM: 0 Gaussian,
// 1 Laplacian, 2 exponential, 3 Matern 3/2, 4 Matern 5/2, 5 Cauchy, 6 hat, 7 rational quadratic, 8
// + n arc-cosine of order n.
//@ let BM = TY * TM
//@ let GATHER = 1
//@ let STRIP = 0
//@ let START = (TOP == 0) * ((PAIR == 2) + (PAIR == 3))
//@ let TWICE = PAIR == 4

struct Params {
    rows: u32,
    depth4: u32,
    landmarks: u32,
    x_stride4: u32,
    w_stride4: u32,
    k_stride4: u32,
    // The first row of x; k starts with it.
    row0: u32,
    // Of the rational quadratic kernel.
    alpha: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> w: array<vec4f>;
@group(0) @binding(3) var<storage, read> norm: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> k: array<vec4f>;

//@ include product

// Beyond the last coordinate both operands are zero; without stages nobody asks.
fn load_a(start: u32, k4: u32) -> vec4f {
//@ if BK > 0
    if k4 >= params.depth4 { return vec4f(0.0); }
//@ end
    return x[params.row0 * params.x_stride4 + start + k4];
}

fn load_b(k: u32, col4: u32) -> vec4f {
//@ if BK > 0
    if k >= 4u * params.depth4 { return vec4f(0.0); }
//@ end
    return w[k * params.w_stride4 + col4];
}

// One coordinate more.
fn gather(sum: vec4f, a: f32, b: vec4f) -> vec4f {
    let difference = vec4f(a) - b;
//@ if PAIR == 0
    return fma(difference, difference, sum);
//@ end
//@ if PAIR == 1
    return sum + abs(difference);
//@ end
//@ if PAIR == 2
    // The bounds keep the product finite; 1e-18 is zero beside 1.
    let near = min(abs(difference), vec4f(1e9));
//@ if TOP
    // The product less 1.
    return min(fma(near * near, 1.0 + sum, sum), vec4f(1e18));
//@ else
    return min(sum * fma(near, near, vec4f(1.0)), vec4f(1e18));
//@ end
//@ end
//@ if PAIR == 3
//@ if TOP
    // The product less 1.
    return fma(-min(abs(difference), vec4f(1.0)), 1.0 + sum, sum);
//@ else
    return sum * max(1.0 - abs(difference), vec4f(0.0));
//@ end
//@ end
//@ if PAIR == 4
    return fma(difference, difference, sum);
//@ end
}

//@ if TWICE
// atan(t) for t in [0, 1], within 2e-7. The same coefficients stand in
// maps/src/ops/kernel_block/host.rs.
fn arc_tangent(t: vec4f) -> vec4f {
    let q = t * t;
    var p = fma(q, vec4f(0.0028340643), vec4f(-0.0160050305));
    p = fma(q, p, vec4f(0.0425876075));
    p = fma(q, p, vec4f(-0.0749544544));
    p = fma(q, p, vec4f(0.106367541));
    p = fma(q, p, vec4f(-0.142025705));
    p = fma(q, p, vec4f(0.199924836));
    p = fma(q, p, vec4f(-0.333330668));
    return t * fma(q, p, vec4f(0.999999984));
}

// From |u - v|^2 and |u + v|^2 of unit vectors at the angle theta: both ends of [0, pi] keep their
// digits, as they would not through acos(u.v) (Kahan's angle: tan(theta / 2) = |u - v| / |u + v|).
fn value(apart: vec4f, along: vec4f, length_x: f32, length_y: vec4f) -> vec4f {
    let p = sqrt(apart);
    let q = sqrt(along);
    let angle = arc_tangent(min(p, q) / max(max(p, q), vec4f(1e-30)));
    // pi - theta.
    let rest = 2.0 * select(1.5707963267948966 - angle, angle, p > q);
    let lengths = length_x * length_y;
//@ if FORM == 8
    return select(vec4f(0.0), rest * 0.3183098861837907, lengths > vec4f(0.0));
//@ else
    let total = max(apart + along, vec4f(1e-30));
    let cosine = (along - apart) / total;
    let sine = 2.0 * p * q / total;
//@ if FORM == 9
    return lengths * 0.3183098861837907 * fma(rest, cosine, sine);
//@ else
    let j = fma(rest, fma(2.0 * cosine, cosine, vec4f(1.0)), 3.0 * sine * cosine);
    return lengths * lengths * 0.3183098861837907 * j;
//@ end
//@ end
}
//@ else
//@ if FORM == 7
// log(1 + u) for u >= 0, relative error 3e-7: the builtin loses all digits of a small u. u / (2 +
// u) = (v - 1) / (v + 1) for v = 1 + u; larger u go through mantissa and exponent of v.
fn log_of_one_plus(u: vec4f) -> vec4f {
    let bits = bitcast<vec4i>(1.0 + u);
    let exponent = (bits - vec4i(0x3f3504f3)) >> vec4u(23u);
    let mantissa = bitcast<vec4f>(bits - (exponent << vec4u(23u)));
    let is_small = u < vec4f(0.4);
    let s = select((mantissa - 1.0) / (mantissa + 1.0), u / (2.0 + u), is_small);
    let q = s * s;
    var p = fma(q, vec4f(0.18181818), vec4f(0.22222222));
    p = fma(q, p, vec4f(0.28571429));
    p = fma(q, p, vec4f(0.4));
    p = fma(q, p, vec4f(0.66666667));
    let series = fma(s * q, p, 2.0 * s);
    return select(fma(vec4f(exponent), vec4f(0.6931472), series), series, is_small);
}
//@ end

//@ if TOP
// exp(t) - 1 for t <= 0, relative error 3e-7: exp(t) = 2^n exp(r) with |r| at most ln 2 / 2, whose
// exp(r) - 1 is a polynomial; 2^n - 1 is exact, and 0 for t near 0.
fn exp_less_one(t: vec4f) -> vec4f {
    let bounded = max(t, vec4f(-87.0));
    let n = round(bounded * 1.4426950408889634);
    // ln 2 in two parts, the first of so few bits that its product with n is exact.
    let r = fma(n, vec4f(2.121944400546905827679e-4), fma(n, vec4f(-0.693359375), bounded));
    var p = fma(r, vec4f(1.984127e-4), vec4f(1.3888889e-3));
    p = fma(p, r, vec4f(8.3333333e-3));
    p = fma(p, r, vec4f(0.041666667));
    p = fma(p, r, vec4f(0.16666667));
    p = fma(p, r, vec4f(0.5));
    p = fma(p, r, vec4f(1.0));
    let power = bitcast<vec4f>((vec4i(n) + 127) << vec4u(23u));
    return fma(power, p * r, power - 1.0);
}

// The kernel less 1 from what was gathered.
fn value(sum: vec4f) -> vec4f {
//@ if FORM == 0
    return exp_less_one(-0.5 * sum);
//@ end
//@ if FORM == 1
    return exp_less_one(-sum);
//@ end
//@ if FORM == 2
    return exp_less_one(-sqrt(sum));
//@ end
//@ if FORM == 3
    let z = 1.7320508075688772 * sqrt(sum);
    let e = exp_less_one(-z);
    return fma(z, 1.0 + e, e);
//@ end
//@ if FORM == 4
    let z = 2.23606797749979 * sqrt(sum);
    let e = exp_less_one(-z);
    return fma(z + z * z / 3.0, 1.0 + e, e);
//@ end
//@ if FORM == 5
    return -sum / (1.0 + sum);
//@ end
//@ if FORM == 6
    return sum;
//@ end
//@ if FORM == 7
    return exp_less_one(-params.alpha * log_of_one_plus(sum / (2.0 * params.alpha)));
//@ end
}
//@ else
// The kernel from what was gathered. WGSL's exp errs by 3 + 2 |t| units in the last place: by 3
// units of 1 at most for t <= 0.
fn value(sum: vec4f) -> vec4f {
//@ if FORM == 0
    return exp(-0.5 * sum);
//@ end
//@ if FORM == 1
    return exp(-sum);
//@ end
//@ if FORM == 2
    return exp(-sqrt(sum));
//@ end
//@ if FORM == 3
    let z = 1.7320508075688772 * sqrt(sum);
    return (1.0 + z) * exp(-z);
//@ end
//@ if FORM == 4
    let z = 2.23606797749979 * sqrt(sum);
    return (1.0 + z + z * z / 3.0) * exp(-z);
//@ end
//@ if FORM == 5
    return 1.0 / sum;
//@ end
//@ if FORM == 6
    return sum;
//@ end
//@ if FORM == 7
    return exp(-params.alpha * log_of_one_plus(sum / (2.0 * params.alpha)));
//@ end
}
//@ end
//@ end

@compute @workgroup_size(${TX}, ${TY})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
//@ include lanes
    let group_row = group.y * ${BM}u;
    let group_col4 = group.x * ${BN4}u;
    let last_row = params.rows - 1u;
    let last_col4 = params.w_stride4 - 1u;
    let a_stride4 = params.x_stride4;
    let depth4 = params.depth4;
//@ if TWICE
//@ for i in 0..TM
    let own${i} = min(group_row + lane_y * ${TM}u + ${i}u, last_row) * a_stride4;
    var square${i} = 0.0;
//@ end
    for (var k4 = 0u; k4 < depth4; k4++) {
//@ for i in 0..TM
        let v${i} = load_a(own${i}, k4);
        square${i} += dot(v${i}, v${i});
//@ end
    }
//@ for i in 0..TM
    let length${i} = sqrt(square${i});
    let inverse${i} = select(0.0, 1.0 / length${i}, square${i} > 0.0);
//@ end
//@ end
//@ include product_loop
//@ for j in 0..TN4
    let col${j} = group_col4 + ${j * TX}u + lane_x;
    if col${j} < params.k_stride4 {
        let place = vec4u(4u * col${j}) + vec4u(0u, 1u, 2u, 3u);
        let is_landmark = place < vec4u(params.landmarks);
//@ if TOP
        let beyond = select(vec4f(0.0), vec4f(1.0), place == vec4u(params.landmarks));
//@ else
        let beyond = vec4f(0.0);
//@ end
//@ for i in 0..TM
        {
            let row = group_row + lane_y * ${TM}u + ${i}u;
            if row < params.rows {
//@ if TWICE
                let entry = value(acc${i}_${j}, other${i}_${j}, length${i}, norm[col${j}]);
//@ else
                let entry = value(acc${i}_${j});
//@ end
                k[row * params.k_stride4 + col${j}] = select(beyond, entry, is_landmark);
            }
        }
//@ end
    }
//@ end
}
