//! The clock that work is timed with: the system's, or in a browser the page's, for there the
//! system's cannot be asked.

#[cfg(not(all(target_family = "wasm", feature = "web")))]
pub use std::time::Instant;
#[cfg(all(target_family = "wasm", feature = "web"))]
pub use web_time::Instant;
