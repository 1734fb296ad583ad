// write_features: the features of four neighbouring frequencies, from t = x W + phase, at z[at] on;
// those beyond `count` are not written, and the sines of the paired form lie behind all cosines.
// NONLINEARITY: 0 paired cosine and sine, 1 cosine with phase, 2 + n arc-cosine of order n = 0, 1,
// 2, 5 none.
//@ include cos2pi
fn write_features(at: u32, t: vec4f, amplitude: vec4f, count: u32) {
//@ if NONLINEARITY == 0
    store(at, amplitude * cos2pi(t), count);
    store(at + params.freqs, amplitude * sin2pi(t), count);
//@ end
//@ if NONLINEARITY == 1
    store(at, amplitude * cos2pi(t), count);
//@ end
//@ if NONLINEARITY == 2
    store(at, select(vec4f(0.0), amplitude, t > vec4f(0.0)), count);
//@ end
//@ if NONLINEARITY == 3
    store(at, amplitude * max(t, vec4f(0.0)), count);
//@ end
//@ if NONLINEARITY == 4
    let positive = max(t, vec4f(0.0));
    store(at, amplitude * positive * positive, count);
//@ end
//@ if NONLINEARITY == 5
    store(at, t, count);
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
