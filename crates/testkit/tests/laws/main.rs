//! Laws of the model that anyone can check with pencil and paper, asked of the real engine: shelves of machines,
//! kernels, policies and workloads included.

mod balancing;
mod barriers;
mod memory;
mod polling;
mod probe;
mod sharing;
mod support;
mod turns;
