//! Which runs the timeline of a page shows.

use pictures::timeline::choice::{Asked, choose};
use pictures::timeline::{Medium, Request as Window, data, record};
use scenario::plan::Experiment;
use serde_json::Value;

/// Most runs of one timeline.
const MOST: usize = 4;

/// Up to four runs with the first seed: those of the policies at the first configuration (the first two of
/// more than four), or of the values of the first swept path if there is one policy.
///
/// # Errors
/// A sentence why there is no timeline.
pub fn timeline(experiment: &Experiment) -> Result<Value, String> {
    let policies = experiment.policies.len();
    let swept = experiment.axes.iter().find(|axis| axis.values.len() > 1).map(|axis| axis.path.as_str());
    let asked = Asked { named: policies <= MOST, vary: swept.filter(|_| policies == 1) };
    let choice = choose(experiment, asked)?;
    let window = Window { aim: choice.aim, ..Window::default() };
    Ok(data::data(&record(&choice.subjects(), &window, Medium::Page)?))
}
