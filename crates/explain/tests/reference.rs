//! The reference pages and the glossary follow the registries, and every example runs. OVERSIM_UPDATE=1
//! rewrites the pages.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use explain::{Block, Kind, Page, pages, reference};
use scenario::{Overrides, load};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference")
}

/// Written by the test of the showcases.
const MEASURED: &str = "showcases.md";

/// The files that are there, by path below the folder.
fn present(folder: &Path) -> BTreeSet<String> {
    let names = |path: PathBuf| fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap());
    let top = names(folder.to_owned()).filter(|entry| entry.path().is_file());
    let top = top.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let below = names(folder.join("policies"));
    top.chain(below.map(|e| format!("policies/{}", e.file_name().to_string_lossy()))).collect()
}

#[test]
fn the_reference_follows_the_registries() {
    let update = std::env::var_os("OVERSIM_UPDATE").is_some();
    let (folder, mut files) = (folder(), BTreeSet::from([MEASURED.to_owned()]));
    let mut stale = Vec::new();
    for (path, text) in reference::files() {
        if update {
            fs::create_dir_all(folder.join("policies")).unwrap();
            fs::write(folder.join(&path), &text).unwrap();
        }
        if fs::read_to_string(folder.join(&path)).unwrap_or_default() != text {
            stale.push(path.clone());
        }
        files.insert(path);
    }
    for path in present(&folder).difference(&files) {
        if update {
            fs::remove_file(folder.join(path)).unwrap();
        } else {
            stale.push(path.clone());
        }
    }
    assert!(
        stale.is_empty(),
        "docs/reference has drifted; OVERSIM_UPDATE=1 cargo test -p oversim-explain --test reference: \
            {stale:?}"
    );
}

/// Scenarios and commands of a page.
fn examples(page: &Page) -> (Vec<&str>, Vec<&str>) {
    let blocks = || page.sections.iter().flat_map(|section| &section.blocks);
    let yaml = blocks().filter_map(|b| if let Block::Yaml(text) = b { Some(text.as_str()) } else { None });
    let said = blocks().filter_map(|b| if let Block::Command(text) = b { Some(text.as_str()) } else { None });
    (yaml.collect(), said.collect())
}

#[test]
fn every_example_runs_to_its_end() {
    let alone = Overrides { set: vec!["baseline=none".into()], repeat: Some(1), ..Overrides::default() };
    let mut ran = 0;
    for page in Kind::ALL.into_iter().flat_map(pages) {
        for text in examples(&page).0 {
            let experiment =
                load("example", text, &alone).unwrap_or_else(|said| panic!("{}\n{said}", page.name));
            let results = experiment::run::run(&experiment, 0, &|_, _| ()).unwrap();
            assert!(results.all_completed(), "{}: {:?}", page.name, results.notes);
            load("example", text, &Overrides::default())
                .unwrap_or_else(|said| panic!("{}\n{said}", page.name));
            ran += 1;
        }
    }
    assert!(ran > 60, "{ran}");
}

#[test]
fn commands_name_scenarios_that_are_there() {
    for page in Kind::ALL.into_iter().flat_map(pages) {
        for command in examples(&page).1 {
            let Some(name) = command.strip_prefix("oversim run ") else {
                assert!(command.starts_with("oversim machine show "), "{command}");
                continue;
            };
            assert!(scenario::built_in::find(name).is_some(), "{}: {command}", page.name);
        }
    }
}
