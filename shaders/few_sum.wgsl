// z = f(the sum over splits of what few.wgsl left), the splits added in order.
//
// Grid: ceil(rows ceil(columns / 4) / 64) workgroups of 64 invocations, one vec4 each. Requires:
// partial [splits][rows][ceil(columns / 4)] vec4s; feature as projection.wgsl unless
// NONLINEARITY 7.
struct Params {
    rows: u32,
    splits: u32,
    freqs: u32,
    z_stride: u32,
    row0: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> partial: array<vec4f>;
@group(0) @binding(2) var<storage, read> feature: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> z: array<f32>;

//@ include features

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let cols4 = (params.freqs + 3u) / 4u;
    let index = (group.y * groups.x + group.x) * 64u + local;
    let row = index / cols4;
    let col4 = index % cols4;
    let col = 4u * col4;
    if row >= params.rows { return; }
    var total = partial[row * cols4 + col4];
    for (var split = 1u; split < params.splits; split++) {
        total += partial[(split * params.rows + row) * cols4 + col4];
    }
//@ include finish_features
}
