//! A package needs a library or a program; what runs here is the test `fuzz`.
