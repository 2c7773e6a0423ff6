//! What the declaration of a key says, and the value that a file has for it.

use std::marker::PhantomData;

use notation::diagnostics::Place;
use notation::suggest::nearest;
use notation::yaml::{Entry, Node};
use policies::PolicyRegistry;
use serde_json::{Map, Value as Json};

use crate::Reader;

/// A key of a scenario, of an application or of `admission`.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its meaning without what its type adds.
    pub(crate) meaning: &'static str,
    /// More about it, for its page.
    pub more: &'static str,
    /// An example for its page: the key with its value; for a key of an application, the applications.
    pub example: &'static str,
    /// The value of files without it, as a file would write it; empty if it has none.
    pub default: &'static str,
    /// What to add to a file that lacks it; empty for keys that a file may lack.
    pub add: &'static str,
    /// Who may change it.
    pub edit: Edit,
    /// What a path can name within its value.
    pub inside: Inside,
    /// How its type completes the meaning.
    pub(crate) describe: fn(&str) -> String,
    /// The JSON Schema of its type.
    pub(crate) form: fn(&Self, &PolicyRegistry) -> Json,
}

/// Who may change the value of a key, besides the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edit {
    /// Nobody.
    Fixed,
    /// `--set`.
    Set,
    /// `--set` and a sweep.
    Sweep,
}

/// What a path can name within the value of a key.
#[derive(Clone, Copy, Debug)]
pub enum Inside {
    /// Nothing.
    Nothing,
    /// A parameter of the chosen entry of a registry.
    Parameters,
    /// One of these keys.
    Keys(&'static [Key]),
    /// A name, and one of these keys behind it.
    Named(&'static [Key]),
    /// One of these keys, which takes the place of the value: a value has one of them.
    Either(&'static [Key]),
    /// One of these keys, and behind it what the value has there: names and keys.
    Tree(&'static [Key]),
}

/// The type of a key's values, as editors know it.
pub(crate) trait Form {
    /// What a path can name within a value.
    const INSIDE: Inside = Inside::Nothing;

    /// The JSON Schema of the values.
    fn schema(key: &Key, policies: &PolicyRegistry) -> Json;

    /// What the key means; a type may add what it knows.
    fn describe(meaning: &str) -> String {
        meaning.to_owned()
    }
}

/// A type whose values are read without the rest of the scenario.
pub(crate) trait Value: Form {
    /// A value.
    type Read;

    /// Reads a value; what is wrong with it goes to the reader. `what` is the key in messages.
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self::Read>;
}

impl Key {
    /// A key of values of this type that a file may lack, and that `--set` and sweeps may change.
    pub(crate) const fn of<T: Form>(name: &'static str, meaning: &'static str) -> Self {
        Self {
            name,
            meaning,
            more: "",
            example: "",
            default: "",
            add: "",
            edit: Edit::Sweep,
            inside: T::INSIDE,
            describe: T::describe,
            form: T::schema,
        }
    }

    /// What it means, in sentences.
    #[must_use]
    pub fn about(&self) -> String {
        (self.describe)(self.meaning)
    }

    /// The JSON Schema of its values, with these policies.
    #[must_use]
    pub fn schema(&self, policies: &PolicyRegistry) -> Json {
        let mut schema = (self.form)(self, policies);
        if let Some(schema) = schema.as_object_mut() {
            schema.entry("description").or_insert_with(|| Json::from(self.about()));
        }
        schema
    }

    /// Whether `--set` may change it, or for [`Edit::Sweep`] a sweep.
    #[must_use]
    pub fn allows(&self, edit: Edit) -> bool {
        self.edit == Edit::Sweep || (self.edit == Edit::Set && edit == Edit::Set)
    }
}

/// The JSON Schema of the values of keys.
pub(crate) fn properties(keys: &[Key], policies: &PolicyRegistry) -> Map<String, Json> {
    keys.iter().map(|key| (key.name.to_owned(), key.schema(policies))).collect()
}

/// The names of keys, in their order.
pub(crate) fn names(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

/// What a mapping has for a key: nothing, or a value of the type `T`, which is read when it is asked for.
/// A value that is replaced before may be wrong.
pub(crate) struct Field<'a, T> {
    mapping: &'a Node,
    keys: &'static [Key],
    key: &'static Key,
    entry: Option<&'a Entry>,
    values: PhantomData<T>,
}

impl<'a, T> Field<'a, T> {
    /// The field of this key; an entry in `edits` replaces that of the mapping.
    pub(crate) fn of(
        mapping: &'a Node,
        edits: Option<&'a Node>,
        keys: &'static [Key],
        key: &'static Key,
    ) -> Self {
        let edited = edits.and_then(|edits| edits.get(key.name));
        Self { mapping, keys, key, entry: edited.or_else(|| mapping.get(key.name)), values: PhantomData }
    }

    /// The value as written.
    pub(crate) fn node(&self) -> Option<&'a Node> {
        self.entry.map(|entry| &entry.value)
    }

    /// Where the key is written.
    pub(crate) fn place(&self) -> Option<Place> {
        self.entry.map(|entry| entry.place)
    }

    /// What to add to a file without it.
    pub(crate) fn add(&self) -> &'static str {
        self.key.add
    }

    /// The value as written; an error if there is none.
    pub(crate) fn required(&self, reader: &mut Reader) -> Option<&'a Node> {
        if self.entry.is_none() {
            self.missing(reader);
        }
        self.node()
    }

    /// Notes that the key is missing.
    fn missing(&self, reader: &mut Reader) {
        let (name, known) = (self.key.name, names(self.keys));
        // A mistyped key has been reported with this one as advice.
        let mut unknown = self.mapping.entries().iter().filter(|entry| !known.contains(&entry.key.as_str()));
        if unknown.any(|entry| nearest(&entry.key, known.iter().copied()) == Some(name)) {
            return;
        }
        let hint = format!("add `{}`", self.key.add);
        reader.wrong_with_hint(self.mapping.start(), format!("the scenario has no `{name}`"), hint);
    }
}

impl<T: Value> Field<'_, T> {
    /// The value, or the default of files without it; `None` after an error.
    pub(crate) fn read(&self, reader: &mut Reader) -> Option<T::Read> {
        let what = format!("`{}`", self.key.name);
        match self.node() {
            Some(node) => T::read(reader, node, &what),
            None if !self.key.add.is_empty() => {
                self.missing(reader);
                None
            }
            None => T::read(reader, &Node::scalar(Place::NONE, self.key.default), &what),
        }
    }

    /// The value: outer `None` after an error, inner `None` without the key.
    pub(crate) fn given(&self, reader: &mut Reader) -> Option<Option<T::Read>> {
        if self.entry.is_some() { self.read(reader).map(Some) } else { Some(None) }
    }
}

/// Declares the keys of a mapping: a struct with a field for each, and the list of them. The comment of a key
/// is its description in the JSON Schema and on its page. The braces set fields of [`Key`].
macro_rules! keys {
    (
        $(#[$of_struct:meta])*
        struct $name:ident
        $($(#[doc = $meaning:literal])+ $key:ident: $type:ty { $($said:ident: $value:expr),* $(,)? })+
    ) => {
        $(#[$of_struct])*
        pub(crate) struct $name<'a> {
            $($(#[doc = $meaning])+ pub(crate) $key: $crate::key::Field<'a, $type>,)+
        }

        impl<'a> $name<'a> {
            /// The keys, in the order of lists.
            pub(crate) const KEYS: &'static [$crate::key::Key; [$(stringify!($key)),+].len()] =
                &[$($crate::key::Key {
                    $($said: $value,)*
                    ..$crate::key::Key::of::<$type>(stringify!($key), concat!($($meaning),+).trim_ascii())
                }),+];

            /// The fields of a mapping.
            pub(crate) fn of(mapping: &'a notation::yaml::Node) -> Self {
                Self::edited(mapping, None)
            }

            /// The fields of a mapping; entries in `edits` replace its own.
            pub(crate) fn edited(
                mapping: &'a notation::yaml::Node,
                edits: Option<&'a notation::yaml::Node>,
            ) -> Self {
                let [$($key),+] = Self::KEYS;
                Self { $($key: $crate::key::Field::of(mapping, edits, Self::KEYS, $key),)+ }
            }
        }
    };
}
pub(crate) use keys;
