    // acc{i}_{j} = the products of rows group_row + local.y * TM + i with columns 4 * (group_col4 + j * TX + local.x) .. + 4.
    // Loads beyond the last row or column are clamped, never guarded: what they compute is not stored.
    let last_row = params.rows - 1u;
    let last_col = params.w_stride4 - 1u;
//@ for i in 0..TM
//@ for j in 0..TN4
    var acc${i}_${j} = vec4f(0.0);
//@ end
//@ end
//@ if BK > 0
    let lane = local.y * ${TX}u + local.x;
    for (var k4 = 0u; k4 < params.depth4; k4 += ${BK / 4}u) {
        // x goes in transposed, depth-major, so that the product below reads one column of it at a time.
        for (var n = lane; n < ${BM * BK / 4}u; n += ${THREADS}u) {
            let row = min(group_row + n / ${BK / 4}u, last_row);
            let k = n % ${BK / 4}u;
            var v = vec4f(0.0);
            if k4 + k < params.depth4 { v = x[row * params.x_stride4 + k4 + k]; }
            let to = 4u * k * ${BM}u + n / ${BK / 4}u;
            x_tile[to] = v.x;
            x_tile[to + ${BM}u] = v.y;
            x_tile[to + ${2 * BM}u] = v.z;
            x_tile[to + ${3 * BM}u] = v.w;
        }
        for (var n = lane; n < ${BK * TX * TN4}u; n += ${THREADS}u) {
            let k = min(4u * k4 + n / ${TX * TN4}u, 4u * params.depth4 - 1u);
            w_tile[n] = w[k * params.w_stride4 + min(group_col4 + n % ${TX * TN4}u, last_col)];
        }
        workgroupBarrier();
        for (var k = 0u; k < ${BK}u; k++) {
//@ for j in 0..TN4
            let b${j} = w_tile[k * ${TX * TN4}u + ${j * TX}u + local.x];
//@ end
//@ for i in 0..TM
            let a${i} = vec4f(x_tile[k * ${BM}u + local.y * ${TM}u + ${i}u]);
//@ for j in 0..TN4
            acc${i}_${j} = fma(a${i}, b${j}, acc${i}_${j});
//@ end
//@ end
        }
        // The next stage overwrites what neighbours still read.
        workgroupBarrier();
    }
//@ else
//@ for i in 0..TM
    let x${i} = min(group_row + local.y * ${TM}u + ${i}u, last_row) * params.x_stride4;
//@ end
//@ for j in 0..TN4
    let w${j} = min(group_col4 + ${j * TX}u + local.x, last_col);
//@ end
    for (var k4 = 0u; k4 < params.depth4; k4++) {
//@ for i in 0..TM
        let a${i} = x[x${i} + k4];
//@ end
//@ for k in 0..4
        {
            let k = 4u * k4 + ${k}u;
//@ for j in 0..TN4
            let b${j} = w[k * params.w_stride4 + w${j}];
//@ for i in 0..TM
            acc${i}_${j} = fma(vec4f(a${i}[${k}]), b${j}, acc${i}_${j});
//@ end
//@ end
        }
//@ end
    }
//@ end
