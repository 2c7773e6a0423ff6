//! The tables in `docs/calibration.md`, each between two markers.

/// The document in the repository.
pub const PATH: &str = "docs/calibration.md";
/// Name of the residual table's markers.
pub const RESIDUALS: &str = "residuals";
/// Name of the sensitivity table's markers.
pub const SENSITIVITY: &str = "sensitivity";

/// What stands between the markers of this name.
#[must_use]
pub fn section<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("<!-- {name} -->\n"))?;
    Some(rest.split_once(&format!("<!-- /{name} -->"))?.0)
}

/// The page with this text between the markers of this name; `None` without markers.
#[must_use]
pub fn with_section(page: &str, name: &str, text: &str) -> Option<String> {
    let old = section(page, name)?;
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    Some(page.replacen(&format!("{open}{old}{close}"), &format!("{open}{text}{close}"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_replaced_between_their_markers() {
        let page = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n";
        assert_eq!(section(page, "x"), Some("old\n"));
        assert_eq!(with_section(page, "x", "new\n").unwrap(), "a\n<!-- x -->\nnew\n<!-- /x -->\nb\n");
        assert!(with_section(page, "y", "new").is_none());
    }
}
