//! JSON as programs with lenient readers accept it: comments, commas too many or too few, keys that come
//! twice (in order), keys without a value. Each value knows its place. Size and depth are bounded.

use crate::{Refused, Source};

/// Deepest nesting.
const MAX_DEPTH: usize = 64;
/// Most values of a file.
const MAX_VALUES: usize = 2_000_000;

/// A value with the line where it begins, from 1.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Value {
    pub(crate) line: usize,
    pub(crate) what: What,
}

/// What a value is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum What {
    Null,
    Flag(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Value>),
    /// In the order of the file; a key can come several times.
    Map(Vec<(Key, Value)>),
}

/// A key with the line where it begins, from 1.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Key {
    pub(crate) line: usize,
    pub(crate) name: String,
}

impl Value {
    pub(crate) fn entries(&self) -> &[(Key, Self)] {
        if let What::Map(entries) = &self.what { entries } else { &[] }
    }

    pub(crate) fn items(&self) -> &[Self] {
        if let What::List(items) = &self.what { items } else { &[] }
    }

    /// The value of a key; the last one of several, as readers do that keep one.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.entries().iter().rev().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let What::Text(text) = &self.what { Some(text) } else { None }
    }

    /// A number as it is written.
    pub(crate) fn number(&self) -> Option<&str> {
        if let What::Number(number) = &self.what { Some(number) } else { None }
    }

    /// A whole number.
    pub(crate) fn whole(&self) -> Option<i64> {
        self.number()?.parse().ok()
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.what, What::Map(_))
    }

    /// What it is, for messages.
    pub(crate) const fn kind(&self) -> &'static str {
        match self.what {
            What::Null => "nothing",
            What::Flag(_) => "true or false",
            What::Number(_) => "a number",
            What::Text(_) => "a text",
            What::List(_) => "a list",
            What::Map(_) => "an object",
        }
    }
}

/// The value of a file.
///
/// # Errors
/// What is wrong, with its line.
pub(crate) fn read(source: &Source<'_>) -> Result<Value, Refused> {
    let mut reader = Reader { text: source.text, at: 0, values: 0, line: 1, counted: 0 };
    if reader.text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let read = reader.value(0).and_then(|value| {
        reader.space()?;
        if reader.at < reader.text.len() {
            return Err("the file goes on behind the end of its object".into());
        }
        Ok(value)
    });
    read.map_err(|why| source.wrong(reader.at, why))
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    values: usize,
    /// The line of the byte up to which line feeds are counted.
    line: usize,
    counted: usize,
}

impl Reader<'_> {
    /// The line of the present byte.
    fn line(&mut self) -> usize {
        let passed = self.text.as_bytes().get(self.counted..self.at).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.counted = self.at;
        self.line
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space and comments.
    fn space(&mut self) -> Result<(), String> {
        loop {
            let rest = &self.text[self.at..];
            let spaces = rest.len() - rest.trim_start().len();
            self.at += spaces;
            let rest = &rest[spaces..];
            if rest.starts_with("/*") {
                let Some(end) = rest.find("*/") else {
                    return Err("this comment has no end (`*/`)".into());
                };
                self.at += end + 2;
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return Ok(());
            }
        }
    }

    /// Skips white space, comments and commas.
    fn commas(&mut self) -> Result<(), String> {
        self.space()?;
        while self.peek() == Some(b',') {
            self.at += 1;
            self.space()?;
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        self.space()?;
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(format!("more than {MAX_VALUES} values"));
        }
        if depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} levels of objects and lists"));
        }
        let line = self.line();
        let what = match self.peek() {
            Some(b'{') => self.map(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => What::Text(self.string()?),
            Some(_) => self.word()?,
            None => return Err("the file ends where a value is due".into()),
        };
        Ok(Value { line, what })
    }

    fn map(&mut self, depth: usize) -> Result<What, String> {
        let begin = self.at;
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.commas()?;
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(What::Map(entries));
                }
                Some(b'"') => {}
                None => {
                    self.at = begin;
                    return Err("this object has no end (`}`)".into());
                }
                Some(_) => return Err("a key in quotes or `}` is due here".into()),
            }
            let line = self.line();
            let key = Key { line, name: self.string()? };
            self.space()?;
            let value = match self.peek() {
                Some(b':') => {
                    self.at += 1;
                    self.value(depth + 1)?
                }
                // A key alone: rt-app's examples have `"suspend",`.
                Some(b',' | b'}') => Value { line, what: What::Null },
                _ => return Err(format!("a `:` is due behind the key `{}`", key.name)),
            };
            entries.push((key, value));
        }
    }

    fn list(&mut self, depth: usize) -> Result<What, String> {
        let begin = self.at;
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.commas()?;
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(What::List(items));
                }
                None => {
                    self.at = begin;
                    return Err("this list has no end (`]`)".into());
                }
                Some(_) => items.push(self.value(depth + 1)?),
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let begin = self.at;
        let mut text = String::new();
        let mut chars = self.text[begin + 1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = begin + 1 + at + 1;
                    return Ok(text);
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('u') => {
                        let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&digits, 16).ok();
                        text.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
                    }
                    Some(c) => text.push(c),
                    None => break,
                },
                '\n' => break,
                c => text.push(c),
            }
        }
        Err("this text has no end (`\"`)".into())
    }

    fn word(&mut self) -> Result<What, String> {
        let rest = &self.text[self.at..];
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']' | ':' | '"' | '/');
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let what = match word {
            "null" => What::Null,
            "true" | "True" => What::Flag(true),
            "false" | "False" => What::Flag(false),
            word if word.parse::<f64>().is_ok_and(f64::is_finite) => What::Number(word.to_owned()),
            _ => return Err("a value is due here: a number, a text in quotes, a list or an object".into()),
        };
        self.at += word.len();
        Ok(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Value, Refused> {
        read(&Source { name: "f.json", text })
    }

    #[test]
    fn quirks_are_read_in_order() {
        let text =
            "{ /* a\n { */ \"run\": 1, \"sleep\" : 2,, \"run\" : 3 // end\n \"suspend\", \"x\": {}, }\n";
        let value = parse(text).unwrap();
        let keys: Vec<(&str, Option<i64>)> =
            value.entries().iter().map(|(key, value)| (key.name.as_str(), value.whole())).collect();
        assert_eq!(
            keys,
            [("run", Some(1)), ("sleep", Some(2)), ("run", Some(3)), ("suspend", None), ("x", None)]
        );
        assert_eq!(value.get("run").and_then(Value::whole), Some(3), "the last one of several");
        assert_eq!(parse(r#""a\"b\u0041""#).unwrap().text(), Some("a\"bA"));
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        for (text, line, words) in [
            ("{\n \"a\": 1,\n", ":1:1", "no end"),
            ("{\n \"a\": x }", ":2:7", "a value is due"),
            ("{\n \"a\" 1 }", ":2:6", "`:` is due"),
            ("{ \"a", ":1:3", "no end"),
            ("/* x", ":1:1", "comment"),
            ("{}\n{}", ":2:1", "goes on"),
            ("{ \"a\": [1, 2", ":1:8", "list has no end"),
            ("", ":1:1", "ends where"),
        ] {
            let Refused::Rendered(said) = parse(text).unwrap_err() else { panic!("{text}") };
            assert!(said.contains(&format!("f.json{line}")) && said.contains(words), "{text}: {said}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "[".repeat(100_000);
        assert!(parse(&deep).is_err());
        assert!(parse(&"{\"a\":".repeat(100_000)).is_err());
        assert!(parse(&format!("{}{}", "[".repeat(60), "]".repeat(60))).is_ok());
    }
}
