//! Who ran where: the slices of every cpu as a stream, and timelines drawn from them.

pub mod slices;
