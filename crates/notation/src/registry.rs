//! Registries: what a scenario can name, with parameters, in the order of lists.

use crate::parameter::Parameter;
use crate::prose::section;
use crate::suggest::unknown;

/// An entry of a registry.
#[derive(Clone, Copy, Debug)]
pub struct Entry<T> {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where its rules or numbers come from.
    pub source: &'static str,
    /// What a scenario may say of it.
    pub example: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What only the entries of this registry have.
    pub own: T,
}

/// The entries of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Registry<T: 'static> {
    /// What an entry is called: `kernel`.
    pub noun: &'static str,
    /// The entries, in the order of lists.
    pub entries: &'static [Entry<T>],
    /// The Markdown file with a section about each entry.
    pub text: &'static str,
}

impl<T> Registry<T> {
    /// The names of the entries.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<T> {
        self.entries.iter().map(|entry| entry.name)
    }

    /// The entry of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'static Entry<T>> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The entry of this name.
    ///
    /// # Errors
    /// A sentence with the valid names and the nearest one.
    pub fn resolve(&self, name: &str) -> Result<&'static Entry<T>, String> {
        self.find(name).ok_or_else(|| unknown(self.noun, name, &self.names().collect::<Vec<_>>()))
    }

    /// What an entry is and when to use it, in paragraphs.
    #[must_use]
    pub fn about(&self, entry: &Entry<T>) -> String {
        section(self.text, entry.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Entry<u8> =
        Entry { name: "one", summary: "", source: "", example: "", parameters: &[], own: 1 };
    const NUMBERS: Registry<u8> = Registry {
        noun: "number",
        entries: &[ONE, Entry { name: "three", own: 3, ..ONE }],
        text: "## three\nIt is prime.\n",
    };

    #[test]
    fn entries_are_found_by_name_and_others_get_a_hint() {
        let three = NUMBERS.resolve("three").unwrap();
        assert_eq!((three.own, NUMBERS.about(three).as_str()), (3, "It is prime."));
        assert!(NUMBERS.find("tree").is_none());
        let error = NUMBERS.resolve("tree").unwrap_err();
        assert_eq!(error, "unknown number `tree`; numbers are one, three; did you mean `three`?");
    }
}
