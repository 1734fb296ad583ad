// The spectrum of the additive chi-squared kernel, sampled: of each x, not below 0, a_0 sqrt(x),
// then for each sample j > 0 a_j sqrt(x) times the cosine and the sine of r_j ln x turns.
//
// Grid: (ceil(cols / 64), ceil(rows / ROWS)) workgroups of 64 invocations, ROWS rows each.
// Requires: samples = (a_j, r_j); rows of z hold the first features of all columns, then for each j
// the cosines of all columns and the sines of all columns.
struct Params {
    rows: u32,
    cols: u32,
    count: u32,
    x_stride: u32,
    z_stride: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> samples: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> z: array<f32>;

//@ include cos2pi

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let column = group.x * 64u + local.x;
    if column >= params.cols { return; }
    let first = group.y * ${ROWS}u;
    let end = min(first + ${ROWS}u, params.rows);
    for (var i = first; i < end; i++) {
        let value = x[i * params.x_stride + column];
        // Of 0 the root is 0, and any finite logarithm will do.
        let root = sqrt(value);
        let logarithm = log(max(value, 1.17549435e-38));
        var at = i * params.z_stride + column;
        z[at] = samples[0].x * root;
        at += params.cols;
        for (var j = 1u; j < params.count; j++) {
            let turns = vec4f(samples[j].y * logarithm);
            let size = samples[j].x * root;
            z[at] = size * cos2pi(turns).x;
            z[at + params.cols] = size * sin2pi(turns).x;
            at += 2u * params.cols;
        }
    }
}
