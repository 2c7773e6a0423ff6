//! Reads the debug information of a small linked module, where no clang is needed.

use std::collections::BTreeMap;
use std::path::Path;

use super::debug::{Debug, Place};
use super::module::Module;
use super::{Failed, Request, lacking};
use crate::policy_file::{Map, PolicyFile};

const SMALL: &[u8] = include_bytes!("../../tests/data/small.wasm");

/// The symbol of the array of maps: three pointers of its definition and two of its values.
fn sizes() -> BTreeMap<String, u64> {
    BTreeMap::from([("queues".to_owned(), 40)])
}

fn described_with(module: &Module, debug: &Debug) -> Result<PolicyFile, Failed> {
    let request = Request { sources: vec!["small.c".into()], ..Request::default() };
    super::describe(&request, module, debug, (&sizes(), &BTreeMap::new()), Path::new("runtime.c"))
}

/// The description, with the one unknown function of the module among the known ones.
fn file() -> PolicyFile {
    let mut module = Module::read(SMALL).unwrap();
    let debug = Debug::read(&module).unwrap();
    for (from, _) in &mut module.imports {
        "scx".clone_into(from);
    }
    described_with(&module, &debug).unwrap()
}

#[test]
fn maps_have_their_types_sizes_references_and_inner_maps() {
    let file = file();
    let map = |symbol: &str| file.maps.iter().find(|map| map.symbol == symbol).unwrap().clone();
    let table = map("table");
    let expected = Map {
        symbol: "table".to_owned(),
        address: table.address,
        kind: 2,
        key_size: 4,
        value_size: 32,
        max_entries: 7,
        flags: 0,
        references: vec![8, 24],
        inner: Vec::new(),
    };
    assert_eq!(table, expected);
    let (queue, queues) = (map("queue"), map("queues"));
    assert_eq!((queue.kind, queue.key_size, queue.value_size, queue.max_entries), (22, 0, 4, 16));
    assert_eq!((queues.kind, queues.max_entries, queues.inner), (12, 2, vec![0, queue.address]));
    assert_eq!(file.maps.len(), 3);
}

#[test]
fn variables_have_their_types_and_values_and_those_that_nobody_sets_are_left_out() {
    let file = file();
    let names: Vec<&str> = file.globals.iter().map(|global| global.name.as_str()).collect();
    let expected = [
        "level",
        "limits",
        "on",
        "settings.deep.second",
        "settings.first",
        "small_ops.flags",
        "small_ops.timeout_ms",
    ];
    assert_eq!(names, expected);
    let global = |name: &str| file.globals.iter().find(|global| global.name == name).unwrap();
    let level = global("level");
    assert_eq!((level.value, level.size, level.signed, level.constant), (-3, 4, true, true));
    let on = global("on");
    assert_eq!((on.value, on.size, on.boolean, on.constant), (1, 1, true, true));
    let limits = global("limits");
    assert_eq!((limits.value, limits.size, limits.count, limits.constant), (5, 8, Some(3), false));
    let second = global("settings.deep.second");
    assert_eq!((second.value, second.size, second.signed), (-2, 2, true));
    assert_eq!(second.address, global("settings.first").address + 4);
    assert_eq!(global("small_ops.flags").value, 3);
}

#[test]
fn operations_and_programs_are_those_that_are_given() {
    let file = file();
    assert_eq!((file.name.as_str(), file.ops.symbol.as_str()), ("small", "small_ops"));
    assert_eq!(file.ops.given, ["enqueue", "init"]);
    let programs: Vec<_> =
        file.programs.iter().map(|program| (program.name.as_str(), program.context)).collect();
    assert_eq!(programs, [("set", 8)]);
}

#[test]
fn an_unknown_function_is_named_with_the_line_that_first_calls_it() {
    let module = Module::read(SMALL).unwrap();
    let debug = Debug::read(&module).unwrap();
    let line =
        include_str!("../../tests/data/small.c").lines().position(|line| line.contains("_kfunc(&table)"));
    let expected = format!(
        "small.c:{}: unknown_kfunc(): oversim has no kfunc or helper of this name",
        line.unwrap() + 1
    );
    let variable = BTreeMap::from([("jiffies".to_owned(), Place { file: "a.c".to_owned(), line: 3 })]);
    let faults = lacking(&module, &debug, &variable);
    assert_eq!(faults, ["a.c:3: jiffies: oversim has no variable of the kernel of this name", &expected]);
    let refused = described_with(&module, &debug);
    let text = format!("oversim cannot run this scheduler; no file is written\n  {expected}");
    assert_eq!(refused, Err(Failed::Refused(text)));
}

#[test]
fn of_several_schedulers_one_has_to_be_named() {
    let module = Module::read(SMALL).unwrap();
    let debug = Debug::read(&module).unwrap();
    let variables = debug.variables().unwrap();
    let named = |name| super::describe::operations(&variables, name).map(|ops| ops.name.clone());
    assert_eq!(named(Some("small_ops")), Ok("small_ops".to_owned()));
    let refused = named(Some("other")).unwrap_err();
    assert_eq!(refused, "no `struct sched_ext_ops` has the name \"other\": there is small_ops");
    let none = super::describe::operations(&[], None).err().unwrap();
    assert!(none.starts_with("no scheduler"), "{none}");
}
