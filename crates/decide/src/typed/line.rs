//! Lines to type, and how they are broken.

use serde::Serialize;

use super::advice::Dialect;
use super::table::ROWS;

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `export` of variables that several programs share.
    Export,
    /// A command that starts a program.
    Command,
    /// A command that writes a file of a control group.
    File,
    /// A line of YAML, in the list `containers` of a pod.
    Yaml,
    /// A comment: what is set in a configuration file.
    Site,
    /// A comment: what cannot be typed, or what else to know.
    Note,
}

/// One setting of a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Said {
    /// The variable, option, command, file or field.
    pub name: &'static str,
    /// Its value; empty for an option without one.
    pub value: String,
}

/// A line to type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Line {
    /// Where it is typed.
    pub dialect: Dialect,
    /// The programs it is about.
    pub programs: Vec<String>,
    /// What it is.
    pub kind: Kind,
    /// The text, on one line. Comments begin with `# `.
    pub text: String,
    /// The settings in it.
    pub settings: Vec<Said>,
}

/// What follows a broken line of a shell: it is indented.
const INDENT: &str = "    ";

impl Line {
    /// Whether it has numbers of cpus, as Linux counts them; names such as `cores` are none.
    #[must_use]
    pub fn names_cpus(&self) -> bool {
        let word = |text: &str| text.chars().all(|c| c.is_ascii_alphabetic());
        let numbers = |said: &Said| {
            ROWS.iter().copied().flatten().any(|row| row.cpus && row.name == said.name) && !word(&said.value)
        };
        self.settings.iter().any(numbers)
    }

    /// The text in lines of at most `width` characters, if words are not longer: commands with a backslash
    /// at the end of a line, comments with another `#`. YAML is not broken.
    ///
    /// ```
    /// use decide::typed::{Dialect, Kind, Line};
    ///
    /// let text = "OMP_PLACES='{0},{2}' nice -n 5 cg".to_owned();
    /// let (dialect, kind) = (Dialect::Shell, Kind::Command);
    /// let line = Line { dialect, programs: Vec::new(), kind, text, settings: Vec::new() };
    /// assert_eq!(line.wrapped(24), "OMP_PLACES='{0},{2}' \\\n    nice -n 5 cg");
    /// ```
    #[must_use]
    pub fn wrapped(&self, width: usize) -> String {
        let (end, begin) = match self.kind {
            Kind::Yaml => return self.text.clone(),
            Kind::Site | Kind::Note => ("", "# "),
            Kind::Export | Kind::Command | Kind::File => (" \\", INDENT),
        };
        let comment = end.is_empty();
        let mut text = String::new();
        let mut filled = 0;
        let words = words(&self.text, comment);
        for (at, word) in words.iter().enumerate() {
            let long = word.chars().count();
            let last = at + 1 == words.len();
            let room = if last { 0 } else { end.chars().count() };
            if at > 0 && filled + 1 + long + room > width {
                text.push_str(end);
                text.push('\n');
                text.push_str(begin);
                filled = begin.chars().count();
            } else if at > 0 {
                text.push(' ');
                filled += 1;
            }
            text.push_str(word);
            filled += long;
        }
        text
    }
}

/// The words between spaces; of a command, quoted spaces belong to their word.
fn words(text: &str, comment: bool) -> Vec<&str> {
    let mut quote = None;
    let between = |c: char| match quote {
        None if c == ' ' => true,
        None if !comment && (c == '\'' || c == '"') => {
            quote = Some(c);
            false
        }
        Some(open) if open == c => {
            quote = None;
            false
        }
        _ => false,
    };
    text.split(between).collect()
}
