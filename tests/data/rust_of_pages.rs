//! The Rust of the documents compiles: `build.rs` puts each block into a function of its own.

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

#[test]
fn every_block_of_rust_in_the_documents_is_compiled() {
    assert!(BLOCKS.len() >= 18, "{BLOCKS:?}");
}
