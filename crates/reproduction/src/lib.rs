//! Runs the published experiments and sets every published claim beside what the simulator says.

pub mod answer;
pub mod claims;
pub mod fields;
pub mod lab;
pub mod notes;
pub mod plot;
pub mod report;
pub mod reproduce;
pub mod score;
pub mod sensitivity;
pub mod studies;
pub mod verdict;
