//! A column of a table of runs.

/// A column of a setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    /// The path of the setting.
    pub(crate) path: String,
    /// Whether all its values are numbers.
    pub(crate) numbers: bool,
}
