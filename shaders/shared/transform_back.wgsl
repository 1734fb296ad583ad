    // A row from layout B to its transform in layout A. Nobody else has read what an invocation
    // writes first.
//@ if T > 1
//@ include levels_b
//@ include exchange_put_b
    workgroupBarrier();
//@ if DEEP
//@ include exchange_m
//@ end
//@ include exchange_get_a
//@ end
//@ let FIRST = 1
//@ let LAST = E
//@ include butterflies
