//! Policy files in the text form of WebAssembly, with a runtime of a few lines, and runs with them.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use experiment::run::simulate_one;
use policies::PolicyRegistry;
use scenario::{Overrides, load_with};
use scx::policy_file::{ABI, Global, Layout, Ops, PolicyFile, SECTION};
use sim_core::outcome::{Outcome, RunReport};

/// Where the structures of a module are.
const LAYOUT: u64 = 16;
const STATE: u64 = 1_024;
const OPS: u64 = 2_048;

/// A policy file to be made.
#[derive(Clone, Default)]
pub(crate) struct Text<'a> {
    /// Imports and other fields of the module.
    pub(crate) fields: &'a str,
    /// Operations: the name, and the function behind its identifier.
    pub(crate) ops: &'a [(&'a str, &'a str)],
    pub(crate) globals: Vec<Global>,
}

/// The offset of a member, or the size of a structure.
fn number(names: &[String], name: &str) -> u32 {
    match name {
        "task_struct" => return 4_096,
        "cpumask" => return 512,
        "sched_ext_ops" => return 1_024,
        "task_struct.cpus_mask" => return 2_048,
        "sched_ext_ops.name" => return 512,
        _ => {}
    }
    let Some((structure, _)) = name.split_once('.') else { return 64 };
    let of = |other: &&String| other.split_once('.').is_some_and(|(of, _)| of == structure);
    8 * names.iter().filter(of).position(|other| other == name).unwrap() as u32
}

/// Bytes as a string of the text form.
fn bytes(data: &[u8]) -> String {
    data.iter().fold(String::new(), |text, byte| text + &format!("\\{byte:02x}"))
}

impl Text<'_> {
    /// What the file says of itself.
    pub(crate) fn about(&self) -> PolicyFile {
        PolicyFile {
            abi: ABI,
            name: "tiny".into(),
            compiler: "wat".into(),
            sources: vec!["tiny.wat".into()],
            sha256: "00".into(),
            ops: Ops {
                symbol: "ops".into(),
                address: OPS,
                given: self.ops.iter().map(|(name, _)| (*name).to_owned()).collect(),
            },
            maps: Vec::new(),
            globals: self.globals.clone(),
            programs: Vec::new(),
        }
    }

    /// The module as text.
    pub(crate) fn text(&self) -> String {
        let names = Layout::names();
        let mut layout = vec![ABI, Layout::length() as u32];
        layout.extend(names.iter().map(|name| number(&names, name)));
        let layout: Vec<u8> = layout.into_iter().flat_map(u32::to_le_bytes).collect();
        let mut table = vec![0; 1_024];
        let mut functions = String::new();
        for (at, (name, function)) in self.ops.iter().enumerate() {
            let offset = number(&names, &format!("sched_ext_ops.{name}")) as usize;
            table[offset] = at as u8 + 1;
            writeln!(functions, "(func $op_{name} {function})\n(elem (i32.const {}) $op_{name})", at + 1)
                .unwrap();
        }
        table[512..516].copy_from_slice(b"tiny");
        let pid = number(&names, "task_struct.pid");
        let about = serde_json::to_string(&self.about()).unwrap();
        format!(
            "(module {}
            (memory (export \"memory\") i64 4)
            (table (export \"__indirect_function_table\") 64 funcref)
            (global $top (mut i64) (i64.const 65536))
            (data (i64.const {LAYOUT}) \"{}\")
            (data (i64.const {OPS}) \"{}\")
            (func (export \"scx_layout\") (result i64) (i64.const {LAYOUT}))
            (func (export \"scx_state_at\") (result i64) (i64.const {STATE}))
            (func $alloc (export \"scx_alloc\") (param $size i64) (result i64) (local $at i64)
                (local.set $at (global.get $top))
                (global.set $top (i64.and (i64.add (i64.add (local.get $at) (local.get $size)) (i64.const 15))
                    (i64.const -16)))
                (block $enough (loop $more
                    (br_if $enough (i64.le_u (global.get $top) (i64.shl (memory.size) (i64.const 16))))
                    (drop (memory.grow (i64.const 1)))
                    (br $more)))
                (local.get $at))
            (func (export \"scx_setup\") (param i32) (result i32) (i32.const 0))
            (func (export \"scx_map_setup\") (param i64 i32 i32 i32 i32 i32) (result i32) (i32.const 0))
            (func (export \"scx_map_reference\") (param i64 i32))
            (func (export \"scx_map_inner\") (param i64 i32 i64))
            (func (export \"scx_task_new\") (param $pid i32) (result i64) (local $at i64)
                (local.set $at (call $alloc (i64.const 4096)))
                (i32.store (i64.add (local.get $at) (i64.const {pid})) (local.get $pid))
                (local.get $at))
            (func (export \"scx_task_gone\") (param i64))
            (func (export \"scx_cgroup_new\") (param i64 i64) (result i64) (call $alloc (i64.const 64)))
            (func (export \"scx_timer_fire\") (param i64))
            {functions}
            (@custom \"{SECTION}\" \"{}\"))",
            self.fields,
            bytes(&layout),
            bytes(&table),
            bytes(about.as_bytes()),
        )
    }

    /// The policy file.
    pub(crate) fn file(&self) -> Vec<u8> {
        wat::parse_str(self.text()).unwrap()
    }
}

/// A scheduler that puts each task into the global queue.
pub(crate) const GLOBAL: Text<'_> = Text {
    fields: "(import \"scx\" \"scx_bpf_dsq_insert\" (func $insert (param i64 i64 i64 i64) (result i32)))",
    ops: &[(
        "enqueue",
        "(param i64 i64) (drop (call $insert (local.get 0) (i64.const 0x8000000000000001) (i64.const 20000000)
            (local.get 1)))",
    )],
    globals: Vec::new(),
};

/// The policies that scenarios can name, with those of files.
pub(crate) fn registry() -> PolicyRegistry {
    PolicyRegistry::default().reading_files(Arc::new(scx::wasm::read))
}

/// A scenario on some cpus with twice as many tasks, which wait for one another twice, and these policies.
pub(crate) fn scenario(cpus: u32, policies: &str) -> String {
    format!(
        "name: try\nmachine: package:1 core:{cpus}\nkernel: linux-6.18\nbaseline: none\n\
         policies: {policies}\napps: {{ job: {{ tasks: {}, runtime: block, \
         workload: {{ spmd: {{ work: 30ms, grain: 10ms, spread: 20% }} }} }} }}\n",
        2 * cpus
    )
}

/// The runs of a scenario beside the files in a folder; else what is wrong with it.
pub(crate) fn runs_with(
    policies: &PolicyRegistry,
    folder: &Path,
    text: &str,
    overrides: &Overrides,
) -> Result<Vec<RunReport>, String> {
    let name = folder.join("try.yaml").display().to_string();
    let experiment = load_with(policies, &name, text, overrides)?;
    Ok(experiment.runs.iter().map(|run| simulate_one(run, &mut ()).unwrap()).collect())
}

/// The run of a policy file on four cpus.
pub(crate) fn run(file: &[u8]) -> Result<RunReport, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tiny.wasm"), file).unwrap();
    let text = scenario(4, "[./tiny.wasm]");
    runs_with(&registry(), folder.path(), &text, &Overrides::default()).map(|mut runs| runs.remove(0))
}

/// Why a run has been ended by its policy.
pub(crate) fn failure(report: &RunReport) -> &str {
    match &report.outcome {
        Outcome::Failed(why) => why,
        other => panic!("{other:?}"),
    }
}
