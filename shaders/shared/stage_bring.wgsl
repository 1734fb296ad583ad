// The part of a stage that an invocation brings, from vec4 from4 of the depth on, on its way.
//@ if BM4 * K4 < THREADS
        if brings_a {
//@ end
//@ for i in 0..4
            a_next${i} = load_a(start${i}, from4 + block_k4);
//@ end
//@ if BM4 * K4 < THREADS
        }
//@ end
//@ for p in 0..BK * BN4 / THREADS
        b_next${p} = load_b(4u * from4 + ${p * (THREADS / BN4)}u + b_row, b_col4);
//@ end
