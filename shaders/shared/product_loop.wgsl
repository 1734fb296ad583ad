    // acc{i}_{j} = what is gathered of rows group_row + lane_y * TM + i and columns 4 *
    // (group_col4 + j * TX + lane_x) .. + 4, from START on: products, or whatever gather(so far,
    // a, b) makes of one depth. With TWICE other{i}_{j} gathers from -b, and a row of a is scaled
    // by inverse{i} first. Asks for last_row, last_col4, a_stride4, depth4, and for load_a(start of
    // a row, vec4 of depth) and load_b(depth, vec4 of columns), which take any depth. Rows and
    // columns beyond the last are clamped, once: what they give is not stored. Behind the loop of
    // two STAGES nobody waits.
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
    // Neighbours bring other depths of the same rows, a whole number of banks apart: their rows are
    // told apart.
    let block_at = block_row ^ (2u * block_k4);
//@ for i in 0..4
    let start${i} = min(group_row + 4u * block_row + ${i}u, last_row) * a_stride4;
    var a_next${i} = vec4f(0.0);
//@ end
    // Where there are more invocations than blocks, the others bring none.
//@ if BM4 * K4 < THREADS
    let brings_a = lane < ${BM4 * K4}u;
//@ end
    let b_col4 = min(group_col4 + lane % ${BN4}u, last_col4);
    let b_row = lane / ${BN4}u;
//@ for p in 0..BK * BN4 / THREADS
    var b_next${p} = vec4f(0.0);
//@ end
    {
        let from4 = 0u;
//@ include stage_bring
    }
//@ let ROLLS = AHEAD * (STAGES - 1)
//@ if ROLLS
    {
        let part = 0u;
//@ include stage_put
    }
    workgroupBarrier();
//@ for j in 0..TN4
    var b_first${j} = stage[${B_AT + j * TX}u + lane_x];
//@ end
//@ for i in 0..TM4
    var a_first${i} = stage[lane_y * ${TM4}u + ${i}u];
//@ end
//@ end
    for (var k4 = 0u; k4 < depth4; k4 += ${K4}u) {
        let from4 = k4 + ${K4}u;
        // Two stages take turns: nobody writes one before all have read it.
//@ if STAGES == 2
        let part = k4 / ${K4}u % 2u * ${STAGE}u;
//@ else
        let part = 0u;
//@ end
//@ if ROLLS == 0
//@ include stage_put
        // What others brought of this stage is read below.
        workgroupBarrier();
//@ end
        // The next stage is on its way while this one is worked on.
        if from4 < depth4 {
//@ include stage_bring
        }
        // Of one depth TN4 vec4s of b and TM4 of a are in registers, beside TM x TN4 of sums and
        // the next stage: a value of b is used TM times, one of a 4 TN4 times. UNROLL depths are
        // written out: then places in the stage are constants, which loads hold, and loads of one
        // depth may go before multiply-adds of another. AHEAD they do.
//@ if UNROLL < BK
        for (var k = 0u; k < ${BK}u; k += ${UNROLL}u) {
//@ else
        {
            let k = 0u;
//@ end
//@ if ROLLS
//@ for j in 0..TN4
            let b0_${j} = b_first${j};
//@ end
//@ for i in 0..TM4
            let a0_${i} = a_first${i};
//@ end
//@ else
//@ if AHEAD
//@ let U = 0
//@ include depth_load
//@ end
//@ end
//@ for u in 0..UNROLL
//@ let U = u + AHEAD
//@ if U < UNROLL
//@ include depth_load
//@ else
//@ if ROLLS
            // The first depth of the next stage is loaded before the last of this one is worked on.
            if from4 < depth4 {
                let part = from4 / ${K4}u % 2u * ${STAGE}u;
//@ include stage_put
                workgroupBarrier();
//@ for j in 0..TN4
                b_first${j} = stage[part + ${B_AT + j * TX}u + lane_x];
//@ end
//@ for i in 0..TM4
                a_first${i} = stage[part + lane_y * ${TM4}u + ${i}u];
//@ end
            }
//@ end
//@ end
//@ for i in 0..TM
//@ if TWICE
            let scaled${u}_${i} = a${u}_${i / 4}[${i % 4}] * inverse${i};
//@ for j in 0..TN4
            acc${i}_${j} = gather(acc${i}_${j}, scaled${u}_${i}, b${u}_${j});
            other${i}_${j} = gather(other${i}_${j}, scaled${u}_${i}, -b${u}_${j});
//@ end
//@ else
//@ for j in 0..TN4
            acc${i}_${j} = gather(acc${i}_${j}, a${u}_${i / 4}[${i % 4}], b${u}_${j});
//@ end
//@ end
//@ end
//@ end
        }
//@ if STAGES == 1
        // The next stage overwrites what neighbours still read.
        workgroupBarrier();
//@ end
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
