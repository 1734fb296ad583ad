// write_features: the features of four neighbouring frequencies, from t = x W + phase, at z[at] on;
// those beyond `count` are not written, and the sines of the paired form lie behind all cosines.
//@ include nonlinearity
fn write_features(at: u32, t: vec4f, amplitude: vec4f, count: u32) {
    store(at, nonlinear(t, amplitude), count);
//@ if NONLINEARITY == 0
    store(at + params.freqs, nonlinear_sine(t, amplitude), count);
//@ end
}

// WHOLE: all of them start at whole vec4s, and what lies beyond `count` is padding, which stays
// zero.
fn store(at: u32, value: vec4f, count: u32) {
//@ if WHOLE
    z[at / 4u] = select(vec4f(0.0), value, vec4u(0u, 1u, 2u, 3u) < vec4u(count));
//@ else
    z[at] = value.x;
    if count > 1u { z[at + 1u] = value.y; }
    if count > 2u { z[at + 2u] = value.z; }
    if count > 3u { z[at + 3u] = value.w; }
//@ end
}
