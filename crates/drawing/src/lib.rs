//! What pictures are drawn with; knows nothing of simulation.

pub mod font;
pub mod png;
