// What a dense map makes of t = x W + phase, of four neighbouring frequencies; maps and fused
// predictions include this one text. NONLINEARITY: 0 paired cosine and sine, 1 cosine with phase,
// 2 + n arc-cosine of order n = 0, 1, 2, 5 t itself, 6 a user's own: `fn custom(t: f32) -> f32`,
// which is put behind the shader, 7 none, a plain product.
//@ if NONLINEARITY < 2
//@ include cos2pi
//@ end
fn nonlinear(t: vec4f, amplitude: vec4f) -> vec4f {
//@ if NONLINEARITY < 2
    return amplitude * cos2pi(t);
//@ end
//@ if NONLINEARITY == 2
    return select(vec4f(0.0), amplitude, t > vec4f(0.0));
//@ end
//@ if NONLINEARITY == 3
    return amplitude * max(t, vec4f(0.0));
//@ end
//@ if NONLINEARITY == 4
    let positive = max(t, vec4f(0.0));
    return amplitude * positive * positive;
//@ end
//@ if NONLINEARITY == 5
    return amplitude * t;
//@ end
//@ if NONLINEARITY == 7
    return t;
//@ end
//@ if NONLINEARITY == 6
    // The padding has amplitude zero, and a function may be infinite there: 0 * inf is no zero.
    let value = vec4f(custom(t.x), custom(t.y), custom(t.z), custom(t.w));
    return select(amplitude * value, vec4f(0.0), amplitude == vec4f(0.0));
//@ end
}
//@ if NONLINEARITY == 0

// The second output of a frequency.
fn nonlinear_sine(t: vec4f, amplitude: vec4f) -> vec4f {
    return amplitude * sin2pi(t);
}
//@ end
