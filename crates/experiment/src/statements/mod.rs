//! Statements: every sentence and figure title about a result, derived from its cells in one place. Reports
//! and figures only print them, and a property test holds each against the table it is about.

pub mod answer;
pub mod causes;
pub mod cautions;
pub mod doubts;
pub mod each;
pub mod effects;
pub mod inputs;
pub mod ranking;
pub mod statement;
pub mod table;
mod text;
pub mod title;
pub mod titles;
mod waits;

pub use answer::Extremes;
pub use statement::{Said, Statement};
pub use table::Table;
