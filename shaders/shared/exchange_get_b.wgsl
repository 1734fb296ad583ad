//@ for u in 0..E/T
//@ for s in 0..T
    v${u * T + s} = exchange[base + ${T * T * u}u + ${T}u * t + (t ^ ${s}u)];
//@ end
//@ end
