//! Slides: one HTML file that loads nothing from elsewhere. It has notes for the teacher, and prints as a
//! handout, with the notes if they are shown.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use notation::neutral;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::html::head;

/// One slide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slide {
    /// Its heading.
    pub title: String,
    /// What it shows.
    pub body: Body,
    /// What the teacher reads, below the slide where notes are shown; Markdown, may be empty.
    pub notes: String,
}

/// What a slide shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// Markdown. Links are shown as their texts, because a slide has no other pages beside it.
    Text(String),
    /// A picture as SVG in the colours of the page ([`Picture::themed`](crate::canvas::Picture::themed)), and
    /// what it shows.
    Picture {
        /// The SVG.
        svg: String,
        /// What it shows.
        caption: String,
    },
}

/// Most words of a slide: more are not read from the last row. A line of a block of code counts as eight
/// words.
const MOST_WORDS: usize = 90;
const LINE: usize = 8;

/// Texts for slides of one heading: the paragraphs and blocks of a Markdown text in order, as many on each
/// slide as can be read from the last row. A single paragraph is not divided.
///
/// ```
/// let words = "word ".repeat(60);
/// let texts = pictures::deck::divided(&format!("{words}\n\n{words}\n\nLast."));
/// assert_eq!(texts.len(), 2);
/// assert!(texts[1].ends_with("Last."));
/// ```
#[must_use]
pub fn divided(text: &str) -> Vec<String> {
    let mut slides: Vec<(String, usize)> = Vec::new();
    for part in parts(text) {
        let lines = part.lines().count();
        let words = if part.contains("```") { lines * LINE } else { part.split_whitespace().count() };
        match slides.last_mut() {
            Some((slide, count)) if *count + words <= MOST_WORDS => {
                slide.push_str("\n\n");
                slide.push_str(&part);
                *count += words;
            }
            _ => slides.push((part, words)),
        }
    }
    slides.into_iter().map(|(slide, _)| slide).collect()
}

/// The paragraphs and blocks of code of a Markdown text.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for (at, part) in text.split("```").enumerate() {
        if at % 2 == 1 {
            // What announces a block stands on its slide.
            let block = format!("```{part}```");
            match parts.last_mut().filter(|before| before.ends_with(':')) {
                Some(before) => *before = format!("{before}\n\n{block}"),
                None => parts.push(block),
            }
        } else {
            let each = part.split("\n\n").map(|part| part.trim().to_owned());
            parts.extend(each.filter(|part| !part.is_empty()));
        }
    }
    parts
}

/// The slides as one HTML page with this title. `origin` stands at the foot of each, for example the program
/// and its version. The same slides give the same bytes.
#[must_use]
pub fn deck(title: &str, origin: &str, slides: &[Slide]) -> String {
    let text = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, origin, CSS))
            body {
                @for (at, slide) in slides.iter().enumerate() {
                    (one(title, origin, slide, [at + 1, slides.len()]))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string();
    neutral::lines(&text).into_owned()
}

fn one(title: &str, origin: &str, slide: &Slide, [number, of]: [usize; 2]) -> Markup {
    html! {
        section id={ "s" (number) } tabindex="-1" aria-label={ "Slide " (number) " of " (of) } {
            div class="slide" {
                h1 { (slide.title) }
                @match &slide.body {
                    Body::Text(text) => div class="text" { (markdown(text)) },
                    Body::Picture { svg, caption } => {
                        figure { (PreEscaped(svg)) figcaption { (caption) } }
                    }
                }
                footer {
                    span { (title) }
                    @if number == 1 {
                        span { "arrows: slides | n: notes | d: dark or light | print: handout" }
                    }
                    span { (origin) " | " (number) " / " (of) }
                }
            }
            @if !slide.notes.is_empty() { aside class="notes" { (markdown(&slide.notes)) } }
        }
    }
}

/// Markdown as HTML. A block of code says how wide and high it is, for its letters.
fn markdown(text: &str) -> Markup {
    let mut out = String::new();
    let mut code: Option<String> = None;
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Start(Tag::CodeBlock(_)) => {
            code = Some(String::new());
            None
        }
        Event::Text(part) if code.is_some() => {
            code.get_or_insert_default().push_str(&part);
            None
        }
        Event::End(TagEnd::CodeBlock) => Some(Event::Html(listing(&code.take().unwrap_or_default()).into())),
        Event::Start(Tag::Link { .. }) | Event::End(TagEnd::Link) => None,
        // Tags in a text are shown, not obeyed.
        Event::Html(raw) | Event::InlineHtml(raw) => Some(Event::Text(raw)),
        event => Some(event),
    });
    pulldown_cmark::html::push_html(&mut out, events);
    PreEscaped(out)
}

fn listing(code: &str) -> String {
    let code = code.trim_end();
    let columns = code.lines().map(|line| line.chars().count()).max().unwrap_or(1).max(1);
    let style = format!("--columns: {columns}; --lines: {}", code.lines().count().max(1));
    html! { pre style=(style) { (code) } }.into_string()
}

/// A slide is as large as the window. Its text has a 24th of the height, or less in a narrow window; a block
/// of code gets letters with which it fits.
const CSS: &str = "
:root { --ink: #1a1a1a; --paper: #ffffff; --muted: #565656; --grid: #d9d9d9; --panel: #f2f4f7; }
:root.dark { --ink: #ececec; --paper: #16181c; --muted: #b4b8bf; --grid: #41454d; --panel: #20242a; }
* { box-sizing: border-box; }
html { scroll-snap-type: y mandatory; color: var(--ink); background: var(--paper); }
body { margin: 0; font: min(4.2vh, 2.4vw)/1.4 system-ui, sans-serif; }
section { scroll-snap-align: start; outline: none; }
.slide { height: 100vh; padding: 4vh 5vw 2vh; display: flex; flex-direction: column; overflow: hidden; }
h1 { font-size: 1.5em; line-height: 1.2; margin: 0 0 .5em; }
.text { flex: 1; min-height: 0; }
p, ul, ol { margin: 0 0 .7em; }
li { margin: 0 0 .35em; }
code { font-family: ui-monospace, monospace; font-size: .92em; }
pre { margin: 0 0 .7em; padding: .4em .6em; background: var(--panel); border-radius: .2em;
  white-space: pre; overflow: hidden;
  font: min(1em, calc(86vw / var(--columns) / .61), calc(74vh / var(--lines) / 1.3))/1.3 ui-monospace,
  monospace; }
table { border-collapse: collapse; margin: 0 0 .7em; }
th, td { text-align: left; padding: .15em .8em .15em 0; border-bottom: 1px solid var(--grid); }
figure { flex: 1; min-height: 0; margin: 0; display: flex; flex-direction: column; justify-content: center; }
figure svg { flex: 0 1 auto; min-height: 0; width: 100%; height: auto; max-height: 100%; background: #ffffff;
  border-radius: .2em; }
figcaption { color: var(--muted); font-size: .62em; line-height: 1.25; padding-top: .4em; }
footer { display: flex; justify-content: space-between; gap: 2em; color: var(--muted); font-size: .5em;
  padding-top: .8em; }
.notes { display: none; font-size: .7em; padding: 1em 5vw; background: var(--panel);
  border-top: 2px solid var(--grid); }
:root.notes .notes { display: block; }
@media print {
  :root, :root.dark { --ink: #000000; --paper: #ffffff; --muted: #444444; --grid: #bbbbbb; --panel: #ffffff; }
  @page { margin: 15mm; }
  body { font-size: 10.5pt; }
  section { break-inside: avoid; margin-bottom: 6mm; }
  .slide { height: auto; padding: 0; overflow: visible; }
  h1 { font-size: 1.2em; break-after: avoid; }
  pre { font-size: min(9pt, calc(180mm / var(--columns) / .61)); border: 1px solid #bbbbbb; }
  figure svg { max-height: 100mm; }
  footer { display: none; }
  :root.notes .notes { font-size: 1em; padding: 0; border: 0; background: none; }
}
";

/// Keys: slides forward and back, notes, dark and light. The first theme is that of the reader.
const SCRIPT: &str = "
'use strict';
const root = document.documentElement;
root.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
const slides = [...document.querySelectorAll('section')];
const here = () => {
  const near = slides.map((slide) => Math.abs(slide.getBoundingClientRect().top));
  return near.indexOf(Math.min(...near));
};
const go = (at) => {
  const slide = slides[Math.max(0, Math.min(slides.length - 1, at))];
  slide.scrollIntoView();
  slide.focus({ preventScroll: true });
};
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const keys = {
    ArrowRight: () => go(here() + 1), ArrowDown: () => go(here() + 1), PageDown: () => go(here() + 1),
    ' ': () => go(here() + (event.shiftKey ? -1 : 1)),
    ArrowLeft: () => go(here() - 1), ArrowUp: () => go(here() - 1), PageUp: () => go(here() - 1),
    Home: () => go(0), End: () => go(slides.length - 1),
    n: () => { const at = here(); root.classList.toggle('notes'); go(at); },
    d: () => root.classList.toggle('dark'),
  };
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slide_shows_what_its_text_says_and_obeys_no_tag() {
        let text = "The `a*b` of [a page](x.md) & <script>alert(1)</script>.\n\n\
            ```text\na < b\n12345678\n```";
        let slides = [
            Slide { title: "One <b>".into(), body: Body::Text(text.into()), notes: "*Vote* first.".into() },
            Slide {
                title: "Two".into(),
                body: Body::Picture { svg: "<svg></svg>".into(), caption: "Who ran.".into() },
                notes: String::new(),
            },
        ];
        let page = deck("Lesson", "oversim 1", &slides);
        for part in [
            "<code>a*b</code> of a page &amp; &lt;script&gt;alert(1)&lt;/script&gt;",
            "--columns: 8; --lines: 2\">a &lt; b\n12345678</pre>",
            "<em>Vote</em> first.",
            "<h1>One &lt;b&gt;</h1>",
            "<figcaption>Who ran.</figcaption>",
            "oversim 1 | 2 / 2",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("x.md") && page.matches("class=\"notes\"").count() == 1, "{page}");
    }

    #[test]
    fn blocks_of_code_stay_whole_and_no_part_is_lost() {
        let code = format!("```text\n{}```", "line\n".repeat(12));
        let text = format!("{}\n\n{code}\n\nEnd.", "word ".repeat(30).trim());
        let texts = divided(&text);
        assert_eq!(texts.len(), 3, "{texts:?}");
        assert_eq!(texts.join("\n\n"), text);
        // What announces a block stands on its slide.
        let texts = divided(&format!("{}\n\nAs here:\n\n{code}", "word ".repeat(80).trim()));
        assert!(texts.len() == 2 && texts[1].starts_with("As here:\n\n```"), "{texts:?}");
    }
}
