//! The command line of oversim.
fn main() {}
