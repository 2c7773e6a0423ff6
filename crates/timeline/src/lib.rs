//! Who ran where: the slices of every cpu as a stream, and timelines drawn from them.

pub mod axis;
pub mod draw;
mod legend;
pub mod message;
pub mod overview;
pub mod palette;
mod panel;
pub mod record;
pub mod rows;
mod seen;
pub mod slices;
pub mod states;
pub mod svg;
pub mod terminal;
pub mod trace;
pub mod window;
mod words;

mod request;
mod timeline;

pub use request::{cpus, instant};
pub use timeline::{Medium, Request, Subject, Timeline, Track, record};
pub use window::Aim;
