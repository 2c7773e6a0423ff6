//! The program `oversim`.

use std::process::ExitCode;

fn main() -> ExitCode {
    oversim::main()
}
