//! Two policies side by side on the same scenarios: where the difference of their times lies, and the task
//! that lost most.

mod answer;
mod measure;
mod report;
mod runs;
mod seen;
mod sentences;
#[cfg(test)]
mod tests;
mod worst;

pub use answer::{Answer, Compared, LeftOut, Part, Row, Wakeups, Where, Worst};
pub use measure::compare;
pub use report::FORMATS;
