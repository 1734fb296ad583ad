//! Tests of solvers together, which no one of them could hold.

mod covariances;
mod minimisers;
