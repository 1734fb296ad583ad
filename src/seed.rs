//! Everything random: a [`Seed`] opens named, indexed ChaCha8 streams, and [`Draws`] turns their bits into variates with
//! pure-Rust maths, so that one seed gives the same bits on every platform, device and thread count.

/// Variates from one stream.
#[derive(Debug)]
pub struct Draws(rand_chacha::ChaCha8Rng);
