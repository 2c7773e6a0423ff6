//! Long texts in Markdown files: the sections of a file by their headings.

/// The text below a heading, up to the next heading of any level: each paragraph on one line, an empty line
/// between two. Empty when the file has no such heading.
#[must_use]
pub fn section(file: &str, heading: &str) -> String {
    let title = |line: &str| line.starts_with('#').then(|| line.trim_start_matches('#').trim() == heading);
    let after = file.lines().skip_while(|line| title(line) != Some(true)).skip(1);
    let mut text = String::new();
    for line in after.take_while(|line| title(line).is_none()) {
        let between = match line {
            _ if text.is_empty() || text.ends_with('\n') => "",
            "" => "\n\n",
            _ => " ",
        };
        text.push_str(between);
        text.push_str(line);
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn sections_are_paragraphs_below_a_heading() {
        let file =
            "# NAME\n\n## First one\n\nSome words\nand more.\n\nA second\nparagraph.\n\n## Next\n\nEnd.\n";
        assert_eq!(section(file, "First one"), "Some words and more.\n\nA second paragraph.");
        assert_eq!(section(file, "Next"), "End.");
        assert_eq!((section(file, "NAME"), section(file, "First")), (String::new(), String::new()));
    }
}
