// How a row of N = 1 << LOG_N elements lies in the registers of T invocations, E = N / T each.
//
// Layout A: register l + LOW h of invocation t holds element l + LOW t + LOW T h: vec4 loads,
// levels on the bits of l and h. Layout B: register T u + s holds element l + LOW s + LOW T h,
// where l + LOW h = t + T u: levels on the bits of s, and LOW neighbours of t write neighbouring
// elements.
//
// Rows with more invocations than registers (DEEP: E = 32, T = 64 or 128) have a layout M between A
// and B, and their levels come in the order that they would have with E = T. A: register l + 8 h
// holds element l + 8 (t % (T / 2)) + 4 T h + 16 T (t / (T / 2)). M: register g + 2 s holds element
// t % 8 + 8 s + 128 (t / 8) + g N / 2. B: register r holds element t + T r, levels from 128 apart.
//
// WIDE rows (T = 256) have those of T = 128 in each half, and the level between halves last. A: l +
// 8 (t % 64) + 512 h + 2048 (t / 64). M: t % 8 + 8 s + 128 (t / 8 % 16) + 2048 g + 4096 (t / 128).
// B: t % 128 + 128 (r % 16) + 2048 (t / 128) + 4096 (r / 16), levels 128, 256 and 4096 apart.
//@ let N = 1
//@ for i in 0..LOG_N
//@ let N = N * 2
//@ end
//@ let E = 1
//@ for i in 0..LOG_E
//@ let E = E * 2
//@ end
//@ let T = N / E
//@ let DEEP = T > E
//@ let WIDE = T > 128
//@ let LOW = 8
//@ if N < 8
//@ let LOW = N
//@ end
//@ let LOW4 = (LOW + 3) / 4
//@ let WIDTH = LOW / LOW4
// Elements between registers h of layout A, and s of layout B, and besides from register 16 on;
// between halves g of layout M.
//@ let APART_A = LOW * T
//@ let APART_B = LOW
//@ let UPPER = 0
//@ let APART_G = N / 2
//@ if DEEP
//@ let APART_A = 4 * T
//@ let APART_B = T
//@ if WIDE
//@ let APART_A = 512
//@ let APART_B = 128
//@ let UPPER = 2048
//@ let APART_G = 2048
//@ end
// Where the exchange of a row holds element i: neighbours hit all banks, in every layout.
fn place(i: u32) -> u32 {
    return i ^ ((i >> 5u) & 7u) ^ ((i >> 4u) & 24u);
}
//@ end
