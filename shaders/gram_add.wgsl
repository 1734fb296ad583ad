// Adds the sums of several blocks of rows, as gram.wgsl leaves them, to the compensated pairs of a
// panel, block after block.
//
// Grid: ceil(tile_count AREA4 / 64) workgroups of 64 invocations, one vec4 of a tile of AREA4 vec4s
// each. Requires: partial [blocks][tile_count][AREA4]; sums as in gram.wgsl.
struct Params {
    tile_count: u32,
    blocks: u32,
    // Always 0; the compiler does not know.
    zero: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> partial: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec4f>;

//@ include two_sum

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let all = params.tile_count * ${AREA4}u;
    let index = (group.y * groups.x + group.x) * 64u + local;
    if index >= all { return; }
    let at = index + index / ${AREA4}u * ${AREA4}u;
    var sum = Pair(sums[at], sums[at + ${AREA4}u]);
    for (var block = 0u; block < params.blocks; block++) {
        sum = plus(sum, partial[block * all + index]);
    }
    sums[at] = sum.hi;
    sums[at + ${AREA4}u] = sum.lo;
}
