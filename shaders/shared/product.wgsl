// The operands of x W for one workgroup tile: declarations of workgroup memory and the loads into it.
//@ if BK > 0
var<workgroup> x_tile: array<f32, ${BK * BM}>;
var<workgroup> w_tile: array<vec4f, ${BK * TX * TN4}>;
//@ end
