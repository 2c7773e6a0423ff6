//! Sentences without the words of the command line, which a page does not have.

/// Flags as sentences have them, and what a page says. A later entry sees what earlier ones left.
const SAID: &[(&str, &str)] = &[
    (": try --uncertainty", ""),
    ("; try --uncertainty", ""),
    (": --table full", ""),
    ("; --cpus shows some one by one", ""),
    ("`--set`: ", ""),
    ("--set ", ""),
    ("--sweep ", ""),
    ("`oversim init` writes one to start from", "choose one from the list"),
];

/// The sentences in the words of a page.
#[must_use]
pub fn without_flags(text: &str) -> String {
    let mut text = text.to_owned();
    for (flag, said) in SAID {
        text = text.replace(flag, said);
    }
    seeds(&rows(&text))
}

/// `--repeat 15 gives` becomes `15 seeds per case give`.
fn seeds(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("--repeat ") {
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, after) = after.split_at(digits);
        out.push_str(before);
        out.push_str(count);
        out.push_str(" seeds per case");
        rest = after.strip_prefix(" gives").map_or(after, |after| {
            out.push_str(" give");
            after
        });
    }
    out + rest
}

/// Leaves out `(--cpus 0-15 draws all)`.
fn rows(text: &str) -> String {
    let Some((before, after)) = text.split_once(" (--cpus ") else { return text.to_owned() };
    let Some((_, after)) = after.split_once(')') else { return text.to_owned() };
    format!("{before}{after}")
}

#[cfg(test)]
mod tests {
    use super::without_flags;

    #[test]
    fn flags_become_words_of_the_page() {
        for (said, expected) in [
            (
                "±20 % for LOAD; --repeat 15 gives about ±10 %.",
                "±20 % for LOAD; 15 seeds per case give about ±10 %.",
            ),
            ("may be chance: try --repeat 5.", "may be chance: try 5 seeds per case."),
            ("can move PIN by about 5.5 %: try --uncertainty.", "can move PIN by about 5.5 %."),
            ("rows: 0-3, sums: all 16 cpus (--cpus 0-15 draws all)", "rows: 0-3, sums: all 16 cpus"),
            ("compare --set a.b=1.", "compare a.b=1."),
            ("nothing to change", "nothing to change"),
        ] {
            assert_eq!(without_flags(said), expected);
        }
    }
}
