//! Tests across solvers.

mod covariances;
mod minimisers;
