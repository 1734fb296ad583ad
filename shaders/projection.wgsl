// z = amplitude * nonlinearity(x W + phase), the dense random-feature map.
//
// Grid: (ceil(freqs / BN), ceil(rows of the dispatch / BM)) workgroups of TX x TY invocations; an
// invocation keeps TM x TN products in registers. Columns of an invocation lie TX vec4s apart, so
// that neighbours load neighbouring vec4s. Requires: x rows padded with zeros to depth4 vec4s; w
// holds 4 * depth4 rows of w_stride4 vec4s, the rows beyond d zero; feature = (phase in turns,
// amplitude), padded to whole vec4s of frequencies. WHOLE: freqs a multiple of 4, or no sines
// behind the cosines; the padding of z is then written.
//@ let BM = TY * TM

struct Params {
    rows: u32,
    depth4: u32,
    freqs: u32,
    x_stride4: u32,
    w_stride4: u32,
    z_stride: u32,
    // The first row of this dispatch.
    row0: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> w: array<vec4f>;
@group(0) @binding(3) var<storage, read> feature: array<vec2f>;
//@ if WHOLE
@group(0) @binding(4) var<storage, read_write> z: array<vec4f>;
//@ else
@group(0) @binding(4) var<storage, read_write> z: array<f32>;
//@ end

//@ include features
//@ let GATHER = 0
//@ let STRIP = 0
//@ include product
//@ include product_of_x

@compute @workgroup_size(${TX}, ${TY})
fn main(
    @builtin(workgroup_id) group: vec3u,
//@ if BAND
    @builtin(num_workgroups) groups: vec3u,
//@ end
    @builtin(local_invocation_id) local: vec3u,
) {
//@ include lanes
//@ include order
    let group_row = params.row0 + tile_y * ${BM}u;
    let group_col4 = tile_x * ${TX * TN4}u;
    let last_row = params.rows - 1u;
    let last_col4 = params.w_stride4 - 1u;
    let a_stride4 = params.x_stride4;
    let depth4 = params.depth4;
//@ include product_loop
//@ for j in 0..TN4
    let col${j} = 4u * (group_col4 + ${j * TX}u + lane_x);
    if col${j} < params.freqs {
        let f0 = feature[col${j}];
        let f1 = feature[col${j} + 1u];
        let f2 = feature[col${j} + 2u];
        let f3 = feature[col${j} + 3u];
        let phase = vec4f(f0.x, f1.x, f2.x, f3.x);
        let amplitude = vec4f(f0.y, f1.y, f2.y, f3.y);
        let count = min(4u, params.freqs - col${j});
//@ for i in 0..TM
        {
            let row = group_row + lane_y * ${TM}u + ${i}u;
            if row < params.rows {
                let at = row * params.z_stride + col${j};
                let t = acc${i}_${j} + phase;
                write_features(at, t, amplitude, count);
            }
        }
//@ end
    }
//@ end
}
