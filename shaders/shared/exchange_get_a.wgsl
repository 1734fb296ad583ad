//@ for q in 0..E
    v${q} = exchange[base + ${T * q}u + (t ^ ${q % T}u)];
//@ end
