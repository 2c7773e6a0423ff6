//! Measures the costs of this host.
