//@ let FIRST = 1
//@ let LAST = T
//@ if DEEP
//@ let FIRST = 128 / T
//@ let LAST = 4
//@ end
//@ include butterflies
