//! Timelines: which task ran on which cpu and when, as a picture or as text.

pub mod choice;
pub mod data;
pub mod draw;
mod frame;
mod legend;
mod lives;
mod marks;
pub mod message;
mod names;
mod overview;
mod palette;
mod panel;
pub mod record;
mod request;
mod rows;
mod runs;
mod seen;
mod signs;
pub mod states;
pub mod steps;
pub mod steps_text;
pub mod terminal;
mod thread_message;
mod thread_rows;
pub mod window;

pub use request::{cpus, instant};
pub use runs::{Medium, Request, Rows, Subject, Timeline, Track, record, record_rows};
pub use window::Aim;
