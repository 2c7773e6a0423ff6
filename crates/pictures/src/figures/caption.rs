//! A figure as LaTeX includes it: with its caption, and with the command that makes it again.

use experiment::result::Results;
use notation::neutral;

use super::figure::Figure;
use super::page::Page;
use super::words;

/// A figure in a file.
#[derive(Clone, Copy, Debug)]
pub struct Included<'a> {
    /// The figure.
    pub figure: &'a Figure,
    /// Its file, as LaTeX will find it.
    pub file: &'a str,
    /// Its width in millimetres.
    pub width: f64,
    /// The command that makes it again.
    pub command: &'a str,
}

/// The environment of the figure: as wide as it is drawn, over both columns if it is wider than one. The
/// caption is what the figure says, what it shows, and where the numbers come from.
#[must_use]
pub fn latex(included: &Included<'_>, results: &Results) -> String {
    let Included { figure, file, width, command } = *included;
    let environment = if width > Page::COLUMN * 1.2 { "figure*" } else { "figure" };
    let include = if file.ends_with(".svg") { "includesvg" } else { "includegraphics" };
    let command = neutral::line(command);
    let caption = [&figure.title, &figure.about, &words::source(results)].map(|text| sentence(text));
    format!(
        "% {command}\n\
         \\begin{{{environment}}}\n\
         \x20 \\centering\n\
         \x20 \\{include}[width={width}mm]{{{file}}}\n\
         \x20 \\caption{{{}}}\n\
         \x20 \\label{{fig:{}}}\n\
         \\end{{{environment}}}\n",
        caption.join(" "),
        figure.name
    )
}

/// A text as a sentence of LaTeX.
fn sentence(text: &str) -> String {
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    neutral::line(text).chars().map(escaped).collect::<String>() + stop
}

/// A character as LaTeX prints it.
fn escaped(letter: char) -> String {
    match letter {
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{letter}"),
        '\\' => "\\textbackslash{}".into(),
        '~' => "\\textasciitilde{}".into(),
        '^' => "\\textasciicircum{}".into(),
        '<' => "\\textless{}".into(),
        '>' => "\\textgreater{}".into(),
        '\u{a0}' => "~".into(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_latex_would_read_is_printed() {
        assert_eq!(
            sentence("95\u{a0}% of a_b {x} \\ <1>"),
            "95~\\% of a\\_b \\{x\\} \\textbackslash{} \\textless{}1\\textgreater{}."
        );
        assert_eq!(sentence("Is it?"), "Is it?");
    }
}
