//! Tests of learners together, through the door.

mod defaults;
mod losses;
mod objectives;
mod units;
mod weights;
