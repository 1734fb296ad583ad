//! CLI
fn main(){}
