// Neighbouring columns that an invocation of a pass over longer rows takes; all else is in vec4s.
//@ if COLUMNS == 4
alias Columns = vec4f;
//@ end
//@ if COLUMNS == 2
alias Columns = vec2f;
//@ end
//@ if COLUMNS == 1
alias Columns = f32;
//@ end
