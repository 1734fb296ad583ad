// What an invocation brought of a stage, into workgroup memory from vec4 part on.
//@ if BM4 * K4 < THREADS
        if brings_a {
//@ end
//@ for c in 0..4
            stage[part + (4u * block_k4 + ${c}u) * ${BM4}u + block_at] =
                vec4f(a_next0[${c}], a_next1[${c}], a_next2[${c}], a_next3[${c}]);
//@ end
//@ if BM4 * K4 < THREADS
        }
//@ end
//@ for p in 0..BK * BN4 / THREADS
        stage[part + lane + ${B_AT + p * THREADS}u] = b_next${p};
//@ end
