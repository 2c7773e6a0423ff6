//! The results of built-in scenarios are those that were recorded for all builds.
//!
//! `OVERSIM_UPDATE=1 cargo test -p oversim-experiment --test selftest` records them anew, after a change that
//! is meant to move results.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use experiment::selftest::{Checked, check, scenarios};

#[test]
fn the_self_test_passes() {
    let checked: Vec<Checked> = scenarios().map(|scenario| check(scenario, 0)).collect();
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        let lines = checked.iter().fold(String::new(), |mut lines, one| {
            writeln!(lines, "{} {}", one.scenario, one.found.as_ref().unwrap()).unwrap();
            lines
        });
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/selftest.txt");
        return fs::write(file, lines).unwrap();
    }
    let wrong: Vec<&Checked> = checked.iter().filter(|one| !one.passed()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked.len() >= 50, "{} scenarios", checked.len());
}

#[test]
fn another_digest_or_none_does_not_pass() {
    let (Some(first), Some(second)) = (scenarios().next(), scenarios().nth(1)) else {
        panic!("no scenarios")
    };
    let right = check(first, 1);
    assert!(right.passed());
    assert_eq!(check(first, 2), right, "the number of threads does not matter");
    let other = Checked { recorded: check(second, 1).recorded, ..right.clone() };
    let none = Checked { recorded: "", ..right.clone() };
    let refused = Checked { found: Err("out of memory".to_owned()), ..right };
    assert!([other, none, refused].iter().all(|one| !one.passed()));
}
