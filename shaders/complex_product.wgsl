// z = t_0 t_1 ...: products of complex numbers, each factor the transform of `cols` real numbers:
// the real parts of frequencies 0, 1, ..., cols/2, then the imaginary parts of those between.
//
// Grid: (ceil(real / 64), ceil(rows / ROWS)) workgroups of 64 invocations, ROWS rows each.
// Requires: real = cols / 2 + 1; factor k of a row of t begins at k * cols.
struct Params {
    rows: u32,
    cols: u32,
    real: u32,
    factors: u32,
    t_stride: u32,
    z_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> t: array<f32>;
@group(0) @binding(2) var<storage, read_write> z: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let f = group.x * 64u + local.x;
    if f >= params.real { return; }
    // Frequency 0, and cols/2 of an even number, have no imaginary part.
    let complex = f > 0u && f <= params.cols - params.real;
    let imaginary = params.real + f - 1u;
    let first = group.y * ${ROWS}u;
    let end = min(first + ${ROWS}u, params.rows);
    for (var i = first; i < end; i++) {
        var at = i * params.t_stride;
        var p = vec2f(t[at + f], 0.0);
        if complex { p.y = t[at + imaginary]; }
        for (var k = 1u; k < params.factors; k++) {
            at += params.cols;
            var q = vec2f(t[at + f], 0.0);
            if complex { q.y = t[at + imaginary]; }
            p = vec2f(fma(p.x, q.x, -p.y * q.y), fma(p.x, q.y, p.y * q.x));
        }
        z[i * params.z_stride + f] = p.x;
        if complex { z[i * params.z_stride + imaginary] = p.y; }
    }
}
