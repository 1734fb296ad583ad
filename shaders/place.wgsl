// place[i, j] = source[i, j] * scale_j + shift_j, or adds it: moves a block of one matrix to a
// place in another.
//
// Grid: (ceil(cols / 64), ceil(rows / ROWS)) workgroups of 64 invocations, ROWS rows each.
// Requires: source and place are different buffers; factor = (scale, shift) of each column.
struct Params {
    rows: u32,
    cols: u32,
    source_start: u32,
    source_stride: u32,
    place_start: u32,
    place_stride: u32,
    // 1 adds to what is there.
    add: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<f32>;
@group(0) @binding(2) var<storage, read> factor: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> place: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let j = group.x * 64u + local.x;
    if j >= params.cols { return; }
    let f = factor[j];
    let first = group.y * ${ROWS}u;
    let end = min(first + ${ROWS}u, params.rows);
    for (var i = first; i < end; i++) {
        let at = params.place_start + i * params.place_stride + j;
        let value = fma(source[params.source_start + i * params.source_stride + j], f.x, f.y);
        if params.add == 1u {
            place[at] += value;
        } else {
            place[at] = value;
        }
    }
}
