//! Files that earlier versions wrote, as a user hands them to the program.

use std::fs;
use std::path::Path;

use experiment::provenance::MODEL;
use serde_json::Value;
use tempfile::TempDir;

use crate::{earlier, oversim, version};

/// The scenario whose results and schedule each version of the model has recorded.
const NUMBERS: &str = "earlier/numbers.yaml";

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn here(name: &str) -> String {
    text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promises").join(name)).to_owned()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Copies a directory with its files and one level below.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            fs::copy(&entry, &target).unwrap();
        }
    }
}

#[test]
fn scenarios_of_all_models_load() {
    let files = earlier("scenarios");
    let model: u32 = MODEL.rsplit('/').next().unwrap().parse().unwrap();
    for number in 1..=model {
        let prefix = format!("model-{number:02}-");
        assert!(files.iter().any(|path| version(path).starts_with(&prefix)), "no scenario of {prefix}");
    }
    let args: Vec<&str> = ["check"].into_iter().chain(files.iter().map(|path| text(path))).collect();
    let (code, out, err) = oversim(folder().path(), &args);
    assert_eq!(code, 0, "{err}");
    // A long path is followed by a new line.
    let words: Vec<&str> = out.split_whitespace().collect();
    assert_eq!(words.join(" ").matches(".yaml: ok, ").count(), files.len(), "{out}");
}

#[test]
fn machine_files_load() {
    for file in earlier("machines") {
        let (code, out, err) = oversim(folder().path(), &["machine", "show", text(&file)]);
        assert!(code == 0 && out.contains("earlier-"), "{}: {err}", file.display());
    }
}

#[test]
fn policy_files_run() {
    for file in earlier("policies") {
        let folder = folder();
        let policy = folder.path().join("earlier.wasm");
        fs::copy(&file, &policy).unwrap();
        let run = ["run", "two_hogs_one_core", "--policy", "./earlier.wasm", "--repeat", "1"];
        let (code, out, err) = oversim(folder.path(), &run);
        assert!(code == 0 && out.contains("earlier"), "{}: {err}", file.display());
        // The number of the interface in its description: `"abi":1`.
        let bytes = fs::read(&policy).unwrap();
        let wanted = format!("\"abi\":{}", version(&file));
        let at = bytes.windows(wanted.len()).position(|window| window == wanted.as_bytes()).unwrap();
        let mut other = bytes;
        other[at + wanted.len() - 1] = b'9';
        fs::write(&policy, other).unwrap();
        let (code, _, err) = oversim(folder.path(), &run);
        assert!(code == 2 && err.contains("made for version 9 of the interface"), "{err}");
        assert!(err.contains("`oversim scx build`"), "{err}");
    }
}

#[test]
fn results_are_read_or_refused() {
    let schema = json(&oversim(folder().path(), &["schema", "result"]).1);
    let schema = jsonschema::validator_for(&schema).unwrap();
    let mut read = 0;
    for file in earlier("results") {
        let folder = folder();
        let path = text(&file);
        let compare = oversim(folder.path(), &["compare", path, path, "--format", "json"]);
        let plot = oversim(folder.path(), &["plot", path, "-o", "figures"]);
        if version(&file).starts_with("3-") {
            assert_eq!((compare.0, plot.0), (0, 0), "{path}: {} {}", compare.2, plot.2);
            assert!(!json(&compare.1)["contrasts"].as_array().unwrap().is_empty());
            assert!(
                schema.is_valid(&json(&fs::read_to_string(&file).unwrap())),
                "{path} is not in the schema"
            );
            read += 1;
            continue;
        }
        let number = version(&file).split('-').next().unwrap();
        for (code, out, err) in [compare, plot] {
            assert!(code == 2 && out.is_empty(), "{path}: {out}");
            for part in
                [path, &format!("`oversim.result/{number}`"), "`oversim.result/3`", "run its scenario"]
            {
                assert!(err.replace("\n", " ").contains(part), "{path}: no {part} in {err}");
            }
        }
        assert!(!folder.path().join("figures").exists());
    }
    assert!(read >= 3, "{read} results of earlier versions");
    let [a, b] = ["3-model-9", "3-model-10"].map(|name| here(&format!("earlier/results/{name}.json")));
    let (code, out, _) = oversim(folder().path(), &["compare", &a, &b]);
    assert!(code == 0 && out.contains("different versions of the model"), "{out}");
}

#[test]
fn numbers_move_only_with_the_model() {
    let file = here(&format!("earlier/results/3-{}.json", MODEL.replace("oversim-model/", "model-")));
    let Ok(recorded) = fs::read_to_string(&file) else {
        panic!("the model is new: `oversim run {NUMBERS} --format json` of its first version is {file}");
    };
    let recorded = json(&recorded);
    let (code, out, err) = oversim(folder().path(), &["run", &here(NUMBERS), "--format", "json"]);
    assert_eq!(code, 0, "{err}");
    let now = json(&out);
    assert_eq!(now["provenance"]["digest"], recorded["provenance"]["digest"], "a simulated run differs");
    let cells = now["cells"].as_array().unwrap();
    let same = |a: &Value, b: &Value| {
        ["configuration", "policy", "app", "metric", "unit", "values", "mean"]
            .iter()
            .all(|key| a[key] == b[key])
    };
    let recorded = recorded["cells"].as_array().unwrap();
    assert!(recorded.len() > 50);
    for cell in recorded {
        assert!(cells.iter().any(|other| same(cell, other)), "{cell} is not what this version measures");
    }
}

#[test]
fn sweeps_are_read_and_not_continued() {
    for directory in earlier("sweeps") {
        let folder = folder();
        let at = folder.path();
        copy(&directory, &at.join("s"));
        let (code, out, err) = oversim(at, &["sweep", "status", "s"]);
        assert!(code == 0 && out.contains("8 runs"), "{}: {out}{err}", directory.display());
        for args in
            [&["sweep", "merge", "s"][..], &["compare", "s", "--format", "json", "--threshold", "1000"]]
        {
            let (code, _, err) = oversim(at, args);
            assert_eq!(code, 0, "{}: {args:?}: {err}", directory.display());
        }
        let rows = fs::read_to_string(at.join("s/runs.ndjson")).unwrap();
        assert_eq!(rows.lines().filter(|line| line.contains("\"kind\":\"run\"")).count(), 8);
        // The scenario that the plan holds.
        let plan = json(&fs::read_to_string(at.join("s/plan.json")).unwrap());
        fs::write(at.join("sw.yaml"), plan["scenario"].as_str().unwrap()).unwrap();
        let (code, _, err) = oversim(at, &["sweep", "sw.yaml", "-o", "s"]);
        let of_now = plan["provenance"]["model"] == MODEL
            && plan["provenance"]["version"] == env!("CARGO_PKG_VERSION");
        if of_now {
            assert_eq!(code, 0, "{err}");
        } else {
            assert!(code == 2 && err.contains("the version of the "), "{}: {err}", directory.display());
        }
    }
}

#[test]
fn schedules_belong_to_a_model() {
    for file in earlier("schedules") {
        let folder = folder();
        let args = ["run", &here(NUMBERS), "--replay-schedule", text(&file)];
        let (code, out, err) = oversim(folder.path(), &args);
        let of = version(&file);
        if format!("oversim-{}", of.trim_start_matches("2-").replace("model-", "model/")) == MODEL {
            assert!(code == 0 && !out.is_empty(), "{of}: {err}");
        } else if of.starts_with("2-") {
            assert!(code == 2 && out.is_empty() && err.contains("record it again"), "{of}: {err}");
            assert!(err.contains(MODEL) && err.contains("oversim-model/"), "{err}");
        } else {
            assert!(code == 2 && out.is_empty() && err.contains("is not a schedule"), "{of}: {err}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn measurements_are_predicted_again() {
    let machine = crate::root().join("docs/validation-host/epyc-2vcpu.yaml");
    for file in earlier("measurements") {
        let args = ["measure", "--again", text(&file), "--machine", text(&machine), "--format", "json"];
        let (code, out, err) = oversim(folder().path(), &args);
        // The first archives have no scenarios, or do not say of which kind each is.
        let without = match version(&file) {
            "1-model-5" => Some("has no scenarios to predict"),
            "1-model-6" => Some("has no scenario in the archive"),
            _ => None,
        };
        if let Some(why) = without {
            assert!(code == 2 && err.contains(why), "{err}");
            continue;
        }
        assert!(code == 0 || code == 1, "{}: {err}", file.display());
        let again = json(&out);
        assert!(again["version"].as_str().unwrap().ends_with(MODEL), "{again}");
        assert_eq!(again["cells"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn claims_are_read() {
    for file in earlier("claims") {
        let args = ["reproduce", "--claims", text(&file), "--format", "csv", "--quick"];
        let (code, out, err) = oversim(folder().path(), &args);
        assert_eq!(code, 0, "{}: {err}", file.display());
        assert!(out.contains("token-eight-on-four"), "{out}");
    }
}

#[test]
fn a_former_name_is_read_with_a_remark() {
    let folder = folder();
    let args =
        ["compare", "two_hogs_one_core", "--repeat", "2", "--policy", "LOAD,PIN", "--threshold", "100"];
    let former: Vec<&str> = args.into_iter().chain(["--metric", "account_idle,makespan"]).collect();
    let present: Vec<&str> = args.into_iter().chain(["--metric", "breakdown_idle,makespan"]).collect();
    let (code, out, err) = oversim(folder.path(), &former);
    assert_eq!(code, 0, "{err}");
    let remark = "note: `account_idle` is called `breakdown_idle` since version 1.0.0; use that name\n";
    assert_eq!(err.matches(remark).count(), 1, "{err}");
    let (_, wanted, err) = oversim(folder.path(), &present);
    assert!(out == wanted && !err.contains("is called"), "{err}");
}
