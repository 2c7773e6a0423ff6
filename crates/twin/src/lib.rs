//! Recordings of the scheduler of Linux, and scenarios that do again what ran in them.
//!
//! [`read`] reads the spellings of a recording into [`event::Event`]s. [`follow`] finds out who ran when,
//! mends what the recorder missed, and tells of each [`follow::Stint`]. [`course`] makes a list of steps of
//! what each thread did, [`team`], [`ranks`] and [`jobs`] look for structure in them, and [`make`] writes a
//! scenario.

pub mod check;
pub mod costs;
pub mod course;
pub mod event;
pub mod facts;
pub mod fold;
pub mod follow;
pub mod jobs;
pub mod make;
pub mod ranks;
pub mod read;
pub mod report;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod stream;
pub mod team;
pub mod threads;
pub mod write;
