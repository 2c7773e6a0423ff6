//! The built-in scenarios are the files of the repository, and the scenario to start from is small and
//! commented.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use scenario::built_in::{BUILT_IN, STARTER};
use scenario::{Overrides, load};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_registry_is_the_folders() {
    let mut files = BTreeSet::new();
    for folder in ["scenarios", "scenarios/lessons", "scenarios/ostep", "scenarios/policies"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                files.insert(format!("{folder}/{}", path.file_name().unwrap().to_string_lossy()));
            }
        }
    }
    let known: BTreeSet<String> = BUILT_IN.iter().map(|scenario| scenario.path.to_owned()).collect();
    assert_eq!(known, files, "crates/scenario/src/built_in.rs lists every scenario");
    let names: BTreeSet<&str> = BUILT_IN.iter().map(|scenario| scenario.name).collect();
    assert_eq!(names.len(), BUILT_IN.len(), "a name belongs to one scenario");
}

#[test]
fn every_built_in_scenario_needs_no_other_file() {
    for scenario in BUILT_IN {
        let experiment = load(&scenario.title(), scenario.text, &Overrides::default())
            .unwrap_or_else(|said| panic!("{}\n{said}", scenario.name));
        assert_eq!((experiment.name.as_str(), experiment.about), (scenario.name, scenario.about()));
        assert!(scenario.comment().contains("Watch for:"), "{}", scenario.name);
    }
}

#[test]
fn a_copy_of_every_scenario_is_the_same_experiment() {
    for scenario in BUILT_IN {
        let of =
            |text: &str| load("x.yaml", text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
        let (original, copy) = (of(scenario.text), of(&scenario.copy("mine", None)));
        assert_eq!((copy.name.as_str(), copy.size()), ("mine", original.size()));
    }
}

#[test]
fn the_starter_runs_at_once_and_explains_every_key() {
    let experiment =
        load("my_scenario.yaml", STARTER.text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    assert_eq!((experiment.name.as_str(), experiment.apps.len()), ("my_scenario", 2));
    let began = Instant::now();
    let results = experiment::run::run(&experiment, 1, &|_, _| ()).unwrap();
    assert!(results.all_completed() && began.elapsed().as_secs_f64() < 5.0, "{:?}", began.elapsed());
    let lines: Vec<&str> = STARTER.text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let is_key = line.contains(": ") || line.ends_with(':');
        if is_key && !line.trim_start().starts_with('#') {
            assert!(at > 0 && lines[at - 1].trim_start().starts_with("# "), "no comment above `{line}`");
        }
    }
}
