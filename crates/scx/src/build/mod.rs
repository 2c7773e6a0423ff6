//! Builds a policy file from a scheduler in BPF C.
//!
//! clang compiles the sources against oversim's own headers (carried in the program), wasm-ld links them with
//! a runtime that gives maps, storage, masks, lists, trees and timers; the debug information then says which
//! maps and variables there are, and what is only for people to read is left out of the file.

mod debug;
mod describe;
mod division;
mod headers;
mod module;
mod signatures;
#[cfg(test)]
mod tests;
pub mod text;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use debug::{Debug, Place};
use module::Module;
use tools::Tools;

use wasmparser::ValType;

use crate::policy_file::{ABI, Ops, PolicyFile, Program, SECTION};

/// What is compiled, and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The sources; those of one scheduler, linked together.
    pub sources: Vec<PathBuf>,
    /// Folders in which `#include` looks, after oversim's own.
    pub include: Vec<PathBuf>,
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub define: Vec<String>,
    /// The variable of the operations, if the sources have several.
    pub ops: Option<String>,
    /// The name of the policy; none is the name that the operations give.
    pub name: Option<String>,
    /// The clang to use; none looks for one.
    pub clang: Option<OsString>,
}

/// A policy file.
#[derive(Clone, Debug)]
pub struct Built {
    /// The WebAssembly module.
    pub bytes: Vec<u8>,
    /// What it says of itself.
    pub file: PolicyFile,
    /// What the compiler said while it succeeded: its warnings, as it wrote them.
    pub warnings: String,
}

/// Why there is no policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// A program is missing or cannot be run, or a file cannot be read or written: a sentence.
    Tools(String),
    /// The compiler or the linker refused the sources: its own words.
    Compiler(String),
    /// The sources ask for what oversim does not have: sentences, one to a line.
    Refused(String),
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tools(text) | Self::Compiler(text) | Self::Refused(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Failed {}

/// How the sources are compiled. The target has pointers and `long` of 64 bits, as BPF has; the processor is
/// the plain one with what every engine runs, whatever the version of clang adds by itself; overflow of
/// signed integers wraps, as it does in BPF.
const COMPILE: &[&str] = &[
    "--target=wasm64-unknown-unknown",
    "-mcpu=mvp",
    "-mbulk-memory",
    "-msign-ext",
    "-mmutable-globals",
    "-O2",
    "-gdwarf-4",
    "-std=gnu11",
    "-ffreestanding",
    "-nostdlibinc",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-fwrapv",
    "-fno-color-diagnostics",
    "-Wno-unused-command-line-argument",
    "-Wno-unknown-attributes",
    "-Wno-macro-redefined",
    "-D__BPF__",
    "-D__bpf__",
    "-D__TARGET_ARCH_x86",
    "-D__SCX_TARGET_ARCH_x86",
    "-D__OVERSIM__",
];

/// How the objects are linked. The stack comes first, so that one that grows too large leaves the memory
/// instead of writing over data: 512 KiB, as much as 1024 calls of the 512 bytes that BPF allows each.
const LINK: &[&str] = &[
    "-mwasm64",
    "--no-entry",
    "--export-table",
    "--allow-undefined",
    "--fatal-warnings",
    "--stack-first",
    "-z",
    "stack-size=524288",
];

/// Compiles, links, reads and describes. Nothing is written but temporary files.
///
/// # Errors
///
/// [`Failed`]: the compiler's words; all that the sources ask for and oversim does not have, with the places;
/// or why the file could not be run.
pub fn build(request: &Request) -> Result<Built, Failed> {
    let sha256 = sha256(&request.sources)?;
    let tools = Tools::find(request.clang.as_deref())?;
    let folder =
        tempfile::tempdir().map_err(|error| Failed::Tools(format!("no temporary folder: {error}")))?;
    let include = folder.path().join("include");
    headers::write(&include).map_err(|error| Failed::Tools(format!("cannot write the headers: {error}")))?;
    let mut warnings = String::new();
    let mut objects = Vec::new();
    for (number, source) in request.sources.iter().enumerate() {
        let object = folder.path().join(format!("{number}.o"));
        let mut one = request.clone();
        // Every file of a scheduler states its licence under the same name.
        one.define.push(format!("_license=_license_{number}"));
        warnings += &compile(&tools, &one, &include, source, &object)?;
        objects.push(object);
    }
    let runtime = include.join("runtime/runtime.c");
    let object = folder.path().join("runtime.o");
    compile(&tools, &Request::default(), &include, &runtime, &object)?;
    objects.push(object);
    let linked = link(&tools, &objects, folder.path(), request.ops.as_deref())?;
    let objects = objects.iter().map(fs::read).collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let parts = Parts { linked: &linked, objects: &objects, runtime: &runtime, include: &include };
    let built = finish(request, &parts, &tools.version, &sha256)?;
    Ok(Built { warnings: warnings + &built.warnings, ..built })
}

/// What the compiler and the linker made.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The linked module, with its debug information.
    pub linked: &'a [u8],
    /// The objects of which it was linked.
    pub objects: &'a [Vec<u8>],
    /// The source of the runtime.
    pub runtime: &'a Path,
    /// The folder of oversim's own headers.
    pub include: &'a Path,
}

/// Reads and describes what the compiler and the linker made, and makes a policy file of it. The version of
/// the compiler and the checksum of the sources are those that the file states.
///
/// # Errors
///
/// [`Failed`], as [`build`]; also for any other bytes.
pub fn finish(request: &Request, parts: &Parts<'_>, compiler: &str, sha256: &str) -> Result<Built, Failed> {
    let (defined, needed) = data_symbols(parts.objects)?;
    let module = Module::read(parts.linked).map_err(unreadable)?;
    let debug = Debug::read(&module).map_err(unreadable)?;
    let mut warnings = String::new();
    for (place, name) in debug.flavours(&parts.include.display().to_string()).map_err(unreadable)? {
        let text = format!(
            "warning: members of struct {name} are read where this declaration has them, not where \
                            the structure of the kernel has them"
        );
        warnings += &located(&place, &text);
        warnings.push('\n');
    }
    let mut file = describe(request, &module, &debug, (&defined, &needed), parts.runtime)?;
    compiler.clone_into(&mut file.compiler);
    sha256.clone_into(&mut file.sha256);
    let json = serde_json::to_vec(&file).map_err(unreadable)?;
    let linked = filled_in(&module, &debug, &file.ops, parts.linked)?;
    let linked = division::guarded(&module, &linked).map_err(unreadable)?;
    let bytes = module::rewritten(&linked, SECTION, &json).map_err(unreadable)?;
    crate::wasm::check(&bytes)
        .map_err(|(why, _)| Failed::Refused(format!("oversim cannot run what was built: {why}")))?;
    Ok(Built { bytes, file, warnings })
}

/// Whether these bytes are a policy file, of any version.
pub fn is_policy_file(bytes: &[u8]) -> bool {
    Module::read(bytes).is_ok_and(|module| module.custom.contains_key(SECTION))
}

/// What a file of clang holds is read here; that it cannot be read is no fault of the sources.
fn unreadable(error: impl std::fmt::Display) -> Failed {
    Failed::Tools(format!("what clang and wasm-ld made cannot be read: {error}"))
}

fn sha256(sources: &[PathBuf]) -> Result<String, Failed> {
    let mut hash = hmac_sha256::Hash::new();
    for source in sources {
        let bytes = fs::read(source);
        hash.update(bytes.map_err(|error| Failed::Tools(format!("{}: {error}", source.display())))?);
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Compiles one file; returns the compiler's warnings.
fn compile(
    tools: &Tools,
    request: &Request,
    include: &Path,
    from: &Path,
    to: &Path,
) -> Result<String, Failed> {
    let mut arguments: Vec<OsString> = COMPILE.iter().map(OsString::from).collect();
    let mut flag = |name: &str, value: &OsStr| {
        let mut text = OsString::from(name);
        text.push(value);
        arguments.push(text);
    };
    flag("-I", include.as_os_str());
    request.include.iter().for_each(|folder| flag("-I", folder.as_os_str()));
    request.define.iter().for_each(|define| flag("-D", OsStr::new(define)));
    arguments.extend(["-c".into(), "-o".into(), to.into(), "--".into(), from.into()]);
    let output = tools.clang(&arguments)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(Failed::Compiler(if text.trim().is_empty() { format!("clang: {}", output.status) } else { text }))
}

/// The list of the runtime that names the callbacks whose key has 32 bits, and its length.
const NARROW: (&str, usize) = ("__scx_narrow_callbacks", 32);

/// The function of the user's side, and the pair of the runtime by which it runs before `init`.
const USER_SIDE: (&str, &str) = ("__scx_user_side", "__scx_init");

/// Fills in what the runtime leaves to the build: the callbacks with a narrow key, and the function that runs
/// before `init`, if there is one.
fn filled_in(module: &Module, debug: &Debug, ops: &Ops, bytes: &[u8]) -> Result<Vec<u8>, Failed> {
    let mut bytes = bytes.to_vec();
    let variables = debug.variables().map_err(unreadable)?;
    let address =
        |name: &str| variables.iter().find(|variable| variable.name == name).and_then(|v| v.address);
    let mut write = |address: u64, written: &[u8]| {
        let place = module.place(address).unwrap_or(usize::MAX);
        let target = bytes.get_mut(place..place.saturating_add(written.len()));
        target.map(|target| target.copy_from_slice(written))
    };
    if let Some(list) = address(NARROW.0) {
        let narrow = module.with_parameters(&[ValType::I64, ValType::I32, ValType::I64]);
        // One place stays 0, as the end of the list.
        let indices = narrow.iter().copied().chain(std::iter::repeat(0)).take(NARROW.1 - 1).chain([0]);
        let words = indices.flat_map(|index| u32::try_from(index).unwrap_or_default().to_le_bytes());
        write(list, &words.collect::<Vec<u8>>());
    }
    if module.defines(USER_SIDE.0) {
        let pair = address(USER_SIDE.1);
        let table = variables.iter().find(|variable| variable.name == ops.symbol);
        let init = table
            .and_then(|table| table.kind.member("init"))
            .map(|init| ops.address.saturating_add(init.offset));
        let done = pair.zip(init).and_then(|(pair, init)| {
            write(pair.saturating_add(8), &module.integer(init, 8).to_le_bytes())?;
            write(init, &module.integer(pair, 8).to_le_bytes())
        });
        done.ok_or_else(|| unreadable("the place of ops.init is not in the module"))?;
    }
    Ok(bytes)
}

/// Data symbols with their sizes, bytes.
type Sizes = BTreeMap<String, u64>;
/// Names with the places of their first uses.
type Places = BTreeMap<String, Place>;

/// Links twice: whole, to learn the names of what has to be kept, and then only that and what it uses.
fn link(tools: &Tools, objects: &[PathBuf], folder: &Path, named: Option<&str>) -> Result<Vec<u8>, Failed> {
    let once = |more: &[OsString], to: &Path| -> Result<Vec<u8>, Failed> {
        let mut arguments: Vec<OsString> = LINK.iter().map(OsString::from).collect();
        arguments.extend_from_slice(more);
        arguments.extend(objects.iter().map(Into::into));
        arguments.extend(["-o".into(), to.into()]);
        let output = tools.link(&arguments)?;
        if !output.status.success() {
            return Err(Failed::Compiler(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        fs::read(to).map_err(unreadable)
    };
    let whole = once(&["--no-gc-sections".into()], &folder.join("whole.wasm"))?;
    let module = Module::read(&whole).map_err(unreadable)?;
    let debug = Debug::read(&module).map_err(unreadable)?;
    let variables = debug.variables().map_err(unreadable)?;
    let ops = describe::operations(&variables, named).map_err(Failed::Refused)?;
    let mut kept = BTreeSet::from([ops.name.clone()]);
    for program in debug.programs().map_err(unreadable)? {
        if program.section == "syscall" {
            kept.insert(program.name);
        }
    }
    let flags: Vec<OsString> = kept.iter().map(|name| format!("--export={name}").into()).collect();
    once(&flags, &folder.join("policy.wasm"))
}

/// The data symbols of all objects: those that they define, with their sizes, and those that nobody defines,
/// with the places of their first uses.
fn data_symbols(objects: &[Vec<u8>]) -> Result<(Sizes, Places), Failed> {
    let mut defined = BTreeMap::new();
    let mut needed = Places::new();
    for object in objects {
        let module = Module::read(object).map_err(unreadable)?;
        let debug = Debug::read(&module).map_err(unreadable)?;
        for (name, index) in &module.symbols.needed {
            let place = module.symbols.uses.get(index).and_then(|code| debug.line(*code));
            needed.entry(name.clone()).or_insert_with(|| place.unwrap_or_default());
        }
        defined.extend(module.symbols.defined);
    }
    // Names of the linker begin so.
    needed.retain(|name, _| !defined.contains_key(name) && !name.starts_with("__"));
    Ok((defined, needed))
}

/// Describes the module, or says all that it lacks.
fn describe(
    request: &Request,
    module: &Module,
    debug: &Debug,
    (defined, needed): (&Sizes, &Places),
    runtime: &Path,
) -> Result<PolicyFile, Failed> {
    let variables = debug.variables().map_err(unreadable)?;
    let mut faults = lacking(module, debug, needed);
    let variable = describe::operations(&variables, request.ops.as_deref()).map_err(Failed::Refused)?;
    if variable.address.is_none() {
        return Err(Failed::Refused(format!("the linker left {} out", variable.name)));
    }
    let ops = describe::ops(module, variable).map_err(|refused| {
        faults.extend(refused.into_iter().map(|why| located(&variable.place, &format!("operation {why}"))));
    });
    let maps = describe::maps(module, defined, &variables).map_err(|refused| {
        faults.extend(refused.into_iter().map(|(place, why)| located(&place, &why)));
    });
    let programs = debug.programs().map_err(unreadable)?;
    let mut programs: Vec<Program> = programs
        .into_iter()
        .filter(|program| program.section == "syscall")
        .map(|program| Program {
            name: program.name,
            context: u32::try_from(program.context).unwrap_or(u32::MAX),
        })
        .collect();
    programs.dedup_by(|a, b| a.name == b.name);
    let (Ok((ops, own_name)), Ok(maps), true) = (ops, maps, faults.is_empty()) else {
        let faults: String = faults.iter().map(|fault| format!("\n  {fault}")).collect();
        return Err(Failed::Refused(format!(
            "oversim cannot run this scheduler; no file is written{faults}"
        )));
    };
    let name = request.name.clone().unwrap_or(own_name);
    let stem = || request.sources.first().and_then(|source| source.file_stem()).unwrap_or_default();
    let name = if name.is_empty() { stem().to_string_lossy().into_owned() } else { name };
    Ok(PolicyFile {
        abi: ABI,
        name,
        compiler: String::new(),
        sources: request.sources.iter().map(|source| source.display().to_string()).collect(),
        sha256: String::new(),
        ops,
        maps,
        globals: describe::globals(module, &variables, &runtime.display().to_string()),
        programs,
    })
}

fn located(place: &Place, text: &str) -> String {
    if place.file.is_empty() { text.to_owned() } else { format!("{}:{}: {text}", place.file, place.line) }
}

/// The functions and variables that nobody defines, and numbers with a decimal point.
fn lacking(module: &Module, debug: &Debug, needed: &Places) -> Vec<String> {
    let mut faults: BTreeMap<(Place, String), String> = BTreeMap::new();
    for (index, (from, name)) in (0_u32..).zip(&module.imports) {
        if from != "scx" {
            let place = module.first_call(index).and_then(|code| debug.line(code)).unwrap_or_default();
            let text = format!("{name}(): oversim has no kfunc or helper of this name");
            faults.insert((place, name.clone()), text);
        }
    }
    for (name, place) in needed {
        let text = format!("{name}: oversim has no variable of the kernel of this name");
        faults.insert((place.clone(), name.clone()), text);
    }
    if let Some(code) = module.first_float() {
        let place = debug.line(code).unwrap_or_default();
        let text = "a number with a decimal point: BPF has integers only".to_owned();
        faults.insert((place, String::new()), text);
    }
    faults.iter().map(|((place, _), text)| located(place, text)).collect()
}
