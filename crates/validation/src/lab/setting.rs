//! A value that a cell sets in its scenario, and its YAML.

use std::fmt;

use notation::yaml::{self, Content, Node};

/// Characters of a word that mean something to YAML.
const SIGNS: &str = "{}[]:#&*!|>'\"@`\\\n\t";

/// A word (a name, a number, a quantity) or a mapping.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Setting {
    /// A word.
    Word(String),
    /// Keys and their values.
    Map(Vec<(String, Self)>),
}

impl Setting {
    /// A name with settings of its own, as in `{openmp: {block_time: 0s}}`.
    #[must_use]
    pub fn named(name: &str, settings: &[(&str, Self)]) -> Self {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        Self::Map(vec![(name.to_owned(), Self::Map(settings))])
    }

    /// Reads a value as the axis of a sweep has it.
    ///
    /// # Errors
    /// It is neither a word nor a mapping: the reason.
    pub fn read(text: &str) -> Result<Self, String> {
        yaml::tree(0, text).map_err(|problem| problem.message).and_then(|node| Self::of(&node))
    }

    /// Reads a node of a file.
    ///
    /// # Errors
    /// It is neither a word nor a mapping: the reason.
    pub fn of(node: &Node) -> Result<Self, String> {
        match &node.content {
            Content::Scalar(word) => Ok(Self::Word(word.clone())),
            Content::Map(entries) => {
                let entry = |entry: &yaml::Entry| Ok((entry.key.clone(), Self::of(&entry.value)?));
                entries.iter().map(entry).collect::<Result<_, String>>().map(Self::Map)
            }
            Content::Null | Content::List(_) => Err(format!("a study cannot set {}", node.what())),
        }
    }

    /// The name that it sets: `npb` of `npb` and of `{npb: {class: A}}`.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Word(name) => Some(name),
            Self::Map(entries) => entries.first().map(|(name, _)| name.as_str()),
        }
    }
}

/// What is written as a word.
macro_rules! words {
    ($($of:ty),*) => {
        $(impl From<$of> for Setting {
            fn from(word: $of) -> Self {
                Self::Word(word.to_string())
            }
        })*
    };
}
words!(&str, &String, String, char, u32);

/// Whether YAML would read something else than this word; `inside` a mapping, a comma ends it.
fn needs_quotes(word: &str, inside: bool) -> bool {
    let sign = |c| SIGNS.contains(c) || (inside && c == ',');
    let nothing = matches!(word, "" | "~" | "null" | "Null" | "NULL");
    let begins = word.starts_with(['-', '?', '%', ',']) || word.starts_with("...");
    nothing || begins || word.trim() != word || word.contains(sign)
}

/// A word as YAML.
fn written(word: &str, inside: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if needs_quotes(word, inside) {
        return write!(f, "{}", serde_json::Value::from(word));
    }
    f.write_str(word)
}

/// As YAML on one line. A word with signs of YAML is quoted.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = match self {
            Self::Word(word) => return written(word, false, f),
            Self::Map(entries) => entries,
        };
        f.write_str("{")?;
        for (at, (key, value)) in entries.iter().enumerate() {
            f.write_str(if at > 0 { ", " } else { "" })?;
            written(key, true, f)?;
            f.write_str(": ")?;
            match value {
                Self::Word(word) => written(word, true, f)?,
                Self::Map(_) => write!(f, "{value}")?,
            }
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let npb = Setting::named(
            "npb",
            &[("benchmark", "cg".into()), ("class", 'B'.into()), ("scale", "20%".into())],
        );
        assert_eq!(npb.to_string(), "{npb: {benchmark: cg, class: B, scale: 20%}}");
        assert_eq!(npb.name(), Some("npb"));
        let words =
            ["0-7,9", "a: {b", "x \"y\" #", "", "null", " a", "- a", "? b", "%c", ", d", "...", "e\nf"];
        let keyed = |word: &&str| Setting::Map(vec![((*word).to_owned(), (*word).into())]);
        let all = words.iter().map(|word| (*word).into()).chain(words.iter().map(keyed));
        for setting in all.chain([npb, 8.into(), Setting::Map(Vec::new())]) {
            assert_eq!(Setting::read(&setting.to_string()), Ok(setting));
        }
        assert!(Setting::read("[a, b]").is_err());
    }
}
