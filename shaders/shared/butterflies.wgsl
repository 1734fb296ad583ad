    // Walsh-Hadamard levels between registers v0 .. v{E-1}: partners FIRST, 2 FIRST, ... LAST / 2
    // apart.
//@ let H = FIRST
//@ for b in 0..6
//@ if H < LAST
//@ for i in 0..E
//@ if (i / H) % 2 == 0
    { let s = v${i}; v${i} = s + v${i + H}; v${i + H} = s - v${i + H}; }
//@ end
//@ end
//@ end
//@ let H = H * 2
//@ end
