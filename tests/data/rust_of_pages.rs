//! The Rust examples of the documents compile: `build.rs` puts each block into a separate function.

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

#[test]
fn every_block_of_rust_in_the_documents_is_compiled() {
    assert!(BLOCKS.len() >= 18, "{BLOCKS:?}");
}
