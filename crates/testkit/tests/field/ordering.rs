//! Policies that order the run queues, with jobs that arrive at one instant.
