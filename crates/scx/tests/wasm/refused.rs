//! Files that are no policy files, or that this program cannot run.

use std::fs;

use scenario::Overrides;
use scx::policy_file::{Global, SECTION};

use crate::module::{GLOBAL, Text, registry, run, runs_with, scenario};

#[test]
fn a_file_that_is_missing_is_named_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let text = scenario(4, "[LOAD, ./nowhere.wasm]");
    let wrong = runs_with(&registry(), folder.path(), &text, &Overrides::default()).unwrap_err();
    assert!(
        wrong.contains("cannot use the policy file") && wrong.contains("nowhere.wasm: No such file"),
        "{wrong}"
    );
    assert!(wrong.contains("try.yaml:5:18") && !wrong.contains("unknown policy"), "{wrong}");
}

#[test]
fn what_is_no_policy_file_is_refused_and_says_what_makes_one() {
    let whole = GLOBAL.file();
    let half = &whole[..whole.len() / 2];
    let plain = wat::parse_str("(module)").unwrap();
    let cases: [(&[u8], &str); 4] = [
        (b"#include <scx/common.bpf.h>\n", "it is no WebAssembly"),
        (b"", "it is no WebAssembly"),
        (&plain, "it is WebAssembly, but no policy file: it has no custom section `oversim.scx`"),
        (half, "it is cut off or damaged at byte"),
    ];
    for (file, why) in cases {
        let wrong = run(file).unwrap_err();
        assert!(wrong.contains(why) && wrong.contains("`oversim scx build"), "{wrong}");
    }
}

#[test]
fn a_file_of_another_version_is_refused_with_both_numbers() {
    let old = GLOBAL.text().replace("\\22\\61\\62\\69\\22\\3a\\31", "\\22\\61\\62\\69\\22\\3a\\37");
    let wrong = run(&wat::parse_str(old).unwrap()).unwrap_err();
    assert!(wrong.contains("it is made for version 7 of the interface, and this is version 1"), "{wrong}");
    let broken = GLOBAL.text().replace("\\22\\61\\62\\69\\22", "\\22\\61\\62\\78\\22");
    let wrong = run(&wat::parse_str(broken).unwrap()).unwrap_err();
    assert!(wrong.contains(&format!("its custom section `{SECTION}` cannot be read")), "{wrong}");
}

#[test]
fn code_with_floating_point_numbers_is_refused() {
    let floats = Text { fields: "(func $f (result f64) (f64.const 1.5))", ops: &[], ..Text::default() };
    let wrong = run(&floats.file()).unwrap_err();
    assert!(wrong.contains("its code is refused") && wrong.contains("integers only"), "{wrong}");
}

#[test]
fn code_that_would_run_at_the_start_is_refused() {
    let start = Text { fields: "(func $f) (start $f)", ..Text::default() };
    let wrong = run(&start.file()).unwrap_err();
    assert!(wrong.contains("its code is refused"), "{wrong}");
}

#[test]
fn imports_that_nobody_gives_are_all_named() {
    let fields = "(import \"scx\" \"scx_bpf_of_tomorrow\" (func)) (import \"env\" \"open\" (func))
        (import \"scx\" \"scx_bpf_kick_cpu\" (func (param i32 i64)))";
    let wrong = run(&Text { fields, ..Text::default() }.file()).unwrap_err();
    assert!(
        wrong.contains("it imports what oversim does not give: open of the module env, scx_bpf_of_tomorrow"),
        "{wrong}"
    );
    let fields = "(import \"scx\" \"scx_bpf_kick_cpu\" (func (param i64 i64)))";
    let wrong = run(&Text { fields, ..Text::default() }.file()).unwrap_err();
    assert!(
        wrong.contains("it imports `scx_bpf_kick_cpu` as (i64, i64) -> (), and it is (i32, i64) -> ()"),
        "{wrong}"
    );
}

#[test]
fn a_module_without_a_function_of_the_runtime_is_refused() {
    let text = GLOBAL.text().replace("(export \"scx_task_gone\")", "");
    let wrong = run(&wat::parse_str(text).unwrap()).unwrap_err();
    assert!(wrong.contains("it exports no function `scx_task_gone`"), "{wrong}");
}

#[test]
fn an_unknown_setting_is_answered_with_those_that_there_are() {
    let global = |name: &str, signed: bool| Global {
        name: name.into(),
        address: 4_000,
        size: 4,
        signed,
        boolean: false,
        constant: true,
        count: None,
        value: 0,
    };
    let text = Text { globals: vec![global("slice_max", false), global("lowest_nice", true)], ..GLOBAL };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tiny.wasm"), text.file()).unwrap();
    let load =
        |policies: &str| runs_with(&registry(), folder.path(), &scenario(4, policies), &Overrides::default());
    let wrong = load("[{ policy: ./tiny.wasm, slice_mx: 7 }]").unwrap_err();
    assert!(wrong.contains("unknown parameter of policy `tiny`: `slice_mx`"), "{wrong}");
    assert!(wrong.contains("slice_max"), "{wrong}");
    let wrong = load("[{ ./tiny.wasm: { slice_max: 4294967296 } }]").unwrap_err();
    assert!(wrong.contains("`slice_max` must lie between 0 and 4294967295"), "{wrong}");
    let wrong = load("[{ ./tiny.wasm: { lowest_nice: -2147483649 } }]").unwrap_err();
    assert!(wrong.contains("`lowest_nice` must lie between -2147483648 and 2147483647"), "{wrong}");
    assert!(load("[{ policy: ./tiny.wasm, lowest_nice: -20, slice_max: 4294967295 }]").is_ok());
}
