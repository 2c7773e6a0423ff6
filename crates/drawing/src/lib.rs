//! What pictures are drawn with; knows nothing of simulation.

pub mod axis;
pub mod canvas;
pub mod font;
pub mod palette;
pub mod png;
