//@ for r in 0..E
//@ if DEEP
//@ let C = r * APART_B + r / 16 * UPPER
//@ include place_of_c
    v${r} = exchange[base + (at_b ^ ${XOR}u) + ${ADD}u];
//@ else
    v${r} = exchange[base + ${T * T * (r / T)}u + ${T}u * t + (t ^ ${r % T}u)];
//@ end
//@ end
