// The power of two for each column of z in each block of BLOCK rows that brings its largest value
// to [2^14, 2^15), for gram_units.wgsl.
//
// Grid: (ceil(z_stride4 / 16), blocks) workgroups; 16 invocations share four columns. scale is
// [blocks][z_stride4]. Requires: z rows whole vec4s apart.

struct Params {
    row0: u32,
    row_end: u32,
    z_stride4: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> z: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> scale: array<vec4f>;

var<workgroup> found: array<vec4u, 256>;

@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let col4 = group.x * 16u + local.x;
    let last4 = params.z_stride4 - 1u;
    let start = params.row0 + group.y * ${BLOCK}u;
    let end = min(start + ${BLOCK}u, params.row_end);
    // Bits of numbers without a sign lie in the order of the numbers.
    var most = vec4u(0u);
    for (var k = start + local.y; k < end; k += 16u) {
        let v = z[k * params.z_stride4 + min(col4, last4)];
        most = max(most, bitcast<vec4u>(v) & vec4u(0x7fffffffu));
    }
    found[16u * local.y + local.x] = most;
    workgroupBarrier();
    if local.y == 0u && col4 <= last4 {
        for (var i = 1u; i < 16u; i++) {
            most = max(most, found[16u * i + local.x]);
        }
        // Below 2^-100 there are fewer bits.
        let exponent = max(most >> vec4u(23u), vec4u(27u));
        let power = (vec4u(268u) - exponent) << vec4u(23u);
        scale[group.y * params.z_stride4 + col4] = bitcast<vec4f>(power);
    }
}
