//! The program as a child process, for the tests of the command line.

use assert_cmd::Command;

/// Runs `oversim` with these arguments and this standard input; its exit code, standard output and standard
/// error.
pub(crate) fn oversim(args: &[&str], stdin: &str) -> (i32, String, String) {
    let mut command = Command::cargo_bin("oversim").expect("the program is built");
    let output = command.args(args).write_stdin(stdin.to_owned()).output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it writes UTF-8");
    (output.status.code().expect("it ends by itself"), text(&output.stdout), text(&output.stderr))
}

/// A text on one line with single blanks: where lines end depends on the length of the paths in them.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
