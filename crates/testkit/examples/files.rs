//! Prints the file map: each source file of each crate with its caption. An argument limits it to some
//! crates.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

fn main() -> std::io::Result<()> {
    print!("{}", testkit::house::map(&std::env::args().nth(1).unwrap_or_default())?);
    Ok(())
}
