//! Sentences cut into the pieces between which a line may break.

/// The words of a text; a sign of per cent or a unit stays with its number.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let bare = word.trim_end_matches(|c: char| ".,;:".contains(c));
        let unit = matches!(bare, "%" | "s" | "ms");
        match words.last_mut() {
            Some(last) if unit && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_units() {
        assert_eq!(
            words("waits 1 %, ends at 2.5 s; all s"),
            ["waits", "1 %,", "ends", "at", "2.5 s;", "all", "s"]
        );
    }
}
