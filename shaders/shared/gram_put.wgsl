// What an invocation brought of a stage of Gram sums, into workgroup memory from vec4 part on.
//@ for n in 0..BK * T4 / THREADS
            a_tile[part + lane + ${n * THREADS}u] = a_next${n};
            b_tile[part + lane + ${n * THREADS}u] = b_next${n};
//@ end
