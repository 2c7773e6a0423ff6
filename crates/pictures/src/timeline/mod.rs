//! Timelines: which task ran on which cpu and when, as a picture or as text.

pub mod choice;
pub mod data;
pub mod draw;
mod legend;
pub mod message;
mod overview;
mod palette;
mod panel;
pub mod record;
mod request;
mod rows;
mod runs;
mod seen;
pub mod states;
pub mod terminal;
pub mod window;

pub use request::{cpus, instant};
pub use runs::{Medium, Request, Subject, Timeline, Track, record};
pub use window::Aim;
