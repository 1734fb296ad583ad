// A sum as a pair of f32, whose low part keeps what the high part has no digits for.
struct Pair {
    hi: vec4f,
    lo: vec4f,
}

// A value that no driver can reason about: keeps the two-sum from being "simplified" to zero.
fn opaque(v: vec4f) -> vec4f {
    return bitcast<vec4f>(bitcast<vec4u>(v) ^ vec4u(params.zero));
}

// old + v, with the rounding error of hi + v (Knuth's two-sum) kept in lo.
fn plus(old: Pair, v: vec4f) -> Pair {
    // rest is what of v arrived in the sum; what old and v lost together is the error, exactly.
    // With one opaque() less a driver may cancel terms, and lo stays zero: plain f32 sums again.
    let sum = opaque(old.hi + v);
    let rest = opaque(sum - old.hi);
    let error = opaque(old.hi - opaque(sum - rest)) + opaque(v - rest);
    return Pair(sum, old.lo + error);
}
