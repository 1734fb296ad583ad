// The power of two for each row of x that brings its largest value to [2^14, 2^15), for
// projection_units.wgsl.
//
// Grid: ceil(rows of the dispatch / 16) workgroups; 16 neighbours share a row. Requires: x rows
// padded with zeros to depth4 vec4s.

struct Params {
    rows: u32,
    depth4: u32,
    x_stride4: u32,
    // The first row of this dispatch.
    row0: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> scale: array<f32>;

var<workgroup> found: array<u32, 256>;

// The largest of what the 16 invocations of a row found.
fn largest(first: u32) -> u32 {
    var most = 0u;
    for (var i = 0u; i < 16u; i++) {
        most = max(most, found[first + i]);
    }
    return most;
}

@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let row = params.row0 + group.x * 16u + local.y;
    let first = 16u * local.y;
    let start = min(row, params.rows - 1u) * params.x_stride4;
    // Bits of numbers without a sign lie in the order of the numbers.
    var most = vec4u(0u);
    for (var k4 = local.x; k4 < params.depth4; k4 += 16u) {
        most = max(most, bitcast<vec4u>(x[start + k4]) & vec4u(0x7fffffffu));
    }
    found[first + local.x] = max(max(most.x, most.y), max(most.z, most.w));
    workgroupBarrier();
    if local.x == 0u && row < params.rows {
        // Below 2^-100 there are fewer bits.
        let exponent = max(largest(first) >> 23u, 27u);
        scale[row] = bitcast<f32>((268u - exponent) << 23u);
    }
}
