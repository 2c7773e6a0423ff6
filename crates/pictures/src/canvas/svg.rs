//! Writes a picture as SVG.

use std::collections::BTreeSet;
use std::fmt::Write;

use notation::neutral::xml;

use super::palette::{Colour, Dash, Fill, GRID, INK, MUTED, PAPER, Tile};
use super::picture::{Group, Item, MIDDLE, Picture};
use super::{Anchor, Area, Letters, Point};

/// The name of the element for a disc.
const DISC: &str = "circle";

impl Picture {
    /// As SVG, which asks for any sans-serif font.
    #[must_use]
    pub fn svg(&self) -> String {
        write(self)
    }

    /// As SVG for a page with a theme: text, lines and paper in the colours of the page (CSS `color`,
    /// `--muted`, `--grid` and `--paper`), the others as they are.
    #[must_use]
    pub fn themed(&self) -> String {
        let quoted = |colour: Colour| format!("\"{}\"", colour.hex());
        self.svg()
            .replace(&quoted(INK), "\"currentColor\"")
            .replace(&quoted(MUTED), "\"var(--muted,#595959)\"")
            .replace(&quoted(GRID), "\"var(--grid,#D9D9D9)\"")
            .replace(&quoted(PAPER), "\"var(--paper,#FFFFFF)\"")
    }
}

/// The picture as SVG text.
fn write(picture: &Picture) -> String {
    let ((width, height), title) = (picture.size, xml(&picture.title));
    // On paper in millimetres, on a screen in whole pixels.
    let (own, inner) = match picture.points {
        None => ([width, height].map(|side| number(side.round())), [width, height].map(f64::round)),
        Some(points) => ([width, height].map(|side| millimetres(side * points)), [width, height]),
    };
    let ([across, down], [width, height]) = (own, inner.map(number));
    let mut out = String::new();
    put(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{across}\" height=\"{down}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\" \
             font-family=\"sans-serif\" fill=\"{}\">\n<title>{title}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>",
            INK.hex(),
            PAPER.hex()
        ),
    );
    tiles(&mut out, &picture.items);
    for item in &picture.items {
        self::item(&mut out, item);
    }
    out.push_str("</svg>\n");
    out
}

/// Adds a line.
fn put(out: &mut String, line: std::fmt::Arguments<'_>) {
    // A string refuses nothing.
    let _ = writeln!(out, "{line}");
}

/// Points as millimetres.
fn millimetres(points: f64) -> String {
    format!("{}mm", number(points / 72.0 * 25.4))
}

/// A number with at most two decimals.
fn number(value: f64) -> String {
    let text = format!("{:.2}", value + 0.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.to_owned() }
}

/// Defines the tiles of all hatched fills.
fn tiles(out: &mut String, items: &[Item]) {
    let tile = |item: &Item| match item {
        Item::Areas { fill: Fill::Tiled(tile), .. } => Some(*tile),
        _ => None,
    };
    let tiles: BTreeSet<Tile> = items.iter().filter_map(tile).collect();
    if tiles.is_empty() {
        return;
    }
    out.push_str("<defs>\n");
    for tile in tiles {
        let (angle, side, marks) = tile.hatch.shape();
        let side = number(side);
        let id = id(tile);
        let mut inside = format!("<rect width=\"{side}\" height=\"{side}\" fill=\"{}\"/>", tile.ground.hex());
        for (width, height) in marks {
            let (width, height, fill) = (number(*width), number(*height), tile.lines.hex());
            inside.push_str(&format!("<rect width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"));
        }
        put(
            out,
            format_args!(
                "<pattern id=\"{id}\" width=\"{side}\" height=\"{side}\" patternUnits=\"userSpaceOnUse\" \
                 patternTransform=\"rotate({angle})\">{inside}</pattern>"
            ),
        );
    }
    out.push_str("</defs>\n");
}

/// The name of a tile: the same tile has the same name in every picture of a page.
fn id(tile: Tile) -> String {
    let hex = |colour: Colour| colour.hex().trim_start_matches('#').to_owned();
    format!("{:?}-{}-{}", tile.hatch, hex(tile.lines), hex(tile.ground)).to_lowercase()
}

fn item(out: &mut String, item: &Item) {
    match item {
        Item::Areas { areas, fill } => self::areas(out, areas, *fill),
        Item::Line { points, colour, opacity, width, dash } => {
            let (points, colour, width) = (self::points(points), colour.hex(), number(*width));
            let (dash, opacity) = (dashes(*dash), faint(*opacity));
            put(
                out,
                format_args!(
                    "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" \
                     stroke-width=\"{width}\"{dash}{opacity}/>"
                ),
            );
        }
        Item::Polygon { points, colour, opacity } => {
            let (points, colour, opacity) = (self::points(points), colour.hex(), faint(*opacity));
            put(out, format_args!("<polygon points=\"{points}\" fill=\"{colour}\"{opacity}/>"));
        }
        Item::Disc { centre, radius, colour } => {
            let ([x, y, radius], colour) = ([centre.0, centre.1, *radius].map(number), colour.hex());
            put(out, format_args!("<{DISC} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{colour}\"/>"));
        }
        Item::Text { at, text, letters } => self::text(out, *at, text, *letters),
        Item::Begin(Group::Titled(title)) => put(out, format_args!("<g><title>{}</title>", xml(title))),
        Item::Begin(Group::Crisp) => out.push_str("<g shape-rendering=\"crispEdges\">\n"),
        Item::End => out.push_str("</g>\n"),
    }
}

fn areas(out: &mut String, areas: &[Area], fill: Fill) {
    let fill = match fill {
        Fill::Plain(colour) => colour.hex(),
        Fill::Tiled(tile) => format!("url(#{})", id(tile)),
    };
    if let [Area { x, y, width, height }] = areas {
        let [x, y, width, height] = [*x, *y, *width, *height].map(number);
        put(
            out,
            format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"),
        );
        return;
    }
    out.push_str("<path d=\"");
    for Area { x, y, width, height } in areas {
        let [x, y, width, height] = [*x, *y, *width, *height].map(number);
        let _ = write!(out, "M{x} {y}h{width}v{height}h-{width}z");
    }
    put(out, format_args!("\" fill=\"{fill}\"/>"));
}

fn points(points: &[Point]) -> String {
    let one = |(x, y): &Point| format!("{},{}", number(*x), number(*y));
    points.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn dashes(dash: Dash) -> String {
    dash.lengths().map_or_else(String::new, |(dash, gap)| {
        format!(" stroke-dasharray=\"{} {}\"", number(dash), number(gap))
    })
}

fn faint(opacity: f64) -> String {
    if opacity < 1.0 { format!(" opacity=\"{}\"", number(opacity)) } else { String::new() }
}

fn text(out: &mut String, (x, y): Point, text: &str, letters: Letters) {
    let anchor = match letters.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = if letters.bold { " font-weight=\"bold\"" } else { "" };
    let fill =
        if letters.colour == INK { String::new() } else { format!(" fill=\"{}\"", letters.colour.hex()) };
    let turn = if letters.upwards {
        format!(" transform=\"rotate(270 {} {})\"", number(x), number(y))
    } else {
        String::new()
    };
    let [x, y, size] = [x, y + MIDDLE * letters.size, letters.size].map(number);
    put(
        out,
        format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight}{fill}{turn}>{}</text>",
            xml(text)
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_without_a_negative_zero() {
        assert_eq!(
            [1.0, 0.25, -0.004, 12.34, -3.0, 100.0].map(number),
            ["1", "0.25", "0", "12.34", "-3", "100"]
        );
    }
}
