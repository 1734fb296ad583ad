    // In layout B register T u + s holds element first{u} + APART_B s.
//@ for u in 0..(E + T - 1) / T
//@ if DEEP
//@ if WIDE
    let first${u} = t % 128u + 2048u * (t / 128u);
//@ else
    let first${u} = t;
//@ end
//@ else
    let q${u} = t + ${T * u}u;
    let first${u} = q${u} % ${LOW}u + ${LOW * T}u * (q${u} / ${LOW}u);
//@ end
//@ end
