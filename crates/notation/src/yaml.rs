//! The one place that reads YAML.

use serde::de::DeserializeOwned;

/// Parses one YAML document.
///
/// # Errors
/// A rendered message with line, column and source snippet.
pub fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, String> {
    serde_saphyr::from_str(text).map_err(|error| format!("{name}: {error}"))
}
