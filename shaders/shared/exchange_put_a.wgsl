    // Registers in layout A go to workgroup memory; the xor spreads what is read next over all
    // banks.
//@ for q in 0..E
//@ if DEEP
//@ let C = q % 8 + q / 8 * APART_A
//@ include place_of_c
    exchange[base + (at_a ^ ${XOR}u) + ${ADD}u] = v${q};
//@ else
    exchange[base + ${T * q}u + (t ^ ${q % T}u)] = v${q};
//@ end
//@ end
