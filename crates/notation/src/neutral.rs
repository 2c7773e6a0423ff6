//! Text from files and command lines as it may stand in an output: no character acts on a terminal, a
//! document or a table.
//!
//! Every writer uses one of these functions, so a name looks the same everywhere. Control characters become
//! their pictures (`␛` for ESC), as in diagnostics. Other invisible characters, those of bidirectional text
//! included, become `�`.

use std::borrow::Cow;

/// Stands in place of an invisible character that has no picture.
const REPLACEMENT: char = '\u{fffd}';

/// True for characters that are not seen but have an effect: control characters, separators of lines and
/// paragraphs, format characters of bidirectional text, characters without width, tags, and what no XML
/// document may hold.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// The first invisible character of a text, with its place in bytes; line feeds do not count.
#[must_use]
pub fn first_invisible(text: &str) -> Option<(usize, char)> {
    text.char_indices().find(|(_, c)| is_invisible(*c) && *c != '\n')
}

/// How an invisible character is shown.
fn shown(c: char) -> char {
    let picture = match c {
        '\u{7f}' => Some('\u{2421}'),
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        _ => None,
    };
    picture.unwrap_or(REPLACEMENT)
}

/// The text with the invisible characters shown, but for those that are kept.
fn replaced(text: &str, kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let bad = |c: char| is_invisible(c) && !kept(c);
    if !text.contains(bad) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if bad(c) { shown(c) } else { c }).collect())
}

/// A text that stays on its line, for terminals and plain text.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, |_| false)
}

/// A text of several lines, for terminals and plain text, and for documents that are made already. A line
/// ends with a line feed; carriage returns before it are left out.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    let kept = |c| c == '\n';
    if text.contains("\r\n") {
        return Cow::Owned(replaced(&text.replace("\r\n", "\n"), kept).into_owned());
    }
    replaced(text, kept)
}

/// As [`lines`], for a text with colours for terminals: the codes of colours and faces stay.
#[must_use]
pub fn coloured(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, code) = rest.split_at(at);
        done.push_str(&lines(before));
        let length = colour_code(code);
        // What is no colour begins with a plain ESC, which is shown.
        let (code, after) = code.split_at(length.max(1));
        if length > 0 {
            done.push_str(code);
        } else {
            done.push_str(&line(code));
        }
        rest = after;
    }
    done.push_str(&lines(rest));
    done
}

/// The length of the code of a colour at the beginning of a text, in bytes; 0 when there is none.
fn colour_code(text: &str) -> usize {
    let Some(body) = text.strip_prefix("\u{1b}[") else { return 0 };
    let numbers = body.bytes().take_while(|b| b.is_ascii_digit() || *b == b';').count();
    if body.as_bytes().get(numbers) == Some(&b'm') { numbers + 3 } else { 0 }
}

/// A text on a line of Markdown or in a cell of its tables: no bar, no HTML, no link.
#[must_use]
pub fn markdown(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut before = None;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => done.push(' '),
            '\\' | '|' => done.extend(['\\', c]),
            // A sign of comparison stays: it opens no tag.
            '<' if opens_tag(&text[at + 1..]) => done.push_str("&lt;"),
            '(' | '[' | ':' if before == Some(']') => done.extend(['\\', c]),
            c if is_invisible(c) => done.push(shown(c)),
            c => done.push(c),
        }
        before = Some(c);
    }
    done
}

/// As [`markdown`], for a text at the beginning of a paragraph: it opens no heading, list, quotation or block
/// of code.
#[must_use]
pub fn markdown_paragraph(text: &str) -> String {
    let text = markdown(text.trim_start());
    let opens = text.starts_with(['#', '>', '-', '+', '*', '='])
        || text.starts_with("```")
        || text.starts_with("~~~");
    if opens { format!("\\{text}") } else { text }
}

/// Prose written for Markdown, in which only code between backticks is meant as such.
#[must_use]
pub fn markdown_prose(text: &str) -> String {
    let part = |(i, part): (usize, &str)| {
        if i % 2 == 1 {
            part.to_owned()
        } else {
            part.replace('<', "&lt;").replace('[', "\\[").replace('*', "\\*")
        }
    };
    lines(&text.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")).into_owned()
}

/// Whether a `<` before this text would begin a tag, a comment or the address of a link.
fn opens_tag(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
}

/// A text in XML, SVG or HTML, between tags or as the value of an attribute in quotation marks. Line feeds
/// stay.
#[must_use]
pub fn xml(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => done.push_str("&amp;"),
            '<' => done.push_str("&lt;"),
            '>' => done.push_str("&gt;"),
            '"' => done.push_str("&quot;"),
            '\n' => done.push('\n'),
            c if is_invisible(c) => done.push(shown(c)),
            c => done.push(c),
        }
    }
    done
}

/// A text in a cell of a CSV file. Programs for tables take a cell that begins with `=`, `+`, `-`, `@`, a tab
/// or a carriage return for a formula: an apostrophe before it makes it a text. Numbers stay as they are.
#[must_use]
pub fn cell(text: &str) -> Cow<'_, str> {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let visible = replaced(text, |c| c == '\n');
    // A sign alone is no formula, and neither is a number with a sign.
    if !formula || text == "-" || text.parse::<f64>().is_ok() {
        return visible;
    }
    Cow::Owned(format!("'{visible}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each kind that is not seen.
    const NASTY: &str = "\0\u{7}\u{1b}]0;x\u{7f}\u{85}\u{9b}\u{ad}\
        \u{61c}\u{200b}\u{200e}\u{2028}\u{202e}\u{2066}\u{feff}\u{e0041}";

    #[test]
    fn what_is_not_seen_is_shown() {
        assert_eq!(line("a\u{1b}[31m\n\u{7f}\u{202e}b"), "a␛[31m␊␡�b");
        for text in [line(NASTY), lines(NASTY), cell(NASTY)] {
            assert!(!text.contains(is_invisible), "{text:?}");
        }
        for text in
            [markdown(NASTY), markdown_paragraph(NASTY), markdown_prose(NASTY), xml(NASTY), coloured(NASTY)]
        {
            assert!(!text.contains(is_invisible), "{text:?}");
        }
        assert_eq!(first_invisible("ab\nc\u{200b}"), Some((4, '\u{200b}')));
    }

    #[test]
    fn plain_text_is_left_alone() {
        for text in ["", "cg_ft", "threads_per_core=2, cpus=[0, 1]", "±0.05 → „ü“ µs 日本", "x\nz"]
        {
            assert!(matches!(lines(text), Cow::Borrowed(same) if same == text));
        }
        assert_eq!(lines("a\r\nb\r"), "a\nb␍");
        assert!(matches!(cell("a=1, b=2"), Cow::Borrowed(_)));
        assert_eq!(markdown("p < 0.001, a & b, [0, 1] (x)"), "p < 0.001, a & b, [0, 1] (x)");
        assert_eq!(markdown_paragraph("`make` -j 4 # x"), "`make` -j 4 # x");
    }

    #[test]
    fn only_colours_pass_as_codes() {
        assert_eq!(coloured("\u{1b}[1;31mx\u{1b}[0m\n"), "\u{1b}[1;31mx\u{1b}[0m\n");
        assert_eq!(coloured("\u{1b}[2J\u{1b}]0;t\u{7}\u{1b}[31"), "␛[2J␛]0;t␇␛[31");
    }

    #[test]
    fn text_cannot_break_out_of_markdown() {
        assert_eq!(markdown("a|b\nc\\"), "a\\|b c\\\\");
        assert_eq!(
            markdown("<script>x</script><!-- <https://a>"),
            "&lt;script>x&lt;/script>&lt;!-- &lt;https://a>"
        );
        assert_eq!(markdown("![a](b) [c][d]"), "![a]\\(b) [c]\\[d]");
        assert_eq!(markdown_paragraph("# a"), "\\# a");
        assert_eq!(markdown_paragraph("```\nx"), "\\``` x");
        assert_eq!(markdown_prose("a < b, `a < b`, [c] * d"), "a &lt; b, `a < b`, \\[c] \\* d");
    }

    #[test]
    fn text_cannot_break_out_of_xml() {
        assert_eq!(xml("a<b>\"&\u{1}\n"), "a&lt;b&gt;&quot;&amp;␁\n");
    }

    #[test]
    fn formulas_are_text_and_numbers_stay() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("+x", "'+x"),
            ("-x", "'-x"),
            ("@x", "'@x"),
            ("\tx", "'␉x"),
            ("\rx", "'␍x"),
            ("-1.5", "-1.5"),
            ("-", "-"),
            ("a=1", "a=1"),
        ] {
            assert_eq!(cell(text), written);
        }
    }
}
