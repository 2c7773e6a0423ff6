//! Pictures of results and runs: figures, timelines and the report page, drawn on one canvas.

pub mod canvas;
pub mod figures;
pub mod page;
pub mod timeline;
