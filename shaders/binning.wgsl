// hash = 64 bits of the bin that a row occupies in a shifted grid, for each row and grid. Integers
// only: the same bits on every device, and no rounding to argue about at the edge of a bin.
//
// Grid: (ceil(grids / 64), ceil(rows / ROWS)) workgroups of 64 invocations; an invocation hashes
// ROWS rows in one grid, so that neighbours load neighbouring grids and share the rows. Requires: x
// f32, read as bits; grid = (inverse pitch in 2^-16, shift in 2^-32 bins), one row per input
// column; see ops/binning.rs for what the numbers mean.

struct Params {
    // The row of x that is hashed to row 0.
    row0: u32,
    rows: u32,
    depth: u32,
    grids: u32,
    x_stride: u32,
    grid_stride2: u32,
    hash_stride2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read> grid: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> hash: array<vec2u>;

// round(2^16 x) + 2^31 of the f32 with these bits; halves away from zero, beyond +-2^15 the end of
// the range.
fn fixed(bits: u32) -> u32 {
    let exponent = (bits >> 23u) & 255u;
    let mantissa = (bits & 0x7fffffu) | 0x800000u;
    var size = 0u;
    if exponent >= 142u {
        size = 0x7fffffffu;
    } else if exponent >= 134u {
        size = mantissa << (exponent - 134u);
    } else if exponent >= 110u {
        size = ((mantissa >> (133u - exponent)) + 1u) >> 1u;
    }
    return select(0x80000000u + size, 0x80000000u - size, (bits >> 31u) == 1u);
}

// The high word of x * inverse + shift in 64 bits.
fn bin(x: u32, inverse: u32, shift: u32) -> u32 {
    let low = (x & 0xffffu) * (inverse & 0xffffu);
    let a = (x >> 16u) * (inverse & 0xffffu);
    let b = (x & 0xffffu) * (inverse >> 16u);
    let middle = (low >> 16u) + (a & 0xffffu) + (b & 0xffffu);
    let high = (x >> 16u) * (inverse >> 16u) + (a >> 16u) + (b >> 16u) + (middle >> 16u);
    let product = (middle << 16u) | (low & 0xffffu);
    return high + select(0u, 1u, product + shift < product);
}

// One step of the hash: for each bin a permutation of the 64 bits.
fn mix(h: vec2u, word: u32) -> vec2u {
    var a = (h.x ^ word) * 0x9e3779b1u;
    a ^= a >> 15u;
    var b = (h.y ^ a) * 0x85ebca77u;
    b ^= b >> 13u;
    return vec2u(a + b, b);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let g = group.x * 64u + local.x;
    if g >= params.grids { return; }
    let first = group.y * ${ROWS}u;
    let last = params.rows - 1u;
//@ for i in 0..ROWS
    var h${i} = vec2u(0x243f6a88u, 0x85a308d3u);
    let x${i} = (params.row0 + min(first + ${i}u, last)) * params.x_stride;
//@ end
    for (var j = 0u; j < params.depth; j++) {
        let p = grid[j * params.grid_stride2 + g];
//@ for i in 0..ROWS
        h${i} = mix(h${i}, bin(fixed(x[x${i} + j]), p.x, p.y));
//@ end
    }
//@ for i in 0..ROWS
    if first + ${i}u <= last {
        hash[(first + ${i}u) * params.hash_stride2 + g] = mix(mix(h${i}, 0x13198a2eu), 0x03707344u);
    }
//@ end
}
