//! Claims: what publications say came out, as data, in one vocabulary.

mod asked;
mod baseline;
mod claim;
mod environment;
mod form;
mod machines;
mod metric;
mod policy;
mod read;
mod spec_omp;
mod statement;
mod text;
mod threads;
mod waiting;
mod workload;

pub use asked::{Asked, CPU_SHARE, Comparison, Load};
pub use baseline::{Baseline, Order, Schedule};
pub use claim::{Claim, Conditions, Texts};
pub use environment::{Beside, Environment, Sharing};
pub use form::{Allowed, Form, Tolerance, ToleranceKind, Value};
pub use machines::{Classes, Machines, Model, Models, Together};
pub use metric::{Family, Metric};
pub use policy::{Named, Policies, Policy};
pub use read::{read, read_with};
pub use spec_omp::{PROGRAMS, Program};
pub use statement::{Says, Statement};
pub use threads::Threads;
pub use waiting::{BlockTime, Wait, Way, Yield};
pub use workload::{Code, Feature, Workload, label};

/// The predictions this program ships with.
pub const SHIPPED: &str = include_str!("../../data/claims.yaml");
/// Their name in messages.
pub const SHIPPED_NAME: &str = "crates/validation/data/claims.yaml";
/// The predictions of the modern chapter: those of groups that begin with [`MODERN_PREFIX`].
pub const MODERN: &str = include_str!("../../data/modern.yaml");
/// Their name in messages.
pub const MODERN_NAME: &str = "crates/validation/data/modern.yaml";
/// How the groups of the modern chapter begin.
pub const MODERN_PREFIX: &str = "modern-";

/// All predictions this program ships with.
///
/// # Errors
/// A file built in is wrong.
pub fn shipped() -> Result<Vec<Claim>, String> {
    let mut claims = read(SHIPPED_NAME, SHIPPED)?;
    claims.extend(read(MODERN_NAME, MODERN)?);
    Ok(claims)
}
