// z = amplitude * cos 2 pi (x W + phase) with one invocation for each output and no tiles: what the
// tiles are measured against.
//
// Grid: (ceil(freqs / 16), ceil(rows / 16)) workgroups of 16 x 16 invocations. Requires: rows of x,
// w and z their strides apart.
struct Params {
    rows: u32,
    depth: u32,
    freqs: u32,
    x_stride: u32,
    w_stride: u32,
    z_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> feature: array<vec2f>;
@group(0) @binding(4) var<storage, read_write> z: array<f32>;

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= params.freqs || id.y >= params.rows { return; }
    var sum = feature[id.x].x;
    for (var k = 0u; k < params.depth; k++) {
        sum = fma(x[id.y * params.x_stride + k], w[k * params.w_stride + id.x], sum);
    }
    // As cos2pi.wgsl, for one.
    let u = 0.25 - abs(sum - round(sum));
    let q = u * u;
    var p = fma(q, 39.536706762, -76.549787382);
    p = fma(q, p, 81.601004077);
    p = fma(q, p, -41.341655031);
    z[id.y * params.z_stride + id.x] = feature[id.x].y * u * fma(q, p, 6.28318516);
}
