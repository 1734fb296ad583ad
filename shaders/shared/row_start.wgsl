    // The element in register 0 of layout A.
//@ if DEEP
    let start = 8u * (t % ${T / 2}u) + ${16 * T}u * (t / ${T / 2}u);
    let at_a = place(start);
    let at_m = place(t % 8u + 128u * (t / 8u));
    let at_b = place(t);
//@ else
    let start = ${LOW}u * t;
//@ end
