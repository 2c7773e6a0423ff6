//! What all pages have: a head that lets them load nothing from elsewhere.

use maud::{Markup, PreEscaped, html};

/// The head of a page with this title and style sheet, made by `origin`.
pub(crate) fn head(title: &str, origin: &str, css: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta http-equiv="Content-Security-Policy"
                content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
            meta name="color-scheme" content="light dark";
            meta name="generator" content=(origin);
            title { (title) }
            style { (PreEscaped(css)) }
        }
    }
}
