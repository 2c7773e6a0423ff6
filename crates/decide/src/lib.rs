//! From scenarios to decisions: which setting to type, what makes a difference, which programs go together.

pub mod advise;
pub mod board;
pub mod duel;
mod flow;
pub mod goal;
pub mod join;
mod longest_wait;
pub mod matrix;
pub mod shapes;
pub mod side_by_side;
pub mod suite;
pub mod trial;
pub mod tune;
pub mod typed;
pub mod ways;
pub mod why;
