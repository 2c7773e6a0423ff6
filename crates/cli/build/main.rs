//! What the program says of itself: its commit, and its manual.

#![expect(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

mod identity;
mod manual;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    identity::state();
    manual::pack()
}
