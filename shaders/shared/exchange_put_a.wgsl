    // Registers in layout A go to workgroup memory; the xor spreads what is read next over all
    // banks.
//@ for q in 0..E
    exchange[base + ${T * q}u + (t ^ ${q % T}u)] = v${q};
//@ end
