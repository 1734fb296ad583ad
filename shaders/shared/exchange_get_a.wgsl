//@ for q in 0..E
//@ if DEEP
//@ let C = q % 8 + q / 8 * APART_A
//@ include place_of_c
    v${q} = exchange[base + (at_a ^ ${XOR}u) + ${ADD}u];
//@ else
    v${q} = exchange[base + ${T * q}u + (t ^ ${q % T}u)];
//@ end
//@ end
