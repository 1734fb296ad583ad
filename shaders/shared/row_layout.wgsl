// How a row of N = 1 << LOG_N elements lies in the registers of T invocations, E = N / T each.
// Layout A: register l + LOW h of invocation t holds element l + LOW t + LOW T h: vec4 loads,
// levels on the bits of l and h. Layout B: register T u + s holds element l + LOW s + LOW T h,
// where l + LOW h = t + T u: levels on the bits of s, and LOW neighbours of t write neighbouring
// elements.
//@ let N = 1
//@ for i in 0..LOG_N
//@ let N = N * 2
//@ end
//@ let E = 1
//@ for i in 0..LOG_E
//@ let E = E * 2
//@ end
//@ let T = N / E
//@ let LOW = 8
//@ if N < 8
//@ let LOW = N
//@ end
//@ let LOW4 = (LOW + 3) / 4
//@ let WIDTH = LOW / LOW4
