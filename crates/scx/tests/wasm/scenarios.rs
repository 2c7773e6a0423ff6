//! Policy files as scenarios name them: labels, settings, overrides, and what identifies a result.

use std::fs;
use std::path::Path;

use scenario::{Overrides, load_with};
use scx::policy_file::Global;
use sim_core::outcome::RunReport;

use crate::module::{GLOBAL, Text, registry, runs_with, scenario};

/// A scheduler whose slice is the variable `slice_ns`; `nr_queued` counts.
fn sliced() -> Text<'static> {
    let global = |name: &str, address: u64, constant: bool, value: i128| Global {
        name: name.into(),
        address,
        size: 8,
        signed: false,
        boolean: false,
        constant,
        count: None,
        value,
    };
    Text {
        fields: "(import \"scx\" \"scx_bpf_dsq_insert\" (func $insert (param i64 i64 i64 i64) (result i32)))
            (data (i64.const 4000) \"\\00\\2d\\31\\01\\00\\00\\00\\00\")",
        ops: &[(
            "enqueue",
            "(param i64 i64)
            (i64.store (i64.const 4008) (i64.add (i64.load (i64.const 4008)) (i64.const 1)))
            (drop (call $insert (local.get 0) (i64.const 0x8000000000000001) (i64.load (i64.const 4000))
                (local.get 1)))",
        )],
        globals: vec![
            global("slice_ns", 4_000, true, 20_000_000),
            global("limits.deep", 4_016, false, 0),
            global("nr_queued", 4_008, false, 0),
        ],
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tiny.bpf.wasm"), sliced().file()).unwrap();
    fs::create_dir(folder.path().join("other")).unwrap();
    fs::write(folder.path().join("other/tiny.wasm"), GLOBAL.file()).unwrap();
    folder
}

fn run(folder: &Path, policies: &str, overrides: &Overrides) -> Result<Vec<RunReport>, String> {
    runs_with(&registry(), folder, &scenario(4, policies), overrides)
}

#[test]
fn the_label_of_a_file_is_its_stem_and_another_one_can_be_given() {
    let folder = folder();
    let name = folder.path().join("try.yaml").display().to_string();
    let labels = |policies: &str, overrides: &Overrides| {
        load_with(&registry(), &name, &scenario(4, policies), overrides).map(|experiment| experiment.policies)
    };
    let all =
        "[LOAD, tiny.bpf.wasm, { policy: other/tiny.wasm, label: mine }, { ./tiny.bpf.wasm: , as: again }]";
    assert_eq!(labels(all, &Overrides::default()).unwrap(), ["LOAD", "tiny", "mine", "again"]);
    let chosen = |policies: &[&str]| Overrides {
        policies: policies.iter().map(|policy| (*policy).to_owned()).collect(),
        ..Overrides::default()
    };
    assert_eq!(labels(all, &chosen(&["mine", "PIN", "./tiny.bpf.wasm"])).unwrap(), ["mine", "PIN", "tiny"]);
    let wrong = labels("[tiny.bpf.wasm, other/tiny.wasm]", &Overrides::default()).unwrap_err();
    assert!(wrong.contains("two policies are called `tiny`"), "{wrong}");
}

#[test]
fn settings_are_the_variables_of_the_scheduler() {
    let folder = folder();
    let slice = |policies: &str, set: &[&str]| {
        let set = set.iter().map(|set| (*set).to_owned()).collect();
        let runs = run(folder.path(), policies, &Overrides { set, ..Overrides::default() });
        runs.map(|runs| runs[0].digest)
    };
    let long = slice("[tiny.bpf.wasm]", &[]).unwrap();
    let short = slice("[{ policy: tiny.bpf.wasm, slice_ns: 3000000 }]", &[]).unwrap();
    assert_ne!(long, short);
    assert_eq!(slice("[{ tiny.bpf.wasm: { slice_ns: 3000000 } }]", &[]).unwrap(), short);
    assert_eq!(slice("[tiny.bpf.wasm]", &["policies.tiny.slice_ns=3000000"]).unwrap(), short);
    assert_eq!(slice("[tiny.bpf.wasm]", &["policies.tiny.limits.deep=3"]).unwrap(), long);
    let wrong = slice("[tiny.bpf.wasm]", &["policies.tiny.slice=3"]).unwrap_err();
    assert!(
        wrong.contains("unknown parameter of policy `tiny`: `slice`") && wrong.contains("slice_ns"),
        "{wrong}"
    );
}

#[test]
fn what_a_scheduler_counts_reaches_the_results() {
    let folder = folder();
    let runs = run(folder.path(), "[tiny.bpf.wasm]", &Overrides::default()).unwrap();
    let counted = runs[0].policy_counters.iter().find(|(name, _)| name == "nr_queued");
    assert!(counted.is_some_and(|(_, count)| *count > 8), "{:?}", runs[0].policy_counters);
    assert!(runs[0].policy_counters.iter().all(|(name, _)| name != "slice_ns"));
}

#[test]
fn exit_is_called_at_every_end_and_what_it_counts_reaches_the_results() {
    // It takes over the kind of the end, calls the kernel, and takes over the number of queued tasks.
    let exit = "(param i64) (i64.store (i64.const 4008) (i64.extend_i32_u (i32.load (local.get 0))))
        (drop (call $random)) (i64.store (i64.const 4016) (i64.const 7))
        (i32.store (i64.const 4024) (i32.const -3))";
    let global = |name: &str, address: u64, size: u32| Global {
        name: name.into(),
        address,
        size,
        signed: true,
        boolean: false,
        constant: false,
        count: None,
        value: 0,
    };
    let counted = |fields: &str, enqueue: &str, horizon: &str| {
        let fields = format!(
            "(import \"scx\" \"bpf_get_prandom_u32\" (func $random (result i32)))
            (import \"scx\" \"scx_bpf_dsq_insert\" (func $insert (param i64 i64 i64 i64) (result i32)))
            {fields}"
        );
        let globals = vec![global("kind", 4_008, 8), global("after", 4_016, 8), global("below", 4_024, 4)];
        let text = Text { fields: &fields, ops: &[("enqueue", enqueue), ("exit", exit)], globals };
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tiny.wasm"), text.file()).unwrap();
        let scenario = scenario(4, "[./tiny.wasm]") + horizon;
        let runs = runs_with(&registry(), folder.path(), &scenario, &Overrides::default()).unwrap();
        let of = |name: &str| {
            runs[0].policy_counters.iter().find(|(other, _)| other == name).map(|(_, count)| *count)
        };
        (of("kind"), of("after"), of("below"))
    };
    let insert = "(param i64 i64) (drop (call $insert (local.get 0) (i64.const 0x8000000000000001)
        (i64.const 20000000) (local.get 1)))";
    // A variable below zero is no counter.
    assert_eq!(counted("", insert, ""), (Some(64), Some(7), None));
    assert_eq!(counted("", insert, "horizon: 5ms\n"), (Some(64), Some(7), None));
    assert_eq!(counted("", "(param i64 i64) unreachable", ""), (Some(1024), Some(7), None));
    let error = "(import \"scx\" \"scx_error\" (func $error (param i64 i32)))";
    let own = "(param i64 i64) (call $error (i64.const 0) (i32.const 0))";
    assert_eq!(counted(error, own, ""), (Some(1025), Some(7), None));
}

#[test]
fn a_file_belongs_to_the_text_that_identifies_a_scenario() {
    let folder = folder();
    let name = folder.path().join("try.yaml").display().to_string();
    let text = || {
        let loaded = load_with(&registry(), &name, &scenario(4, "[./tiny.bpf.wasm]"), &Overrides::default());
        loaded.unwrap().scenario_text
    };
    let before = text();
    assert!(before.contains("# policy file ./tiny.bpf.wasm, SHA-256 "), "{before}");
    assert_eq!(text(), before);
    fs::write(folder.path().join("tiny.bpf.wasm"), GLOBAL.file()).unwrap();
    assert_ne!(text(), before);
}

#[test]
fn the_same_contents_are_loaded_once() {
    let folder = folder();
    let read = || scx::wasm::read(&folder.path().join("tiny.bpf.wasm")).unwrap();
    assert!(std::ptr::eq(read().entry, read().entry));
}

#[test]
fn a_file_can_be_under_a_user_level_policy() {
    let folder = folder();
    let policies = "[{ SPEED: {}, over: tiny.bpf.wasm, as: both }, tiny.bpf.wasm]";
    assert_eq!(run(folder.path(), policies, &Overrides::default()).unwrap().len(), 2);
}
