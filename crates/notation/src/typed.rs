//! A tree of YAML as a value of a type. One small deserializer for all types: that of the YAML library is
//! compiled anew for each type, which took a third of the build of a crate with data files.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::diagnostics::{Diagnostic, Place, Sources};
use crate::yaml::{Content, Entry, Node, tree};

/// Parses one YAML document into a type.
///
/// # Errors
/// A rendered message with line, column and source snippet.
pub fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, String> {
    let typed = |root: Node| T::deserialize(Typed(&root)).map_err(|problem| problem.0);
    tree(0, text).and_then(typed).map_err(|diagnostic| Sources::new(name, text).render(&[diagnostic]))
}

/// A node that is read as a value of a type.
#[derive(Clone, Copy)]
struct Typed<'a>(&'a Node);

/// What is wrong, at the innermost node.
#[derive(Debug)]
struct Problem(Diagnostic);

impl Problem {
    /// At a place, unless it has one.
    fn at(mut self, place: Place) -> Self {
        if !self.0.place.is_known() {
            self.0.place = place;
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Problem {}

impl Error for Problem {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Diagnostic::new(Place::NONE, message.to_string()))
    }
}

impl<'a> Typed<'a> {
    fn text(self, what: &dyn fmt::Display) -> Result<&'a str, Problem> {
        match &self.0.content {
            Content::Scalar(text) => Ok(text),
            _ => Err(Problem::custom(format_args!("{what} expected, this is {}", self.0.what()))),
        }
    }

    fn number<T: std::str::FromStr>(self, what: &str) -> Result<T, Problem> {
        let text = self.text(&what)?;
        text.replace('_', "").parse().map_err(|_| Problem::custom(format_args!("`{text}` is not {what}")))
    }
}

/// Numbers: name of the method, type, method of the visitor, what it is.
macro_rules! numbers {
    ($($method:ident $type:ty, $visit:ident, $what:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            let value: $type = self.number($what).map_err(|problem| problem.at(self.0.place))?;
            visitor.$visit(value).map_err(|problem: Problem| problem.at(self.0.place))
        }
    )*};
}

impl<'de> Deserializer<'de> for Typed<'_> {
    type Error = Problem;

    numbers! {
        deserialize_bool bool, visit_bool, "`true` or `false`";
        deserialize_i8 i64, visit_i64, "a whole number";
        deserialize_i16 i64, visit_i64, "a whole number";
        deserialize_i32 i64, visit_i64, "a whole number";
        deserialize_i64 i64, visit_i64, "a whole number";
        deserialize_u8 u64, visit_u64, "a whole number";
        deserialize_u16 u64, visit_u64, "a whole number";
        deserialize_u32 u64, visit_u64, "a whole number";
        deserialize_u64 u64, visit_u64, "a whole number";
        deserialize_f32 f64, visit_f64, "a number";
        deserialize_f64 f64, visit_f64, "a number";
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let read = match &self.0.content {
            Content::Null => visitor.visit_unit(),
            Content::Scalar(text) => visitor.visit_str(text),
            Content::List(items) => visitor.visit_seq(Items(items)),
            Content::Map(entries) => visitor.visit_map(Entries(entries)),
        };
        read.map_err(|problem: Problem| problem.at(self.0.place))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if self.0.content == Content::Null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    /// Variants have no content.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let word = self.text(&"a word").map_err(|problem| problem.at(self.0.place))?;
        let word: StrDeserializer<'_, Problem> = word.into_deserializer();
        visitor.visit_enum(word).map_err(|problem| problem.at(self.0.place))
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

/// The items of a list.
struct Items<'a>(&'a [Node]);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Problem> {
        let Some((first, rest)) = self.0.split_first() else { return Ok(None) };
        self.0 = rest;
        seed.deserialize(Typed(first)).map(Some).map_err(|problem| problem.at(first.place))
    }
}

/// The entries of a mapping; the key of the first has been read when its value is asked for.
struct Entries<'a>(&'a [Entry]);

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Problem> {
        let Some(entry) = self.0.first() else { return Ok(None) };
        let key = Node::scalar(entry.place, &entry.key);
        seed.deserialize(Typed(&key)).map(Some).map_err(|problem| problem.at(entry.place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        let Some((entry, rest)) = self.0.split_first() else {
            return Err(Problem::custom("a value without a key"));
        };
        self.0 = rest;
        seed.deserialize(Typed(&entry.value)).map_err(|problem| problem.at(entry.value.place))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn typed_reading_reports_line_and_column() {
        #[derive(Deserialize, Debug)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "only its shape matters")]
        struct Shape {
            count: u32,
        }
        let message = parse::<Shape>("shape.yaml", "count: many\n").unwrap_err();
        assert!(message.contains("shape.yaml:1:8"), "{message}");
        let message = parse::<Shape>("shape.yaml", "count: 1\nmore: 2\n").unwrap_err();
        assert!(message.contains("shape.yaml:2:1"), "{message}");
    }

    #[test]
    fn values_of_all_forms_are_read() {
        #[derive(Deserialize, PartialEq, Debug)]
        #[serde(rename_all = "kebab-case")]
        enum Word {
            TwoWords,
        }
        #[derive(Deserialize, PartialEq, Debug)]
        struct All {
            numbers: Vec<(u8, f64)>,
            word: Word,
            #[serde(default)]
            lacking: bool,
            empty: Option<u32>,
            map: std::collections::BTreeMap<String, Option<i32>>,
        }
        let text = "numbers: [[1, 0.5], [255, 1e3]]\nword: two-words\nempty:\nmap: { a: -1_000 }\n";
        let map = [("a".to_owned(), Some(-1_000))].into();
        let all = All {
            numbers: vec![(1, 0.5), (255, 1e3)],
            word: Word::TwoWords,
            lacking: false,
            empty: None,
            map,
        };
        assert_eq!(parse::<All>("x", text), Ok(all));
        for (text, place, said) in [
            ("numbers: [[1, 0.5], [256, 1]]\n", "x:1:22", "256"),
            ("word: words\n", "x:1:7", "unknown variant"),
            ("numbers: 1\n", "x:1:10", "sequence"),
            ("word: [a]\n", "x:1:7", "a word expected, this is a list"),
        ] {
            let message = parse::<All>("x", text).unwrap_err();
            assert!(message.contains(place) && message.contains(said), "{message}");
        }
    }
}
