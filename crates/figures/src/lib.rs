//! Figures of results: which apply, their drawing and their data.
