//! Text in lines: broken at words, or cut.

/// Words put into lines, as many as `fits` allows; a word that does not fit has its own line.
pub fn lines<S: AsRef<str>>(words: impl IntoIterator<Item = S>, fits: impl Fn(&str) -> bool) -> Vec<String> {
    indented(words, ["", ""], fits)
}

/// As [`lines`], with the first text before the first line and the second one before the others.
fn indented<S: AsRef<str>>(
    words: impl IntoIterator<Item = S>,
    [first, rest]: [&str; 2],
    fits: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let Some(line) = lines.last_mut() else {
            lines.push(format!("{first}{}", word.as_ref()));
            continue;
        };
        let before = line.len();
        line.push(' ');
        line.push_str(word.as_ref());
        if !fits(line) {
            line.truncate(before);
            lines.push(format!("{rest}{}", word.as_ref()));
        }
    }
    lines
}

/// A text broken at its spaces into lines of at most `width` columns; a longer word is alone on its line.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    hanging(text, ["", ""], width)
}

/// As [`wrapped`], with indentation: of the first line, and of the others.
#[must_use]
pub fn hanging(text: &str, indent: [&str; 2], width: usize) -> Vec<String> {
    indented(text.split_whitespace(), indent, |line| line.chars().count() <= width)
}

/// A text of at most `most` columns: three dots stand for a longer end.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// Names in at most so many columns each, which stay apart: where names would be cut to the same text, their
/// ends are kept.
#[must_use]
pub fn cut_apart(names: &[&str], most: usize) -> Vec<String> {
    let cuts: Vec<String> = names.iter().map(|name| cut(name, most)).collect();
    let is_shared =
        |at: usize| (0..names.len()).any(|other| names[other] != names[at] && cuts[other] == cuts[at]);
    let end = |name: &str| {
        let skipped = (name.chars().count() + 3).saturating_sub(most);
        format!("...{}", name.chars().skip(skipped).collect::<String>().trim_start())
    };
    let each = names.iter().enumerate();
    each.map(|(at, name)| if is_shared(at) { end(name) } else { cuts[at].clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 4), ["unbreakable"]);
        assert_eq!(hanging("one two  three", ["", "  "], 7), ["one two", "  three"]);
        assert!(wrapped(" ", 4).is_empty());
    }

    #[test]
    fn names_with_one_beginning_keep_their_ends() {
        assert_eq!(cut_apart(&["rover-bus", "rover-radio", "hog"], 8), ["...r-bus", "...radio", "hog"]);
        assert_eq!(cut_apart(&["a-long-name", "other"], 8), ["a-lon...", "other"]);
    }

    #[test]
    fn long_texts_are_cut_at_their_ends() {
        assert_eq!((cut("a policy", 8), cut("a policy!", 8)), ("a policy".into(), "a pol...".into()));
        assert_eq!(cut("four words are cut", 8), "four...");
    }
}
