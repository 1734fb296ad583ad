    // Registers in layout B go to where layout A would put them.
//@ for r in 0..E
//@ if DEEP
//@ let C = r * APART_B + r / 16 * UPPER
//@ include place_of_c
    exchange[base + (at_b ^ ${XOR}u) + ${ADD}u] = v${r};
//@ else
    exchange[base + ${T * T * (r / T)}u + ${T}u * t + (t ^ ${r % T}u)] = v${r};
//@ end
//@ end
