//! A lesson as pictures for a projector: the question, the timeline, the answer and the exercises.

use pictures::canvas::palette::{INK, MUTED};
use pictures::canvas::{Letters, Picture, font, picture};

use super::text::{Lesson, paragraphs};

/// Size of a slide in pixels, 16:9.
const SIZE: (f64, f64) = (1920.0, 1080.0);
/// Room at the edges.
const MARGIN: f64 = 90.0;
/// Sizes of titles and texts in pixels: the text has a thirtieth of the height, which is readable from the
/// back of a room.
const TITLE: f64 = 60.0;
const TEXT: f64 = 38.0;
/// Distance of lines in font sizes.
const LEADING: f64 = 1.45;

/// Stems of the files, in order.
pub(super) const STEMS: [&str; 4] = ["1-question", "2-picture", "3-answer", "4-exercises"];

/// The slides with the stems of their files.
pub(super) fn slides(lesson: &Lesson, timeline: &Picture) -> [(&'static str, Picture); 4] {
    let bare = |text: &String| text.replace('`', "");
    let predictions = lesson.predictions.iter().map(bare).enumerate();
    let mut question = vec![bare(&lesson.question)];
    question.extend(predictions.map(|(at, text)| format!("{}.  {text}", at + 1)));
    question.push(format!("$ oversim {}", lesson.command));
    let answer: Vec<String> = paragraphs(lesson.answer).iter().map(bare).collect();
    let exercises = lesson.exercises.iter().flat_map(|(question, _)| paragraphs(question));
    let exercises: Vec<String> =
        exercises.enumerate().map(|(at, text)| format!("{}.  {}", at + 1, bare(&text))).collect();
    let [a, b, c, d] = STEMS;
    [
        (a, written(lesson, lesson.title, &question)),
        (b, shown(lesson, timeline)),
        (c, written(lesson, "Answer", &answer)),
        (d, written(lesson, "Exercises", &exercises)),
    ]
}

/// A slide with paragraphs, in smaller letters if there is much text.
fn written(lesson: &Lesson, title: &str, texts: &[String]) -> Picture {
    let width = SIZE.0 - 2.0 * MARGIN;
    let broken = |size: f64| -> Vec<Vec<String>> {
        texts.iter().map(|text| font::wrapped(text, size, width)).collect()
    };
    let height = |size: f64| {
        let lines: usize = broken(size).iter().map(Vec::len).sum();
        (lines as f64 + 0.6 * texts.len() as f64) * size * LEADING
    };
    let room = SIZE.1 - 2.0 * MARGIN - 2.2 * TITLE;
    let mut size = TEXT;
    while size > TEXT / 2.0 && height(size) > room {
        size -= 1.0;
    }
    picture(SIZE, &format!("{}. {title}", lesson.number), |canvas| {
        let at = MARGIN + TITLE / 2.0;
        canvas.text((MARGIN, at), &format!("{}. {title}", lesson.number), Letters::new(TITLE).bold());
        let mut y = at + 2.0 * TITLE;
        for lines in broken(size) {
            for line in lines {
                canvas.text((MARGIN, y), &line, Letters::new(size).in_colour(INK));
                y += size * LEADING;
            }
            y += 0.6 * size * LEADING;
        }
    })
}

/// A slide with a picture, as large as fits, and what it shows.
fn shown(lesson: &Lesson, timeline: &Picture) -> Picture {
    let caption = font::wrapped(&lesson.caption, TEXT * 0.8, SIZE.0 - 2.0 * MARGIN);
    let below = caption.len() as f64 * TEXT * 0.8 * LEADING + MARGIN / 2.0;
    let mut slide = timeline.fitted(
        SIZE,
        (MARGIN / 3.0, MARGIN / 3.0),
        (SIZE.0 - MARGIN / 1.5, SIZE.1 - MARGIN / 3.0 - below),
    );
    let written = picture(SIZE, &lesson.caption, |canvas| {
        for (at, line) in caption.iter().enumerate() {
            let y = SIZE.1 - below + (at as f64 + 0.8) * TEXT * 0.8 * LEADING;
            canvas.text((MARGIN, y), line, Letters::new(TEXT * 0.8).in_colour(MUTED));
        }
    });
    slide.add(written);
    slide
}
