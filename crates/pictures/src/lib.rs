//! Pictures of results and runs: figures, timelines and the report page, drawn on one canvas, and slides.

pub mod canvas;
#[cfg(feature = "formats")]
pub mod deck;
pub mod figures;
mod html;
pub mod page;
pub mod timeline;
