//! Reads a policy file: what it says of itself, its code, and that this program can run it.

use std::sync::Arc;

use wasmi::{CompilationMode, Config, Engine, ExternType, FuncType, Module, Store, StoreLimits, ValType};
use wasmparser::{Parser, Payload};

use crate::policy_file::{ABI, PolicyFile, SECTION};

use super::at::At;
use super::imports::{Import, MODULE, all};
use super::limits::{DEPTH, MEMORY, STACK};
use super::started::Started;
use super::tasks::Data;

/// A page of a memory of WebAssembly, bytes.
const PAGE: u64 = 1 << 16;

/// A sentence about a file, without its path, and what would be right.
pub(super) type Refused = (String, String);

/// A policy file, ready to be run.
pub(super) struct Loaded {
    /// What it says of itself.
    pub(super) about: PolicyFile,
    /// SHA-256 of its contents, in hexadecimal.
    pub(super) sha256: String,
    /// The name of the file, for messages.
    pub(super) file: String,
    pub(super) engine: Engine,
    pub(super) module: Module,
    /// The functions that it imports, in its order.
    pub(super) imports: Vec<Import>,
    /// Where the members of its structures are.
    pub(super) at: Arc<At>,
}

/// What makes a policy file.
fn build_hint() -> String {
    "`oversim scx build SCHEDULER.bpf.c` makes a policy file".to_owned()
}

/// A refusal with the way to a policy file.
fn refused(message: impl Into<String>) -> Refused {
    (message.into(), build_hint())
}

/// The functions that a policy file gives, with their types: parameters and result.
const EXPORTS: [(&str, &[ValType], &[ValType]); 11] = {
    use ValType::{I32, I64};
    [
        ("scx_layout", &[], &[I64]),
        ("scx_state_at", &[], &[I64]),
        ("scx_alloc", &[I64], &[I64]),
        ("scx_setup", &[I32], &[I32]),
        ("scx_map_setup", &[I64, I32, I32, I32, I32, I32], &[I32]),
        ("scx_map_reference", &[I64, I32], &[]),
        ("scx_map_inner", &[I64, I32, I64], &[]),
        ("scx_task_new", &[I32], &[I64]),
        ("scx_task_gone", &[I64], &[]),
        ("scx_cgroup_new", &[I64, I64], &[I64]),
        ("scx_timer_fire", &[I64], &[]),
    ]
};

impl Loaded {
    /// The policy file with these contents.
    ///
    /// # Errors
    /// What it is instead, or what it has that this program does not run.
    pub(super) fn new(file: &str, bytes: &[u8]) -> Result<Self, Refused> {
        let about = about(bytes)?;
        let engine = Engine::new(&config());
        let module = Module::new(&engine, bytes).map_err(|error| {
            let error = notation::neutral::line(&error.to_string()).into_owned();
            (format!("its code is refused: {error}"), rules())
        })?;
        let imports = imports(&engine, &module)?;
        exports(&module)?;
        let sha256 = hex(&hmac_sha256::Hash::hash(bytes));
        let file = file.to_owned();
        let mut loaded = Self { about, sha256, file, engine, module, imports, at: Arc::default() };
        let started = Started::new((&loaded.engine, &loaded.module), &loaded.imports, &loaded.at);
        let layout = started.and_then(|mut started| started.layout());
        let at = layout.and_then(|layout| At::new(&layout)).map_err(refused)?;
        loaded.at = Arc::new(at);
        Ok(loaded)
    }
}

/// What code may be.
fn rules() -> String {
    "a policy file has integers only: no floating-point numbers, no vectors, no threads and no start function"
        .to_owned()
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The rules of the interpreter: the same for the same file, whatever has run before.
fn config() -> Config {
    let mut config = Config::default();
    config
        .floats(false)
        .allow_start_fn(false)
        .wasm_memory64(true)
        .wasm_multi_memory(false)
        .wasm_tail_call(false)
        .consume_fuel(true)
        // Else the first run of a function would take more fuel than the others.
        .compilation_mode(CompilationMode::Eager)
        .set_max_recursion_depth(DEPTH)
        .set_max_stack_height(STACK);
    config
}

/// The section with which a policy file describes itself.
fn about(bytes: &[u8]) -> Result<PolicyFile, Refused> {
    if !bytes.starts_with(b"\0asm") {
        return Err(refused("it is no WebAssembly"));
    }
    let mut found = None;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|error| {
            let (message, at) = (notation::neutral::line(error.message()), error.offset());
            refused(format!("it is cut off or damaged at byte {at}: {message}"))
        })?;
        match payload {
            Payload::CustomSection(section) if section.name() == SECTION => found = Some(section.data()),
            _ => {}
        }
    }
    let Some(section) = found else {
        return Err(refused(format!(
            "it is WebAssembly, but no policy file: it has no custom section `{SECTION}`"
        )));
    };
    let damaged = |error: serde_json::Error| {
        let error = notation::neutral::line(&error.to_string()).into_owned();
        refused(format!("its custom section `{SECTION}` cannot be read: {error}"))
    };
    let value: serde_json::Value = serde_json::from_slice(section).map_err(damaged)?;
    match value.get("abi").and_then(serde_json::Value::as_u64) {
        Some(version) if version != u64::from(ABI) => {
            let message =
                format!("it is made for version {version} of the interface, and this is version {ABI}");
            Err((message, "build it again with the `oversim scx build` of this program".to_owned()))
        }
        _ => serde_json::from_value(value).map_err(damaged),
    }
}

/// The functions that a module imports, in its order.
fn imports(engine: &Engine, module: &Module) -> Result<Vec<Import>, Refused> {
    let known = all();
    let mut store = Store::new(engine, Data::new(Arc::default(), StoreLimits::default()));
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for import in module.imports() {
        let shown = notation::neutral::line(import.name()).into_owned();
        let given =
            known.iter().find(|(name, _)| *name == import.name()).filter(|_| import.module() == MODULE);
        match (given, import.ty().func()) {
            (Some(given), Some(wanted)) => {
                let of = (given.1)(&mut store).ty(&store);
                if of.params() != wanted.params() || of.results() != wanted.results() {
                    let (wanted, of) = (shown_type(wanted), shown_type(&of));
                    return Err(refused(format!("it imports `{shown}` as {wanted}, and it is {of}")));
                }
                found.push(*given);
            }
            _ if import.module() == MODULE => unknown.push(shown),
            _ => {
                let from = notation::neutral::line(import.module());
                unknown.push(format!("{shown} of the module {from}"));
            }
        }
    }
    if unknown.is_empty() {
        return Ok(found);
    }
    unknown.sort();
    let message = format!("it imports what oversim does not give: {}", unknown.join(", "));
    Err((
        message,
        format!("all imports are functions of the module `{MODULE}`: those of `include/scx/abi.h`"),
    ))
}

/// A type as messages show it: `(i64, i32) -> i32`.
fn shown_type(of: &FuncType) -> String {
    let list =
        |types: &[ValType]| types.iter().map(|of| format!("{of:?}").to_lowercase()).collect::<Vec<_>>();
    format!("({}) -> ({})", list(of.params()).join(", "), list(of.results()).join(", "))
}

/// Checks that a module gives what the host calls.
fn exports(module: &Module) -> Result<(), Refused> {
    for (name, parameters, results) in EXPORTS {
        let Some(ExternType::Func(of)) = module.get_export(name) else {
            return Err(refused(format!("it exports no function `{name}`")));
        };
        let wanted = FuncType::new(parameters.iter().copied(), results.iter().copied());
        if of.params() != parameters || of.results() != results {
            let (of, wanted) = (shown_type(&of), shown_type(&wanted));
            return Err(refused(format!("it exports `{name}` as {of}, and it should be {wanted}")));
        }
    }
    match module.get_export("memory") {
        Some(ExternType::Memory(memory)) if memory.is_64() => {
            if memory.minimum() > MEMORY as u64 / PAGE {
                return Err(refused(format!("it needs more than {} MiB of memory", MEMORY >> 20)));
            }
        }
        Some(ExternType::Memory(_)) => return Err(refused("its memory has addresses of 32 bits")),
        _ => return Err(refused("it exports no `memory`")),
    }
    match module.get_export("__indirect_function_table") {
        Some(ExternType::Table(_)) => Ok(()),
        _ => Err(refused("it exports no `__indirect_function_table`")),
    }
}
