//! Builds schedulers with clang: the examples, one that tests the runtime from within, and ones that are
//! refused. Where there is no clang, every test says so and ends.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

use std::fs;
use std::path::{Path, PathBuf};

use scx::build::{Built, Failed, Request, build, is_policy_file};
use scx::policy_file::{Layout, PolicyFile};
use wasmi::{Engine, Instance, Linker, Module, Nullable, Ref, Store, TypedFunc, Val};

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The file that these sources give; none where there is no clang.
fn built(sources: Vec<PathBuf>) -> Option<Built> {
    match build(&Request { sources, ..Request::default() }) {
        Ok(built) => Some(built),
        Err(Failed::Tools(why)) if why.contains("not found") || why.contains("wasm64") => {
            eprintln!("skipped: {why}");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

/// Why this source is refused; none where there is no clang.
fn refused(text: &str) -> Option<Failed> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("bad.bpf.c");
    fs::write(&source, format!("#include <scx/common.bpf.h>\n{text}\n")).unwrap();
    match build(&Request { sources: vec![source], ..Request::default() }) {
        Ok(_) => panic!("it was built"),
        Err(Failed::Tools(why)) => {
            eprintln!("skipped: {why}");
            None
        }
        Err(why) => Some(why),
    }
}

#[test]
fn the_examples_are_built_without_a_warning_and_the_same_each_time() {
    for (file, name, operations) in
        [("vtime", "vtime", 8), ("per_llc", "per_llc", 8), ("central", "central", 7)]
    {
        let source = here().join(format!("../../examples/scx/{file}.bpf.c"));
        let Some(first) = built(vec![source.clone()]) else { return };
        assert_eq!(first.warnings, "", "{file}");
        assert_eq!((first.file.name.as_str(), first.file.ops.given.len()), (name, operations));
        assert!(
            first.file.globals.iter().any(|global| global.name == "slice_ns" && global.value == 20_000_000)
        );
        assert!(is_policy_file(&first.bytes));
        assert_eq!(first.bytes, built(vec![source]).unwrap().bytes, "{file}");
    }
}

#[test]
fn all_that_is_unknown_is_listed_with_its_place_and_nothing_else() {
    let text = "extern int bpf_of_tomorrow(int a) __ksym;\nextern int some_variable __ksym;\n\
                int bpf_never(void);\n\
                int maybe(void) __ksym __weak;\nint dead(void) { return bpf_never(); }\n\
                s32 BPF_STRUCT_OPS(bad_init)\n{\n\tif (bpf_ksym_exists(maybe))\n\t\treturn maybe();\n\
                \treturn bpf_of_tomorrow(1) +\n\t\tsome_variable;\n}\n\
                SCX_OPS_DEFINE(bad_ops, .init = (void *)bad_init, .name = \"bad\");";
    let Some(failed) = refused(text) else { return };
    let Failed::Refused(text) = failed else { panic!("{failed:?}") };
    let lines: Vec<&str> = text.lines().map(|line| line.split("/bad.bpf.c:").last().unwrap()).collect();
    let expected = [
        "oversim cannot run this scheduler; no file is written",
        "11: bpf_of_tomorrow(): oversim has no kfunc or helper of this name",
        "12: some_variable: oversim has no variable of the kernel of this name",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn what_could_not_be_run_is_not_written() {
    let text = "char room[1ul << 30];\n\
                s32 BPF_STRUCT_OPS(big_init)\n{\n\troom[bpf_get_prandom_u32()] = 1;\n\treturn 0;\n}\n\
                SCX_OPS_DEFINE(big_ops, .init = (void *)big_init, .name = \"big\");";
    let Some(failed) = refused(text) else { return };
    let why = "oversim cannot run what was built: it needs more than 256 MiB of memory";
    assert_eq!(failed, Failed::Refused(why.to_owned()));
}

#[test]
fn what_the_compiler_says_is_passed_on() {
    let Some(failed) = refused("int f(void) { return nowhere; }") else { return };
    let Failed::Compiler(text) = failed else { panic!("{failed:?}") };
    assert!(text.contains("bad.bpf.c:2:22: error: use of undeclared identifier 'nowhere'"), "{text}");
}

#[test]
fn an_operation_with_too_many_parameters_a_map_of_unknown_type_and_a_decimal_number_are_refused() {
    let text = "struct { __uint(type, BPF_MAP_TYPE_LPM_TRIE); __uint(max_entries, 1); __type(key, u64);\n\
                __type(value, u32); } trie SEC(\".maps\");\nvolatile double factor = 1.5;\n\
                void BPF_STRUCT_OPS(bad_tick, struct task_struct *p, u64 more)\n{\n\tu64 key = 1;\n\
                \tif (bpf_map_lookup_elem(&trie, &key))\n\t\tp->scx.slice = more;\n}\n\
                s32 BPF_STRUCT_OPS(bad_init)\n{\n\treturn (s32)(factor * 2);\n}\n\
                SCX_OPS_DEFINE(bad_ops, .tick = (void *)bad_tick, .init = (void *)bad_init);";
    let Some(failed) = refused(text) else { return };
    let text = failed.to_string();
    assert!(text.contains("operation tick (bad_tick): it takes 2 parameters, the operation has 1"), "{text}");
    assert!(text.contains("the map trie has the type 11, which oversim does not have"), "{text}");
    assert!(text.contains("bad.bpf.c:13: a number with a decimal point"), "{text}");
}

#[test]
fn sources_without_operations_and_files_that_are_not_there_are_refused() {
    let Some(failed) = refused("int x;") else { return };
    assert!(failed.to_string().starts_with("no scheduler: "), "{failed}");
    let request = Request { sources: vec!["no/such/file.bpf.c".into()], ..Request::default() };
    let Err(Failed::Tools(text)) = build(&request) else { panic!("it was built") };
    assert!(text.starts_with("no/such/file.bpf.c: "), "{text}");
    let missing = Request { sources: vec![here().join("Cargo.toml")], ..Request::default() };
    let missing = Request { clang: Some("no-such-clang".into()), ..missing };
    let Err(Failed::Tools(text)) = build(&missing) else { panic!("it was built") };
    assert_eq!(text, "no-such-clang: cannot be run as a clang");
}

/// A module with imports that do nothing and return 0.
struct Running {
    store: Store<()>,
    instance: Instance,
}

impl Running {
    fn start(bytes: &[u8]) -> Self {
        let engine = Engine::default();
        let module = Module::new(&engine, bytes).unwrap();
        let mut store = Store::new(&engine, ());
        let mut linker = Linker::<()>::new(&engine);
        for import in module.imports() {
            let kind = import.ty().func().unwrap().clone();
            let results = kind.results().to_vec();
            linker
                .func_new(import.module(), import.name(), kind, move |_, _, out| {
                    for (out, kind) in out.iter_mut().zip(&results) {
                        *out = Val::default_for_ty(*kind);
                    }
                    Ok(())
                })
                .unwrap();
        }
        let instance = linker.instantiate_and_start(&mut store, &module).unwrap();
        Self { store, instance }
    }

    fn call(&mut self, name: &str, arguments: &[Val]) -> Option<Val> {
        let function = self.instance.get_func(&self.store, name).unwrap();
        let results = function.ty(&self.store).results().len();
        let mut out = vec![Val::I32(0); results];
        function.call(&mut self.store, arguments, &mut out).unwrap();
        out.pop()
    }

    /// A call that gives an address.
    fn address(&mut self, name: &str, arguments: &[Val]) -> i64 {
        self.call(name, arguments).unwrap().i64().unwrap()
    }

    /// A call that has to give 0.
    fn succeeds(&mut self, name: &str, arguments: &[Val]) {
        let result = self.call(name, arguments).and_then(|value| value.i32());
        assert_eq!(result, Some(0), "{name}: for a test, the line that did not hold");
    }

    fn write(&mut self, address: i64, bytes: &[u8]) {
        let memory = self.instance.get_memory(&self.store, "memory").unwrap();
        memory.write(&mut self.store, usize::try_from(address).unwrap(), bytes).unwrap();
    }

    fn layout(&mut self) -> Layout {
        let at = usize::try_from(self.address("scx_layout", &[])).unwrap();
        let memory = self.instance.get_memory(&self.store, "memory").unwrap();
        let mut bytes = vec![0; Layout::length() * 4];
        memory.read(&self.store, at, &mut bytes).unwrap();
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        Layout::read(&words).unwrap()
    }

    fn set_up(&mut self, file: &PolicyFile) {
        self.succeeds("scx_setup", &[Val::I32(70)]);
        for map in &file.maps {
            let numbers = [map.kind, map.key_size, map.value_size, map.max_entries, map.flags];
            let numbers = numbers.map(|number| Val::I32(number.cast_signed()));
            let address = Val::I64(map.address.cast_signed());
            let arguments: Vec<Val> = std::iter::once(address.clone()).chain(numbers).collect();
            self.succeeds("scx_map_setup", &arguments);
            for offset in &map.references {
                self.call("scx_map_reference", &[address.clone(), Val::I32(offset.cast_signed())]);
            }
            for (index, inner) in (0..).zip(&map.inner) {
                self.call(
                    "scx_map_inner",
                    &[address.clone(), Val::I32(index), Val::I64(inner.cast_signed())],
                );
            }
        }
    }
}

#[test]
fn maps_storage_masks_trees_lists_timers_and_texts_of_the_runtime_do_what_those_of_linux_do() {
    let source = here().join("tests/data/runtime.bpf.c");
    let Some(built) = built(vec![source]) else { return };
    let mut running = Running::start(&built.bytes);
    let layout = running.layout();
    assert!(layout.of("task_struct").unwrap() > layout.of("task_struct.scx.slice").unwrap());
    running.set_up(&built.file);
    let state = running.address("scx_state_at", &[]);
    let at = |name: &str| state + i64::from(layout.of(name).unwrap());
    running.write(at("scx_state.now"), &(1_u64 << 40).to_le_bytes());
    running.write(at("scx_state.cpu"), &2_u32.to_le_bytes());
    let tasks = [7, 9].map(|pid| running.address("scx_task_new", &[Val::I32(pid)]));
    let mut groups = std::collections::BTreeMap::from([(0, 0)]);
    for (id, parent) in [(1, 0), (2, 1), (3, 1), (4, 2)] {
        let group = running.address("scx_cgroup_new", &[Val::I64(id), Val::I64(groups[&parent])]);
        groups.insert(id, group);
    }
    running.call("scx_task_cgroup", &[Val::I64(tasks[1]), Val::I64(groups[&4])]);
    let timed = ["test_timer", "test_timer_fired"];
    for program in built.file.programs.iter().filter(|program| !timed.contains(&program.name.as_str())) {
        running.succeeds(&program.name, &[Val::I64(0)]);
    }
    running.succeeds("test_timer", &[Val::I64(0)]);
    let array = built.file.maps.iter().find(|map| map.symbol == "array").unwrap();
    assert_eq!((array.value_size, array.references.as_slice()), (32, &[0][..]));
    // The second value of the array: its timer lies behind the reference and the counter.
    let memory = running.instance.get_memory(&running.store, "memory").unwrap();
    let word = |at: u64| {
        let mut bytes = [0; 8];
        memory.read(&running.store, usize::try_from(at).unwrap(), &mut bytes).unwrap();
        u64::from_le_bytes(bytes)
    };
    // The definition holds the runtime's own record of the map; `values` is among its words.
    let record = word(array.address);
    let values = (0..32)
        .map(|index| word(record + 8 * index))
        .find(|value| *value > record && *value < record + (1 << 24) && word(*value + 32 + 8) == 70);
    let timer = i64::try_from(values.unwrap() + 32 + 16).unwrap();
    running.call("scx_timer_fire", &[Val::I64(timer)]);
    running.succeeds("test_timer_fired", &[Val::I64(0)]);
    running.call("scx_task_gone", &[Val::I64(tasks[0])]);
    let again = running.address("scx_task_new", &[Val::I32(8)]);
    assert_eq!(again, tasks[0], "the memory of a task that is gone serves the next one");
}

#[test]
fn the_users_side_runs_before_init() {
    let folder = tempfile::tempdir().unwrap();
    let source = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("#include <scx/common.bpf.h>\n{text}\n")).unwrap();
        path
    };
    let scheduler = "u32 seen;\nSEC(\"syscall\") int fill(u32 *value) { seen = *value; return 0; }\n\
                     s32 BPF_STRUCT_OPS(a_init) { return seen == 7 ? -seen : 1; }\n\
                     SCX_OPS_DEFINE(a_ops, .init = (void *)a_init, .name = \"a\");";
    let side = "int fill(u32 *value);\nSCX_USER_SIDE()\n{\n\tu32 value = 7;\n\n\treturn fill(&value);\n}";
    let sources = [source("a.bpf.c", scheduler), source("side.bpf.c", side)];
    let Some(built) = built(sources.to_vec()) else { return };
    let mut running = Running::start(&built.bytes);
    let layout = running.layout();
    let at = built.file.ops.address + u64::from(layout.of("sched_ext_ops.init").unwrap());
    let memory = running.instance.get_memory(&running.store, "memory").unwrap();
    let mut index = [0; 8];
    memory.read(&running.store, usize::try_from(at).unwrap(), &mut index).unwrap();
    let table = running.instance.get_table(&running.store, "__indirect_function_table").unwrap();
    let found = table.get(&running.store, u64::from_le_bytes(index)).unwrap();
    let Ref::Func(Nullable::Val(function)) = found else { panic!("no function") };
    let mut out = [Val::I32(0)];
    function.call(&mut running.store, &[], &mut out).unwrap();
    assert_eq!(out[0].i32(), Some(-7));
}

#[test]
fn memory_is_zeroed_and_an_end_of_it_is_told() {
    let Some(built) = built(vec![here().join("../../examples/scx/vtime.bpf.c")]) else { return };
    let mut running = Running::start(&built.bytes);
    let first = running.address("scx_alloc", &[Val::I64(100)]);
    assert!(first > 0 && first % 16 == 0);
    assert_eq!(running.address("scx_alloc", &[Val::I64(1 << 40)]), 0);
    assert_eq!(running.call("scx_setup", &[Val::I32(4097)]).unwrap().i32(), Some(-22));
    let pages: TypedFunc<i64, i64> = running.instance.get_typed_func(&running.store, "scx_alloc").unwrap();
    let large = pages.call(&mut running.store, 1 << 20).unwrap();
    assert!(large > first);
}
