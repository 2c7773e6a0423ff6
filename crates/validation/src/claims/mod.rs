//! Claims: what publications say came out, as data, in one vocabulary.

mod asked;
mod cells;
mod claim;
mod form;
mod formula;
mod read;

use notation::declare::{Choice, Field};

pub use asked::Asked;
pub use cells::Load;
pub use claim::{Claim, Texts};
pub use form::{Allowed, Form, Tolerance, ToleranceKind, Value};
pub use read::{read, read_with};

/// The choice of this name.
fn named<T: Choice + Field>(name: &str) -> Option<T> {
    T::WORDS.iter().position(|word| *word == name).map(|at| T::from_numbers(&[at as u64]))
}

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
