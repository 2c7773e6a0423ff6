//! The cells of a study's grid.

use scenario::{Overrides, load};

use super::cell::Cell;
use super::setting::Setting;
use super::study::Study;

/// Nothing is set otherwise than the studies and cells say.
#[must_use]
pub fn as_stated(_: &Study, _: &Cell) -> Vec<String> {
    Vec::new()
}

/// The whole grid of a study: every configuration of its sweep under every policy of its file.
///
/// # Errors
/// The scenario is wrong: the rendered message.
pub fn grid(study: &'static Study) -> Result<Vec<Cell>, String> {
    let experiment = load(&study.name, &study.text, &Overrides::default())?;
    let mut cells = Vec::new();
    for configuration in &experiment.configurations {
        for policy in &experiment.policies {
            let mut cell = Cell::new(&study.name, policy);
            for (axis, at) in experiment.axes.iter().zip(&configuration.places) {
                cell = cell.set(&axis.path, Setting::read(&axis.values[*at])?);
            }
            cells.push(cell);
        }
    }
    Ok(cells)
}
