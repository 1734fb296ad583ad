    // The features of one row and of the frequencies col .. col + 4, from their sums.
    let at = (params.row0 + row) * params.z_stride + col;
    let count = min(4u, params.freqs - col);
//@ if NONLINEARITY == 7
    write_features(at, total, vec4f(1.0), count);
//@ else
    let f0 = feature[col];
    let f1 = feature[col + 1u];
    let f2 = feature[col + 2u];
    let f3 = feature[col + 3u];
    let phase = vec4f(f0.x, f1.x, f2.x, f3.x);
    write_features(at, total + phase, vec4f(f0.y, f1.y, f2.y, f3.y), count);
//@ end
