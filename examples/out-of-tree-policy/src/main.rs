//! oversim's command line with `STEAL` added.

use std::process::ExitCode;

fn main() -> ExitCode {
    oversim::main_with(&[&out_of_tree_policy::ENTRY])
}
