//! The page on orders shows the tables of the parser.

use std::fs;
use std::path::Path;

use scx::formula::table;

/// A text with this between the marks of a name.
fn renewed(text: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = text.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    format!("{before}{begin}{table}{end}{after}")
}

#[test]
fn the_page_shows_the_tables_of_the_parser() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/orders.md");
    let text = fs::read_to_string(&page).unwrap();
    let new = renewed(&text, "variables", &table::variables());
    let new = renewed(&new, "functions", &table::functions());
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&page, new).unwrap();
    } else {
        assert!(text == new, "run `OVERSIM_UPDATE=1 cargo test -p oversim-scx --test formula page`");
    }
}
