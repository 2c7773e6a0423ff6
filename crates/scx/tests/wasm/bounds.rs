//! A scheduler that does not behave ends the run with a message, and never the program.

use sim_core::outcome::Outcome;

use crate::module::{GLOBAL, Text, failure, run};

/// Why the run of a scheduler with this `enqueue` behind the imports of [`GLOBAL`] ends.
fn ended(enqueue: &str) -> String {
    let text = Text { ops: &[("enqueue", enqueue)], ..GLOBAL };
    failure(&run(&text.file()).unwrap()).to_owned()
}

#[test]
fn a_scheduler_of_one_operation_runs_a_program_to_its_end() {
    let report = run(&GLOBAL.file()).unwrap();
    assert_eq!(report.outcome, Outcome::Completed);
    assert_eq!(run(&GLOBAL.file()).unwrap().digest, report.digest);
}

#[test]
fn a_loop_without_end_ends_the_run_with_the_name_of_the_operation() {
    let why = ended("(param i64 i64) (loop $again (br $again))");
    assert!(why.contains("operation enqueue of tiny.wasm: it does not end"), "{why}");
}

#[test]
fn memory_that_is_not_there_is_not_accessed() {
    for (at, access) in [("-8", "load"), ("0x7fffffffffff", "load"), ("99999999", "load")] {
        let why = ended(&format!("(param i64 i64) (drop (i64.{access} (i64.const {at})))"));
        assert!(
            why.ends_with("operation enqueue of tiny.wasm: it accesses memory that it does not have"),
            "{why}"
        );
    }
}

#[test]
fn memory_is_bounded() {
    let why = ended("(param i64 i64) (loop $again (drop (memory.grow (i64.const 64))) (br $again))");
    assert!(why.ends_with("it needs more than 256 MiB of memory"), "{why}");
}

#[test]
fn calls_are_bounded() {
    let text = Text {
        fields: "(func $deep (param i64) (result i64) (i64.add (call $deep (local.get 0)) (i64.const 1)))",
        ops: &[("enqueue", "(param i64 i64) (drop (call $deep (i64.const 1)))")],
        ..Text::default()
    };
    let report = run(&text.file()).unwrap();
    assert!(failure(&report).ends_with("operation enqueue of tiny.wasm: its calls are nested too deeply"));
}

#[test]
fn other_traps_are_named() {
    for (code, why) in [
        ("unreachable", "it reaches a point that it declares unreachable"),
        ("(drop (i64.div_u (i64.const 1) (i64.const 0)))", "it divides by zero"),
        (
            "(call_indirect (param i32) (i32.const 1) (i32.const 50))",
            "it calls an address at which there is no function of this type",
        ),
    ] {
        let found = ended(&format!("(param i64 i64) {code}"));
        assert!(found.ends_with(&format!("operation enqueue of tiny.wasm: {why}")), "{found}");
    }
}

#[test]
fn an_address_that_is_no_task_is_not_believed() {
    for address in
        ["(i64.const 0)", "(i64.const 1)", "(i64.const -1)", "(i64.add (local.get 0) (i64.const 8))"]
    {
        let why = ended(&format!(
            "(param i64 i64) (drop (call $insert {address} (i64.const 0) (i64.const 1) (i64.const 0)))"
        ));
        assert!(why.contains("scx_bpf_dsq_insert()") && why.ends_with("no address of a task"), "{why}");
    }
}

#[test]
fn a_task_that_never_runs_ends_the_run_with_its_name() {
    let why = ended("(param i64 i64)");
    assert!(why.contains("job rank"), "{why}");
}

#[test]
fn what_linux_refuses_ends_the_run_with_its_words() {
    let why = ended(
        "(param i64 i64) (drop (call $insert (local.get 0) (i64.const 77) (i64.const 1) (i64.const 0)))",
    );
    assert!(why.contains("non-existent DSQ 0x4d"), "{why}");
}

#[test]
fn numbers_are_unknown_to_no_import() {
    // Masks, iterations and texts at addresses that are not in the memory.
    let calls = [
        ("scx_bpf_pick_idle_cpu", "(param i64 i64) (result i32)", "(i64.const -4) (i64.const 0)", true),
        (
            "bpf_iter_scx_dsq_new",
            "(param i64 i64 i64) (result i32)",
            "(i64.const -4) (i64.const 0) (i64.const 0)",
            true,
        ),
        ("bpf_iter_scx_dsq_next", "(param i64) (result i64)", "(i64.const -4)", true),
        ("scx_error", "(param i64 i32)", "(i64.const -4) (i32.const -1)", false),
        ("scx_bpf_events", "(param i64 i64)", "(i64.const -4) (i64.const -1)", false),
    ];
    for (name, of, with, result) in calls {
        let fields = format!("(import \"scx\" \"{name}\" (func $call {of}))");
        let call = format!("(call $call {with})");
        let call = if result { format!("(drop {call})") } else { call };
        let op = format!("(param i64 i64) {call}");
        let text = Text { fields: &fields, ops: &[("enqueue", &op)], ..Text::default() };
        let report = run(&text.file()).unwrap();
        assert!(failure(&report).contains(&format!("it calls {name}() with 0xfffffffffffffffc")), "{name}");
    }
}

#[test]
fn addresses_of_the_runtime_are_not_believed() {
    let with = |from: &str, to: &str| {
        let text = GLOBAL.text();
        assert!(text.contains(from), "{from}");
        failure(&run(&wat::parse_str(text.replace(from, to)).unwrap()).unwrap()).to_owned()
    };
    let state = with(
        "\"scx_state_at\") (result i64) (i64.const 1024)",
        "\"scx_state_at\") (result i64) (i64.const -1)",
    );
    assert!(state.ends_with("its `struct scx_state` at 0xffffffffffffffff is not in its memory"), "{state}");
    let room = with(
        "(local.get $at))\n            (func (export \"scx_setup\")",
        "(i64.const -8)) (func (export \"scx_setup\")",
    );
    assert!(room.ends_with("`scx_alloc` returned what is no address of its memory"), "{room}");
}
