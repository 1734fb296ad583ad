    // acc{i}_{j} = what is gathered of rows group_row + lane_y * TM + i and columns 4 *
    // (group_col4 + j * TX + lane_x) .. + 4, from START on: products, or whatever gather(so far,
    // a, b) makes of one depth. With TWICE other{i}_{j} gathers from -b, and a row of a is scaled
    // by inverse{i} first. Asks for last_row, last_col4, a_stride4, depth4, and for load_a(start of
    // a row, vec4 of depth) and load_b(depth, vec4 of columns), which take any depth. Rows and
    // columns beyond the last are clamped, once: what they give is not stored.
//@ for i in 0..TM
//@ for j in 0..TN4
    var acc${i}_${j} = vec4f(${START}.0);
//@ if TWICE
    var other${i}_${j} = vec4f(${START}.0);
//@ end
//@ end
//@ end
//@ if BK > 0
    let lane = local.y * ${TX}u + local.x;
    // An invocation brings one block of 4 rows x 4 depths of a, and some vec4s of one column of b.
    let block = lane % ${BM4 * K4}u;
    let block_row = block / ${K4}u;
    let block_k4 = block % ${K4}u;
//@ for i in 0..4
    let start${i} = min(group_row + 4u * block_row + ${i}u, last_row) * a_stride4;
    var a_next${i} = vec4f(0.0);
//@ end
    // Where there are more invocations than blocks, the others bring none.
//@ if BM4 * K4 < THREADS
    let brings_a = lane < ${BM4 * K4}u;
    if brings_a {
//@ end
//@ for i in 0..4
        a_next${i} = load_a(start${i}, block_k4);
//@ end
//@ if BM4 * K4 < THREADS
    }
//@ end
    // Neighbours bring other depths of the same rows, a whole number of banks apart: their rows are
    // told apart.
    let block_at = block_row ^ (2u * block_k4);
    let b_col4 = min(group_col4 + lane % ${BN4}u, last_col4);
    let b_row = lane / ${BN4}u;
//@ for p in 0..BK * BN4 / THREADS
    var b_next${p} = load_b(b_row + ${p * (THREADS / BN4)}u, b_col4);
//@ end
    for (var k4 = 0u; k4 < depth4; k4 += ${K4}u) {
//@ if BM4 * K4 < THREADS
        if brings_a {
//@ end
//@ for c in 0..4
            stage[(4u * block_k4 + ${c}u) * ${BM4}u + block_at] =
                vec4f(a_next0[${c}], a_next1[${c}], a_next2[${c}], a_next3[${c}]);
//@ end
//@ if BM4 * K4 < THREADS
        }
//@ end
//@ for p in 0..BK * BN4 / THREADS
        stage[lane + ${B_AT + p * THREADS}u] = b_next${p};
//@ end
        // What others brought of this stage is read below.
        workgroupBarrier();
        // The next stage is on its way while this one is worked on.
        if k4 + ${K4}u < depth4 {
//@ if BM4 * K4 < THREADS
            if brings_a {
//@ end
//@ for i in 0..4
                a_next${i} = load_a(start${i}, k4 + ${K4}u + block_k4);
//@ end
//@ if BM4 * K4 < THREADS
            }
//@ end
//@ for p in 0..BK * BN4 / THREADS
            b_next${p} = load_b(4u * k4 + ${BK + p * (THREADS / BN4)}u + b_row, b_col4);
//@ end
        }
        // Of one depth TN4 vec4s of b and TM4 of a are in registers, beside TM x TN4 of sums and
        // the next stage: a value of b is used TM times, one of a 4 TN4 times. UNROLL depths are
        // written out: then places in the stage are constants, which loads hold, and loads of one
        // depth may go before multiply-adds of another.
//@ if UNROLL < BK
        for (var k = 0u; k < ${BK}u; k += ${UNROLL}u) {
//@ else
        {
            let k = 0u;
//@ end
//@ for u in 0..UNROLL
            {
//@ for j in 0..TN4
                let b${j} = stage[(k + ${u}u) * ${BN4}u + ${B_AT + j * TX}u + lane_x];
//@ end
                let turn = 2u * (k / 4u + ${u / 4}u);
//@ for i in 0..TM4
                let a${i} = stage[(k + ${u}u) * ${BM4}u + ((lane_y * ${TM4}u + ${i}u) ^ turn)];
//@ end
//@ for i in 0..TM
//@ if TWICE
                let scaled${i} = a${i / 4}[${i % 4}] * inverse${i};
//@ for j in 0..TN4
                acc${i}_${j} = gather(acc${i}_${j}, scaled${i}, b${j});
                other${i}_${j} = gather(other${i}_${j}, scaled${i}, -b${j});
//@ end
//@ else
//@ for j in 0..TN4
                acc${i}_${j} = gather(acc${i}_${j}, a${i / 4}[${i % 4}], b${j});
//@ end
//@ end
//@ end
            }
//@ end
        }
        // The next stage overwrites what neighbours still read.
        workgroupBarrier();
    }
//@ else
//@ for i in 0..TM
    let start${i} = min(group_row + lane_y * ${TM}u + ${i}u, last_row) * a_stride4;
//@ end
//@ for j in 0..TN4
    let b_col${j} = min(group_col4 + ${j * TX}u + lane_x, last_col4);
//@ end
    for (var k4 = 0u; k4 < depth4; k4++) {
//@ for i in 0..TM
//@ if TWICE
        let a${i} = load_a(start${i}, k4) * inverse${i};
//@ else
        let a${i} = load_a(start${i}, k4);
//@ end
//@ end
//@ for k in 0..4
        {
//@ for j in 0..TN4
            let b${j} = load_b(4u * k4 + ${k}u, b_col${j});
//@ for i in 0..TM
            acc${i}_${j} = gather(acc${i}_${j}, a${i}[${k}], b${j});
//@ if TWICE
            other${i}_${j} = gather(other${i}_${j}, a${i}[${k}], -b${j});
//@ end
//@ end
//@ end
        }
//@ end
    }
//@ end
