//! Dead links of a folder of HTML pages: `cargo run -p testkit --example links -- target/site` prints each one, and the
//! exit status is 1 if there is any.

#![expect(clippy::print_stdout, reason = "a program prints")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// The values of an attribute in the tags of a page.
fn values<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let start = format!(" {name}=\"");
    page.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Whether a link leads out of the folder, to another server or to data in the page itself.
fn is_elsewhere(link: &str) -> bool {
    ["http:", "https:", "mailto:", "data:", "javascript:"].iter().any(|scheme| link.starts_with(scheme))
}

/// The files below a folder.
fn files(folder: &Path, found: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => files(&path, found)?,
            false => _ = found.insert(path),
        }
    }
    Ok(())
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = result.pop(),
            Component::CurDir => {}
            other => result.push(other),
        }
    }
    result
}

/// The text behind percent signs: `%20` is a space.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) if code.is_ascii() => {
                result.push(char::from(code));
                result.push_str(&part[2..]);
            }
            _ => {
                result.push('%');
                result.push_str(part);
            }
        }
    }
    result
}

fn main() -> io::Result<ExitCode> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        println!("usage: links FOLDER");
        return Ok(ExitCode::from(2));
    };
    let mut all = BTreeSet::new();
    files(&folder, &mut all)?;
    let is_page = |path: &Path| path.extension().is_some_and(|extension| extension == "html");
    let mut pages: BTreeMap<&Path, String> = BTreeMap::new();
    for path in all.iter().filter(|path| is_page(path)) {
        pages.insert(path, fs::read_to_string(path)?);
    }
    let (mut checked, mut dead) = (0, 0);
    for (path, page) in &pages {
        // `404.html` is served for any address and has links from the root.
        if path.ends_with("404.html") {
            continue;
        }
        for link in values(page, "href").into_iter().chain(values(page, "src")) {
            if is_elsewhere(link) {
                continue;
            }
            checked += 1;
            let link = decoded(&link.replace("&amp;", "&"));
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let file = file.split('?').next().unwrap_or_default();
            let beside = path.parent().unwrap_or(&folder);
            let mut target = if file.is_empty() { path.to_path_buf() } else { plain(&beside.join(file)) };
            if target.is_dir() {
                target.push("index.html");
            }
            // Behind `=` the anchor is the state of an interactive page.
            let has_anchor = |page: &String| {
                anchor.is_empty() || anchor.contains('=') || values(page, "id").contains(&anchor)
            };
            let problem = match pages.get(target.as_path()) {
                None if !all.contains(&target) => "there is no such file",
                Some(page) if !has_anchor(page) => "the page has no such anchor",
                _ => continue,
            };
            println!("{}: {link}: {problem}", path.display());
            dead += 1;
        }
    }
    println!("{checked} links of {} pages, {dead} dead", pages.len());
    Ok(ExitCode::from(u8::from(dead > 0 || checked == 0)))
}
