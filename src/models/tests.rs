//! Tests of learners together, through the door.

mod losses;
mod objectives;
