    // A row from layout A to its transform in layout B.
//@ let FIRST = 1
//@ let LAST = E
//@ include butterflies
//@ if T > 1
//@ include exchange_put_a
    workgroupBarrier();
//@ if DEEP
//@ include exchange_m
//@ end
//@ include exchange_get_b
//@ include levels_b
//@ end
