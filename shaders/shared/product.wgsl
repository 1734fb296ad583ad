// Workgroup memory of product_loop: the left operand transposed, so that a depth is a row of whole
// vec4s, and from B_AT on the right as it is; STAGES of them. What includes it may use STRIP vec4s
// of it between two loops. GATHER 0 makes it a product.
//@ let BM4 = TY * TM / 4
//@ let TM4 = TM / 4
//@ let TN4 = TN / 4
//@ let BN4 = TX * TN4
//@ let THREADS = TX * TY
//@ let K4 = BK / 4
//@ let B_AT = BK * BM4
//@ let STAGE = B_AT + BK * BN4
//@ let PLACES = STAGES * STAGE
//@ if PLACES < STRIP
//@ let PLACES = STRIP
//@ end
//@ if PLACES > 0
var<workgroup> stage: array<vec4f, ${PLACES}>;
//@ end
//@ if GATHER == 0
//@ let START = 0
//@ let TWICE = 0

fn gather(sum: vec4f, a: f32, b: vec4f) -> vec4f {
    return fma(vec4f(a), b, sum);
}
//@ end
