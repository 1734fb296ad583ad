// Workgroup memory of product_loop: the left operand transposed, so that a depth is a row of whole
// vec4s; the right as it is. GATHER 0 makes it a product.
//@ let BM4 = TY * TM / 4
//@ let TM4 = TM / 4
//@ let TN4 = TN / 4
//@ let BN4 = TX * TN4
//@ let THREADS = TX * TY
//@ let K4 = BK / 4
//@ if BK > 0
var<workgroup> a_tile: array<vec4f, ${BK * BM4}>;
var<workgroup> b_tile: array<vec4f, ${BK * BN4}>;
//@ end
//@ if GATHER == 0
//@ let START = 0
//@ let TWICE = 0

fn gather(sum: vec4f, a: f32, b: vec4f) -> vec4f {
    return fma(vec4f(a), b, sum);
}
//@ end
