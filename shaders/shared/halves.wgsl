// What two f16 hold of an f32 below 2^15: the nearest f16 to it, and the nearest to the rest. In
// integers, so that no device rounds as it likes; maps/src/simd/f16.rs has the same. Multiples of
// 2^-24 are all that there is below 2^-14.
fn nearest_half(v: vec4f) -> vec4f {
    let normal = bitcast<vec4f>((bitcast<vec4u>(v) + vec4u(0x1000u)) & vec4u(0xffffe000u));
    let small = round(v * 16777216.0) * 5.9604644775390625e-8;
    return select(normal, small, abs(v) < vec4f(6.103515625e-5));
}
