// x and w as the operands of product_loop. Beyond the depth x counts as zero and w is finite;
// without stages nobody asks.
fn load_a(start: u32, k4: u32) -> vec4f {
//@ if BK > 0
    if k4 >= params.depth4 { return vec4f(0.0); }
//@ end
    return x[start + k4];
}

fn load_b(k: u32, col4: u32) -> vec4f {
//@ if BK > 0
    return w[min(k, 4u * params.depth4 - 1u) * params.w_stride4 + col4];
//@ else
    return w[k * params.w_stride4 + col4];
//@ end
}
