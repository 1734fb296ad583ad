// cos(2 pi t) and sin(2 pi t) for any finite t, within 2e-7. `t - round(t)` is exact in f32, so
// nothing is left that a driver could reassociate; the odd polynomial in u = 1/4 - |r| then is
// sin(2 pi u) on [-1/4, 1/4]. The same coefficients stand in maps/src/simd/cos2pi.rs.
fn sin_quarter(u: vec4f) -> vec4f {
    let q = u * u;
    var p = fma(q, vec4f(39.536706762), vec4f(-76.549787382));
    p = fma(q, p, vec4f(81.601004077));
    p = fma(q, p, vec4f(-41.341655031));
    return u * fma(q, p, vec4f(6.28318516));
}

fn cos2pi(t: vec4f) -> vec4f {
    return sin_quarter(0.25 - abs(t - round(t)));
}

fn sin2pi(t: vec4f) -> vec4f {
    let r = t - round(t);
    let quarter = sin_quarter(0.25 - abs(abs(r) - 0.25));
    return select(quarter, -quarter, r < vec4f(0.0));
}
