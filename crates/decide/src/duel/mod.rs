//! The smallest scenario in which one policy loses most to another one: random search over small scenarios,
//! hill climbing, and a reduction to what the loss needs.

mod answer;
mod case;
mod draw;
mod report;
mod search;
mod smaller;

pub use answer::{Duel, Request};
pub use report::{json, json_nothing, markdown, text};
pub use search::{Found, search};
