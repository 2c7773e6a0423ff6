//! Bytes of files as text: what is not UTF-8 or too long is refused with its place and the likely encoding.

use crate::diagnostics::{Diagnostic, Place, Sources};
use crate::number::whole_bytes;

/// Bytes in which signs of a binary file are looked for.
const SAMPLE: usize = 1024;
/// Bytes behind a wrong byte that are shown of its line.
const BEHIND: usize = 200;

/// A file that is no text: what can be shown of it, and what is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreadable {
    /// Its text up to the place, each wrong byte as `�`.
    pub text: String,
    /// What is wrong; its place is one of `text`, and its source is 0.
    pub problem: Diagnostic,
}

impl Unreadable {
    /// The error with the name of the file, line, column and the line itself.
    #[must_use]
    pub fn render(&self, name: &str) -> String {
        Sources::new(name, &self.text).render(std::slice::from_ref(&self.problem))
    }

    /// A file is longer than `most` bytes; `what` is what it is to hold, and `size` is its length if that is
    /// known.
    #[must_use]
    pub fn too_long(what: &str, size: Option<u64>, most: u64) -> Self {
        let size = size.filter(|size| *size > most);
        let size = size.map_or_else(|| format!("more than {}", whole_bytes(most)), whole_bytes);
        let message =
            format!("this is not a {what}: it has {size}, and at most {} are read", whole_bytes(most));
        Self { text: String::new(), problem: Diagnostic::new(Place::NONE, message) }
    }
}

/// The text of a file.
///
/// # Errors
/// The first byte that is not UTF-8 and the encoding that the file seems to have.
pub fn decode(bytes: Vec<u8>) -> Result<String, Box<Unreadable>> {
    if let Some(encoding) = wide(&bytes) {
        let message = format!("the file is not UTF-8: it seems to be {encoding}");
        let problem = Diagnostic::new(Place::NONE, message).hint("save it as UTF-8");
        return Err(Box::new(Unreadable { text: String::new(), problem }));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Box::new(refused(error.as_bytes(), at))
    })
}

/// The encoding of a file whose characters have two or four bytes: by its mark, or by the zero bytes of plain
/// letters.
fn wide(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] => Some("UTF-16 (little-endian)"),
        [0xfe, 0xff, ..] => Some("UTF-16 (big-endian)"),
        [1..=255, 0, 1..=255, 0, ..] => Some("UTF-16 (little-endian)"),
        [0, 1..=255, 0, 1..=255, ..] => Some("UTF-16 (big-endian)"),
        _ => None,
    }
}

/// The error about the byte at a place, which is not UTF-8.
fn refused(bytes: &[u8], at: usize) -> Unreadable {
    let (good, rest) = bytes.split_at(at);
    let byte = rest.first().copied().unwrap_or_default();
    let behind = &rest[..rest.len().min(BEHIND)];
    let line = behind.iter().position(|b| *b == b'\n').map_or(behind, |end| &behind[..end]);
    let text = String::from_utf8_lossy(good).into_owned() + &String::from_utf8_lossy(line);
    let place = Place::range(0, at..at + char::REPLACEMENT_CHARACTER.len_utf8());
    let (guess, hint) = likely(bytes, byte);
    let message = format!("the byte 0x{byte:02X} is not UTF-8: {guess}");
    Unreadable { text, problem: Diagnostic::new(place, message).hint(hint) }
}

/// What a file with this wrong byte seems to be, and what to do.
fn likely(bytes: &[u8], byte: u8) -> (String, &'static str) {
    let control = |b: &u8| (*b < 0x20 && !b.is_ascii_whitespace()) || *b == 0x7f;
    if bytes.iter().take(SAMPLE).any(control) {
        return ("this is not a text file".to_owned(), "name a file with text");
    }
    let guess = match byte {
        // A mark of the middle of a character, alone: a letter of Windows where Latin-1 has none.
        0x80..=0x9f => "the file seems to be Windows-1252".to_owned(),
        _ => format!("the file seems to be Latin-1, where it is `{}`", char::from(byte)),
    };
    (guess, "save the file as UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        decode(bytes.to_vec()).unwrap_err().render("l.yaml")
    }

    #[test]
    fn the_first_wrong_byte_has_line_and_column() {
        let text = refusal(b"name: t\nabout: \xc3\xbc caf\xe9 bar\nmore: 1\n");
        assert!(text.contains("l.yaml:2:13") && text.contains("2 | about: ü caf� bar"), "{text}");
        assert!(text.contains("0xE9") && text.contains("Latin-1, where it is `é`"), "{text}");
        assert!(refusal(b"\x80").contains("l.yaml:1:1") && refusal(b"a: \x93b\x94").contains("Windows-1252"));
        assert!(refusal(b"\x89PNG\r\n\x1a\n\0\0\0").contains("not a text file"));
        assert!(refusal(b"a: \xc3").contains("l.yaml:1:4"));
    }

    #[test]
    fn wide_characters_are_known_with_and_without_mark() {
        let little: Vec<u8> = "name: t\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "name: t\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, name) in [
            (little.clone(), "UTF-16 (little-endian)"),
            (big.clone(), "UTF-16 (big-endian)"),
            ([&[0xff, 0xfe][..], &little].concat(), "UTF-16 (little-endian)"),
            ([&[0xfe, 0xff][..], &big].concat(), "UTF-16 (big-endian)"),
            (vec![0xff, 0xfe, 0, 0, b'n', 0, 0, 0], "UTF-32"),
        ] {
            let text = refusal(&bytes);
            assert!(text.contains(name) && text.contains("l.yaml:1:1"), "{text}");
        }
    }

    #[test]
    fn a_size_is_given_with_its_limit() {
        let text = Unreadable::too_long("scenario", Some(2_000_000), 1 << 20).render("l.yaml");
        assert!(
            text.contains("l.yaml:1:1")
                && text.contains("has 2000000 bytes, and at most 1048576 bytes (1 MiB)"),
            "{text}"
        );
        let text = Unreadable::too_long("scenario", None, 1 << 20).render("<stdin>");
        assert!(text.contains("has more than 1048576 bytes (1 MiB),"), "{text}");
    }

    #[test]
    fn utf_8_is_read() {
        assert_eq!(decode("ü\n".into()).unwrap(), "ü\n");
        assert_eq!(decode(Vec::new()).unwrap(), "");
    }
}
