    // The levels of layout M; nobody else touches what this invocation reads and writes here.
//@ for r in 0..E
//@ let C = r / 2 * 8 + r % 2 * APART_G
//@ include place_of_c
    v${r} = exchange[base + (at_m ^ ${XOR}u) + ${ADD}u];
//@ end
//@ let FIRST = 1
//@ let LAST = E
//@ include butterflies
//@ for r in 0..E
//@ let C = r / 2 * 8 + r % 2 * APART_G
//@ include place_of_c
    exchange[base + (at_m ^ ${XOR}u) + ${ADD}u] = v${r};
//@ end
    workgroupBarrier();
