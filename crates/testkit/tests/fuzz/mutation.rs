//! Mutations of inputs for the gate, which has no coverage to guide it.

use rand::{RngExt, rngs::ChaCha8Rng};

/// Longest input that a mutation makes, in bytes.
const LONGEST: usize = 32_768;

/// Texts that mean something to a reader, or to a terminal that shows a message.
const TOKENS: &[&str] = &[
    "0",
    "1",
    "-1",
    "255",
    "256",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "1e308",
    "1e-320",
    "0.5",
    "NaN",
    "infinite",
    "null",
    "true",
    "[]",
    "{}",
    "[[",
    "{{",
    "\"",
    "'",
    ": ",
    "- ",
    "\n",
    "\n  ",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "#",
    ",",
    "0-3,8",
    "0-4194303",
    "1..4",
    "1ns",
    "100%",
    "1EiB",
    "\u{1b}[31m",
    "\u{7}",
    "\0",
    "\u{9b}",
    "\u{202e}",
    "\u{feff}",
    "\u{e000}",
    "\u{e4}",
    "<script>",
    "&amp;",
    "<!--",
    "=1+1",
    "\r\n",
];

/// A number below `count`.
fn below(count: usize, random: &mut ChaCha8Rng) -> usize {
    random.random_range(0..count.max(1))
}

/// One of the inputs with one to eight changes.
pub(crate) fn mutated(inputs: &[Vec<u8>], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut input = inputs[below(inputs.len(), random)].clone();
    for _ in 0..=below(8, random) {
        let other = &inputs[below(inputs.len(), random)];
        change(&mut input, other, random);
    }
    input.truncate(LONGEST);
    input
}

/// A stretch of an input, at most `most` bytes long.
fn stretch(length: usize, most: usize, random: &mut ChaCha8Rng) -> std::ops::Range<usize> {
    let start = below(length + 1, random);
    start..(start + below(most + 1, random)).min(length)
}

/// The line around a byte.
fn line_at(input: &[u8], at: usize) -> std::ops::Range<usize> {
    let start = input[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |before| before + 1);
    let end = input[at..].iter().position(|byte| *byte == b'\n').map_or(input.len(), |end| at + end + 1);
    start..end
}

/// Makes one change.
fn change(input: &mut Vec<u8>, other: &[u8], random: &mut ChaCha8Rng) {
    let at = below(input.len() + 1, random);
    let token = TOKENS[below(TOKENS.len(), random)].as_bytes();
    match below(9, random) {
        0 if at < input.len() => input[at] ^= 1 << below(8, random),
        1 if at < input.len() => input[at] = random.random(),
        2 => drop(input.drain(stretch(input.len(), 16, random))),
        3 => drop(input.splice(at..at, token.iter().copied())),
        4 => {
            let range = stretch(input.len(), 8, random);
            input.splice(range, token.iter().copied());
        }
        5 => {
            let piece = other[stretch(other.len(), 200, random)].to_vec();
            input.splice(at..at, piece);
        }
        6 => {
            let line = line_at(input, at);
            drop(input.drain(line));
        }
        7 => {
            let line = input[line_at(input, at)].to_vec();
            input.splice(at..at, line);
        }
        _ => {
            let line = other[line_at(other, below(other.len() + 1, random))].to_vec();
            let here = line_at(input, at).start;
            input.splice(here..here, line);
        }
    }
}
