//! Marks of what threads wait for: the lengths of queues below rows of cpus, wake-ups in rows of threads.

use crate::canvas::palette::Colour;
use crate::canvas::{Area, Canvas};
use crate::timeline::frame::Frame;
use crate::timeline::legend;
use crate::timeline::runs::{Timeline, Track};
use crate::timeline::seen::Seen;

/// Marks nearer than this many pixels are one.
pub(super) const NEAR: f64 = 5.0;
/// The colour of queues: lighter than what runs above them.
const QUEUE: Colour = Colour(150, 150, 150);
/// Up to so many wake-ups are drawn as arrows.
const WAKES: usize = 120;

/// The length of the queue of a cpu: the higher, the more threads wait in it.
pub(super) fn queues(
    canvas: &mut Canvas,
    timeline: &Timeline,
    track: &Track,
    frame: &Frame,
    row: usize,
    y: f64,
) {
    let Some(sums) = track.recording.queues.get(row) else { return };
    let (from, to) = frame.window;
    let cpus = timeline.rows[row].cpus.len().max(1) as f64;
    let full = timeline.longest_queue();
    let length = (to - from) as f64 / sums.len().max(1) as f64;
    let edge = |column: usize| frame.x(from + (length * column as f64) as u64);
    // In quarters of a pixel, at least three of them.
    let step = |sum: u64| -> u32 {
        let height = (frame.queue - 2.0) * sum as f64 / length / cpus / full;
        if sum == 0 { 0 } else { ((height * 4.0).round() as u32).max(3) }
    };
    let mut column = 0;
    while column < sums.len() {
        // Columns of one height are one area.
        let quarters = step(sums[column]);
        let same = sums[column..].iter().take_while(|sum| step(**sum) == quarters).count();
        if quarters > 0 {
            let height = f64::from(quarters) / 4.0;
            let area = Area {
                x: edge(column),
                y: y + frame.queue - 1.0 - height,
                width: edge(column + same) - edge(column),
                height,
            };
            canvas.fill(area, QUEUE);
        }
        column += same;
    }
}

/// Wake-ups: an arrow from the thread that wakes to the one that is woken, and a mark where no thread does;
/// many are marks only.
pub(super) fn wakes(canvas: &mut Canvas, seen: &mut Seen, track: &Track, frame: &Frame, tops: &[f64]) {
    let wakes = &track.recording.wakes;
    let arrows = wakes.iter().filter(|wake| wake.from.is_some()).count() <= WAKES;
    let middle = |row: usize| tops.get(row).map(|top| top + frame.row / 2.0);
    let mut last = vec![f64::MIN; tops.len()];
    for wake in wakes {
        let Some(to) = middle(wake.to) else { continue };
        let x = frame.x(wake.at);
        let text = format!("{}: {}", instant(wake.at), wake.text);
        let from = wake.from.filter(|from| arrows && *from != wake.to).and_then(middle);
        if let Some(from) = from {
            seen.wakes = true;
            let edge = if from < to { to - frame.row / 2.0 } else { to + frame.row / 2.0 - 1.0 };
            canvas.titled(&text, |canvas| legend::wake(canvas, x, from, edge));
        } else if x - last[wake.to] >= NEAR {
            last[wake.to] = x;
            seen.timers |= !wake.by;
            seen.woken |= wake.by;
            let top = to - frame.row / 2.0;
            canvas.titled(&text, |canvas| legend::woken(canvas, x, top, frame.row - 1.0, wake.by));
        }
    }
}

/// An instant in seconds, to the microsecond.
pub(super) fn instant(at: u64) -> String {
    format!("{}.{:06} s", at / 1_000_000_000, at % 1_000_000_000 / 1_000)
}
