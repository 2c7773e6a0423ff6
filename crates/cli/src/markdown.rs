//! Markdown as text for a terminal.

/// Markdown without marks: links are their texts, and emphasis is gone. Code between backticks stays as it
/// is, and so does a star between blanks, which is a sign of multiplication.
pub(crate) fn plain(text: &str) -> String {
    // A tick stands for each span of code while the marks around it are taken off.
    let spans: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    let prose: Vec<&str> = text.split('`').step_by(2).collect();
    let bare = without_emphasis(&without_links(&prose.join("`")));
    let mut spans = spans.into_iter();
    let mut out = String::new();
    for letter in bare.trim().chars() {
        out.push(letter);
        if letter == '`' {
            out.push_str(spans.next().unwrap_or_default());
            out.push('`');
        }
    }
    out
}

/// Links as their texts.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        // A picture has no place in a text.
        if let Some(before) = before.strip_suffix('!') {
            out.push_str(before);
            rest = link.split_once(')').map_or("", |(_, rest)| rest);
            continue;
        }
        out.push_str(before);
        let Some((label, behind)) = link.split_once("](") else {
            out.push('[');
            rest = link;
            continue;
        };
        out.push_str(label);
        rest = behind.split_once(')').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// Without the stars of emphasis: a star between two blanks, or between two digits or letters, stays.
fn without_emphasis(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let near = |at: Option<usize>| at.and_then(|at| letters.get(at).copied()).unwrap_or(' ');
    let stays = |at: usize| {
        let (before, behind) = (near(at.checked_sub(1)), near(Some(at + 1)));
        let blanks = before.is_whitespace() && behind.is_whitespace();
        blanks || before.is_alphanumeric() && behind.is_alphanumeric()
    };
    let kept = letters.iter().enumerate().filter(|(at, letter)| **letter != '*' || stays(*at));
    kept.map(|(_, letter)| *letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_markdown_are_not_shown() {
        assert_eq!(plain("*One* [page](a.md#b) and `code` **all** [x]"), "One page and `code` all [x]");
        assert_eq!(
            plain("`W * ceil(n/c)[1](2)` is 84.5 s * 3 / 40, *not* 2*3"),
            "`W * ceil(n/c)[1](2)` is 84.5 s * 3 / 40, not 2*3"
        );
        assert_eq!(plain("the [`a*b` page](x.md)"), "the `a*b` page");
    }
}
