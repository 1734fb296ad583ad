// Of an element that is C from an invocation's first: its place is (place ^ XOR) + ADD.
//@ let ADD = C - C % 32
//@ let XOR = C % 32 + C / 32 % 4 + C / 128 % 2 * 12 + C / 256 % 2 * 16
