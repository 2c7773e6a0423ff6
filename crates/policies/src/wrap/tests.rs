//! The wrappers on the tests-only system.
