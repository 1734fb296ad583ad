    // The element in register 0 of layout A.
//@ if DEEP
//@ if WIDE
    let start = 8u * (t % 64u) + 2048u * (t / 64u);
    let at_m = place(t % 8u + 128u * (t / 8u % 16u) + 4096u * (t / 128u));
    let at_b = place(t % 128u + 2048u * (t / 128u));
//@ else
    let start = 8u * (t % ${T / 2}u) + ${16 * T}u * (t / ${T / 2}u);
    let at_m = place(t % 8u + 128u * (t / 8u));
    let at_b = place(t);
//@ end
    let at_a = place(start);
//@ else
    let start = ${LOW}u * t;
//@ end
