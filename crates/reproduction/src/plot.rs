//! Published against simulated numbers as a picture: a dot per number, the diagonal, the tolerance as a bar.

use plotters::prelude::*;

use crate::report::short;

/// Width and height of a picture in pixels.
const SIZE: (u32, u32) = (460, 420);
/// Space around the numbers, as a share of their range.
const MARGIN: f64 = 0.08;
/// Within the tolerance, and outside.
const PASS: RGBColor = RGBColor(0, 114, 178);
const FAIL: RGBColor = RGBColor(213, 94, 0);
const GREY: RGBColor = RGBColor(150, 150, 150);

/// A number to draw.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Dot {
    /// The published number.
    pub published: f64,
    /// The simulated one.
    pub simulated: f64,
    /// How far off still counts as reproduced, in the same unit.
    pub tolerance: f64,
    /// Reproduced.
    pub pass: bool,
}

/// The picture as SVG text, without anything that differs between machines.
///
/// # Errors
/// What the drawing library says.
pub fn svg(title: &str, unit: &str, dots: &[Dot]) -> Result<String, String> {
    let mut text = String::new();
    draw(&mut text, title, unit, dots).map_err(|e| e.to_string())?;
    Ok(text)
}

fn draw(text: &mut String, title: &str, unit: &str, dots: &[Dot]) -> Result<(), Box<dyn std::error::Error>> {
    let (low, high) = range(dots);
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(38)
        .y_label_area_size(52)
        .build_cartesian_2d(low..high, low..high)?;
    let label = |value: &f64| short(*value);
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(6)
        .y_labels(6)
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .x_desc(format!("published, {unit}"))
        .y_desc(format!("simulated, {unit}"))
        .label_style(("sans-serif", 12))
        .draw()?;
    chart.draw_series(LineSeries::new([(low, low), (high, high)], GREY))?;
    let bars = dots.iter().map(|dot| {
        let ends = [dot.published - dot.tolerance, dot.published + dot.tolerance];
        PathElement::new(ends.map(|y| (dot.published, y.clamp(low, high))), GREY.mix(0.5).stroke_width(3))
    });
    chart.draw_series(bars)?;
    let colour = |dot: &Dot| if dot.pass { PASS } else { FAIL };
    chart.draw_series(
        dots.iter().map(|dot| Circle::new((dot.published, dot.simulated), 4, colour(dot).mix(0.8).filled())),
    )?;
    area.present()?;
    Ok(())
}

/// From the least to the largest number on either axis, with a margin.
fn range(dots: &[Dot]) -> (f64, f64) {
    let all = || dots.iter().flat_map(|dot| [dot.published, dot.simulated]);
    let low = all().fold(f64::INFINITY, f64::min);
    let high = all().fold(f64::NEG_INFINITY, f64::max);
    let margin = ((high - low) * MARGIN).max(high.abs().max(low.abs()) * 0.02).max(0.01);
    (low - margin, high + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_a_dot_in_its_colour() {
        let dot = |published, simulated, pass| Dot { published, simulated, tolerance: 0.1, pass };
        let picture = svg("x", "ratio", &[dot(1.0, 1.05, true), dot(1.4, 1.1, false)]).unwrap();
        assert_eq!(picture.matches("<circle").count(), 2);
        assert!(picture.contains("#0072B2") && picture.contains("#D55E00"), "{picture}");
        assert!(picture.contains("published, ratio"));
    }

    #[test]
    fn a_single_number_has_a_range() {
        let (low, high) = range(&[Dot { published: 0.0, simulated: 0.0, tolerance: 1.0, pass: true }]);
        assert!(low < 0.0 && high > 0.0);
    }
}
