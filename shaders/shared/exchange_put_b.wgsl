    // Registers in layout B go to where layout A would put them.
//@ for u in 0..E/T
//@ for s in 0..T
    exchange[base + ${T * T * u}u + ${T}u * t + (t ^ ${s}u)] = v${u * T + s};
//@ end
//@ end
