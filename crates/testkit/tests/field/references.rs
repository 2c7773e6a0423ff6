//! References beside sleepers, hardware threads and bound tasks.
