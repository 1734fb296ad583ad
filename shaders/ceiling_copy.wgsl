// dst = src, count4 vec4s: what the memory of a device gives.
//
// Grid: ceil(count4 / (256 * PER)) workgroups of 256 invocations, over two dimensions; neighbours
// copy neighbouring vec4s.
struct Params {
    count4: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> src: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> dst: array<vec4f>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let base = (group.y * groups.x + group.x) * ${256 * PER}u + lane;
    // All loads before the first store, so that they are under way together; compilers would put
    // each behind its own test of the end.
    if base + ${256 * (PER - 1)}u < params.count4 {
//@ for i in 0..PER
        let v${i} = src[base + ${256 * i}u];
//@ end
//@ for i in 0..PER
        dst[base + ${256 * i}u] = v${i};
//@ end
        return;
    }
//@ for i in 0..PER - 1
    if base + ${256 * i}u < params.count4 { dst[base + ${256 * i}u] = src[base + ${256 * i}u]; }
//@ end
}
