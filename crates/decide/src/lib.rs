//! From scenarios to decisions: which setting to type, what makes a difference, which programs go together.

pub mod advise;
pub mod duel;
mod flow;
pub mod goal;
pub mod join;
pub mod matrix;
pub mod shapes;
pub mod side_by_side;
pub mod trial;
pub mod typed;
pub mod ways;
pub mod why;
