//! Derives workload profiles from published measurements, and compares the model with published results.

pub mod answer;
pub mod calibration;
pub mod chosen;
pub mod claims;
pub mod held_out;
pub mod lab;
pub mod notes;
pub mod plot;
pub mod report;
pub mod reproduce;
pub mod score;
pub mod sensitivity;
pub mod verdict;
