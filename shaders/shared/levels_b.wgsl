//@ let FIRST = 1
//@ let LAST = T
//@ if DEEP
//@ let FIRST = 128 / T
//@ let LAST = 4
//@ end
//@ if WIDE
//@ let FIRST = 1
//@ end
//@ include butterflies
//@ if WIDE
//@ let FIRST = 16
//@ let LAST = 32
//@ include butterflies
//@ end
