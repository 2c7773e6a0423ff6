//! The comments before the text of tracefs: `# key: value`, a line each.

use std::ffi::OsStr;
use std::fmt::Display;

use notation::neutral;

/// The first line.
pub const TITLE: &str = "# oversim twin record";

/// Longest value in bytes: the command line of a linker may have megabytes.
const LONGEST: usize = 16 << 10;

/// Lines of comments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Head(String);

impl Head {
    /// The title alone.
    pub(crate) fn new() -> Self {
        Self(format!("{TITLE}\n"))
    }

    /// Adds a line. What would end the line is made visible, and what is too long is cut.
    pub(crate) fn add(&mut self, key: &str, value: impl Display) {
        let value = value.to_string();
        let value = neutral::line(&value);
        let mut end = value.len().min(LONGEST);
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        let cut = if end < value.len() { " ..." } else { "" };
        self.0 += &format!("# {key}: {}{cut}\n", value.get(..end).unwrap_or_default());
    }

    /// Adds a line if the value is known.
    pub(crate) fn add_known(&mut self, key: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(key, value);
        }
    }

    /// Adds lines that stand for themselves.
    pub(crate) fn append(&mut self, lines: &str) {
        self.0 += lines;
    }

    /// The text.
    pub(crate) fn text(self) -> String {
        self.0
    }
}

/// A word as a shell reads it.
pub(crate) fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Numbers of cpus as a list: `0-3,8`.
pub(crate) fn cpu_list(cpus: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*cpu) => *last = *cpu,
            _ => parts.push((*cpu, *cpu)),
        }
    }
    let texts: Vec<String> = parts
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_on_its_line() {
        let mut head = Head::new();
        head.add("env", "A=1\n# pid: 7\u{1b}[2J");
        head.add_known("hz", Some(250));
        head.add_known("hz", None::<u32>);
        head.add("command", "ä".repeat(LONGEST));
        let text = head.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(&lines[..3], ["# oversim twin record", "# env: A=1␊# pid: 7␛[2J", "# hz: 250"]);
        assert!(lines.len() == 4 && lines[3].ends_with("ä ...") && lines[3].len() < LONGEST + 30);
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        let words = ["make", "-j4", "A=1", "a b", "it's", "", "$X"].map(|word| quoted(OsStr::new(word)));
        assert_eq!(words, ["make", "-j4", "A=1", "'a b'", "'it'\\''s'", "''", "'$X'"]);
    }

    #[test]
    fn cpus_are_listed_in_ranges() {
        assert_eq!(cpu_list(&[0, 1, 2, 8, 10, 11]), "0-2,8,10-11");
        assert_eq!(cpu_list(&[u32::MAX, 0]), "4294967295,0");
        assert_eq!(cpu_list(&[]), "");
    }
}
