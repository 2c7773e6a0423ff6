//! Files that the program writes for itself: finished runs, sweeps, measurements.

use std::fs;
use std::path::Path;

use hmac_sha256::Hash;
use serde_json::{Value, json};
use sweep::plan::Plan;
use sweep::row::Row;
use sweep::store::StoreError;
use sweep::{merge, read, status};
use validation::lab::{RunSample, Store};

use crate::{archive, promise};

/// The first byte of an input whose checksums are set right before it is read.
const SEALED: &str = "S";

/// Largest sweep whose runs are counted.
const MOST_RUNS: u64 = 100_000;

fn sha256(bytes: &[u8]) -> String {
    Hash::hash(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An input without its first byte, and whether checksums are to be set.
fn sealed(bytes: &[u8]) -> Option<(&str, bool)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (first, rest) = text.split_at_checked(1)?;
    Some((rest, first == SEALED))
}

/// The file of finished runs of a reproduction.
pub(crate) fn finished_runs(bytes: &[u8]) {
    let Some((text, seal)) = sealed(bytes) else { return };
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path(), true).unwrap());
    let path = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let line = |line: &str| match line.strip_prefix('{') {
        Some(body) if seal => format!("{{\"sha256\":\"{}\",{body}\n", sha256(body.as_bytes())),
        _ => format!("{line}\n"),
    };
    let header = fs::read_to_string(&path).unwrap();
    fs::write(&path, header + &text.lines().map(line).collect::<String>()).unwrap();
    let store = Store::open(folder.path(), false).unwrap();
    assert!(store.found.len() + store.damaged <= text.lines().count());
    store.keep("the name of a run", &RunSample { makespan: 2.5, ..RunSample::default() });
    let mut expected = store.found.clone();
    expected.insert("the name of a run".into(), RunSample { makespan: 2.5, ..RunSample::default() });
    drop(store);
    assert_eq!(Store::open(folder.path(), false).unwrap().found, expected, "what was kept is not found");
}

/// A file of a sweep's directory with its checksum set right.
fn seal(path: &str, body: &str, plan: &str) -> String {
    if path == "plan.json" {
        let Ok(read) = serde_json::from_str::<Plan>(body) else { return body.to_owned() };
        return serde_json::to_string(&Plan { plan: plan.to_owned(), ..read }).unwrap();
    }
    if path.ends_with(".open") {
        let line = |line: &str| format!("{} {line}\n", &sha256(line.as_bytes())[..16]);
        return body.lines().map(line).collect();
    }
    if path.ends_with(".part") {
        let head = json!({
            "kind": "part", "schema": sweep::plan::SCHEMA, "plan": plan, "runs": body.lines().count(),
            "sha256": sha256(body.as_bytes()),
        });
        return format!("{head}\n{body}");
    }
    body.to_owned()
}

/// The checksum of the plan in these files.
fn plan_of(files: &[(&str, &str)]) -> String {
    let text = files.iter().find(|(path, _)| *path == "plan.json").map_or("", |(_, text)| text);
    let Ok(plan) = serde_json::from_str::<Plan>(text) else { return String::new() };
    sha256(serde_json::to_string(&Plan { plan: String::new(), ..plan }).unwrap().as_bytes())
}

/// The directory of a sweep.
pub(crate) fn sweep(bytes: &[u8]) {
    let Some((text, sealed)) = sealed(bytes) else { return };
    let folder = tempfile::tempdir().unwrap();
    let files = archive::files(text);
    let plan = plan_of(&files);
    let body = |path: &str, body: &str| if sealed { seal(path, body, &plan) } else { body.to_owned() };
    archive::write(
        folder.path(),
        files.into_iter().map(|(path, text)| (path, body(path, text).into_bytes())),
    );
    if let Err(error) = directory(folder.path()) {
        refusal(&error);
    }
}

fn refusal(error: &StoreError) {
    let (StoreError::Refused(why) | StoreError::Failed(why)) = error;
    promise::refusal(why);
}

fn directory(folder: &Path) -> Result<(), StoreError> {
    let (store, plan) = sweep::store::Store::open(folder)?;
    if plan.most_runs() > MOST_RUNS {
        return Ok(());
    }
    let status = status::Status::of(&store, &plan)?;
    promise::visible(&status.missing_runs());
    match read::results(&store, &plan, None) {
        Ok(results) => crate::output::results(&results),
        Err(error) => refusal(&error),
    }
    let lines = store.lines()?;
    merge::merge(&store, &plan)?;
    assert_eq!(store.lines()?, lines, "a merge changes no run");
    store.add(&lines)?;
    assert_eq!(store.lines()?, lines, "runs that were there are added");
    Ok(())
}

/// The line of a run.
pub(crate) fn row(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Row::read(text) {
        Ok(row) => {
            let line = row.line();
            assert_eq!(Row::read(&line).as_ref(), Ok(&row), "{line}");
            if row.kind == "run" {
                assert_eq!(Row::number(&line), Some(row.run), "{line}");
            }
        }
        Err(why) => assert!(!why.is_empty()),
    }
    let _: Option<Value> = serde_json::from_str(text).ok();
}

/// A measurement of a host, and the pages made of it.
#[cfg(target_os = "linux")]
pub(crate) fn measurement(bytes: &[u8]) {
    use host::result::Measurement;
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Measurement::read("m.json", text) {
        Ok(read) => {
            let json = read.json().unwrap();
            assert_eq!(Measurement::read("again.json", &json).as_ref(), Ok(&read));
            promise::visible(&host::text::report(&read));
            promise::visible(&host::page::page(&[("m.json".to_owned(), read)]));
        }
        Err(why) => {
            promise::refusal(&why);
            assert!(why.contains("m.json"), "the file is not named: {why}");
        }
    }
}
