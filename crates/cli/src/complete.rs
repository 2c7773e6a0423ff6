//! Completion in shells: the program answers the shell itself, so that values come from the registries and
//! files.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::OnceLock;

use clap::{Command, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::EnvCompleter;
use experiment::{PolicyLevel, PolicyRegistry};
use explain::Kind;
use explain::catalogue::{Registry, rows_with};
use scenario::built_in;
use scenario::settable;

use crate::args::Arguments;
use crate::input;

/// The variable that a shell sets to ask for completions.
const VARIABLE: &str = "COMPLETE";

/// The policies of this program. The parser calls the functions below without arguments of ours.
static POLICIES: OnceLock<PolicyRegistry> = OnceLock::new();

fn policies_known() -> PolicyRegistry {
    POLICIES.get().cloned().unwrap_or_default()
}

/// Answers and ends the process if a shell asks for completions; else does nothing.
pub(crate) fn answer(policies: &PolicyRegistry) {
    // One command line, one registry: a second call changes nothing.
    let _ = POLICIES.set(policies.clone());
    CompleteEnv::with_factory(command).var(VARIABLE).bin(program()).complete();
}

/// The script that makes a shell ask this program.
pub(crate) fn script(shell: &dyn EnvCompleter) -> std::io::Result<Vec<u8>> {
    let (called, mut script) = (called(), Vec::new());
    let path = Path::new(&called);
    // A name without directories is found by the shell; a relative path is not, once the directory has
    // changed.
    let completer = if path.components().count() > 1 { std::path::absolute(path)? } else { path.to_owned() };
    let name = program();
    shell.write_registration(VARIABLE, &name, &name, &completer.to_string_lossy(), &mut script)?;
    if shell.name() == "zsh" {
        // The first completion calls the script itself, if it is the file `_NAME` in a folder of `fpath`.
        let function = name.replace('-', "_");
        let first = format!("_clap_dynamic_completer_{function} \"$@\"");
        script.extend(format!("[[ $funcstack[1] != _{name} ]] || {first}\n").bytes());
    }
    Ok(script)
}

/// The command line under the name of this program: a program with additional policies has its own name.
fn command() -> Command {
    Arguments::command().name(program())
}

fn called() -> OsString {
    std::env::args_os().next().unwrap_or_else(|| "oversim".into())
}

fn program() -> String {
    let called = called();
    let stem = Path::new(&called).file_stem().unwrap_or(OsStr::new("oversim"));
    stem.to_string_lossy().into_owned()
}

/// The words of the command line that is being completed.
fn line() -> Vec<String> {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    words.skip_while(|word| word != "--").skip(2).collect()
}

/// A name and its meaning.
type Named = (String, String);

/// The names that begin with what is typed; if there are none, those that do so in another case.
fn matching(current: &OsStr, names: impl IntoIterator<Item = Named>) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    let lower = typed.to_lowercase();
    let (exact, rest): (Vec<Named>, Vec<Named>) =
        names.into_iter().partition(|(name, _)| name.starts_with(typed.as_ref()));
    let begins = |(name, _): &Named| name.to_lowercase().starts_with(&lower);
    let names = if exact.is_empty() { rest.into_iter().filter(begins).collect() } else { exact };
    let candidate = |(name, about): Named| {
        let candidate = CompletionCandidate::new(name);
        if about.is_empty() { candidate } else { candidate.help(Some(about.into())) }
    };
    names.into_iter().map(candidate).collect()
}

fn registry(registry: Registry) -> Vec<Named> {
    rows_with(&policies_known(), registry).into_iter().map(|row| (row.name, row.summary)).collect()
}

fn built_in_scenarios() -> impl Iterator<Item = Named> {
    built_in::BUILT_IN.iter().map(|scenario| (scenario.name.to_owned(), scenario.about()))
}

/// Names of built-in scenarios.
pub(crate) fn scenario_names(current: &OsStr) -> Vec<CompletionCandidate> {
    matching(current, built_in_scenarios())
}

/// Files with one of these endings, and directories on the way to others.
fn files(current: &OsStr, endings: &'static [&'static str]) -> Vec<CompletionCandidate> {
    let wanted = move |path: &Path| {
        let ending = path.extension().map(OsStr::to_ascii_lowercase);
        path.is_file() && ending.is_some_and(|ending| endings.iter().any(|known| ending == *known))
    };
    PathCompleter::any().filter(wanted).complete(current)
}

fn joined(first: Vec<CompletionCandidate>, second: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    first.into_iter().chain(second).collect()
}

/// Built-in scenarios and files of scenarios.
pub(crate) fn scenario(current: &OsStr) -> Vec<CompletionCandidate> {
    joined(scenario_names(current), files(current, &["yaml", "yml"]))
}

/// Built-in scenarios, files of scenarios and results.
pub(crate) fn scenario_or_result(current: &OsStr) -> Vec<CompletionCandidate> {
    joined(scenario_names(current), files(current, &["yaml", "yml", "json"]))
}

/// Recordings, files of scenarios and built-in scenarios.
#[cfg(feature = "measured")]
pub(crate) fn recording(current: &OsStr) -> Vec<CompletionCandidate> {
    joined(scenario(current), files(current, &["txt", "gz", "data", "dat", "ftrace", "pftrace"]))
}

/// Policies; after a slash the kernel-level ones, as in `SPEED/ULE`.
pub(crate) fn policies(current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy().into_owned();
    let all = registry(Registry::Policies);
    match typed.split_once('/') {
        None => matching(current, all),
        Some((upper, _)) => {
            let known = policies_known();
            let under =
                |name: &str| known.find(name).is_some_and(|entry| entry.level == PolicyLevel::InKernel);
            let kernel = all.into_iter().filter(|(name, _)| under(name));
            matching(current, kernel.map(|(name, about)| (format!("{upper}/{name}"), about)))
        }
    }
}

/// Metrics.
pub(crate) fn metrics(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut all = registry(Registry::Metrics);
    // Some names belong to an application and to the whole run.
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|(name, _)| seen.insert(name.clone()));
    matching(current, all)
}

/// Figures.
pub(crate) fn figures(current: &OsStr) -> Vec<CompletionCandidate> {
    matching(current, pictures::figures::names().map(|name| (name.to_owned(), String::new())))
}

/// Machines and machine files.
pub(crate) fn machines(current: &OsStr) -> Vec<CompletionCandidate> {
    joined(matching(current, registry(Registry::Machines)), files(current, &["yaml", "yml"]))
}

/// Kernels.
pub(crate) fn kernels(current: &OsStr) -> Vec<CompletionCandidate> {
    matching(current, registry(Registry::Kernels))
}

/// Names of pages, as `SPEED`, `policy:SPEED` once a colon is typed, and terms.
pub(crate) fn pages(current: &OsStr) -> Vec<CompletionCandidate> {
    let with_kind = current.to_string_lossy().contains(':');
    let policies = policies_known();
    let kinds = Kind::ALL.into_iter();
    let pages = kinds.flat_map(|kind| explain::pages_with(&policies, kind));
    let mut all: Vec<Named> = pages
        .map(|page| match with_kind {
            true => (format!("{}:{}", page.kind.name(), page.name), page.summary),
            false => (page.name, page.summary),
        })
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|(name, _)| seen.insert(name.clone()));
    matching(current, all)
}

/// Pages of the manual.
pub(crate) fn manual(current: &OsStr) -> Vec<CompletionCandidate> {
    matching(current, crate::manual::names())
}

/// The entries of the list that the command line names before.
pub(crate) fn listed(current: &OsStr) -> Vec<CompletionCandidate> {
    let words = line();
    let named = |word: &String| Some(crate::args::What::named(word)?.registry());
    words.iter().find_map(named).map_or_else(Vec::new, |wanted| matching(current, registry(wanted)))
}

/// Commands, for manual pages.
pub(crate) fn commands(current: &OsStr) -> Vec<CompletionCandidate> {
    let program = Arguments::command();
    let about = |sub: &Command| sub.get_about().map_or_else(String::new, ToString::to_string);
    matching(current, program.get_subcommands().map(|sub| (sub.get_name().to_owned(), about(sub))))
}

/// Paths for `--set`.
pub(crate) fn set(current: &OsStr) -> Vec<CompletionCandidate> {
    paths(current, false)
}

/// Paths for `--sweep`.
pub(crate) fn sweep(current: &OsStr) -> Vec<CompletionCandidate> {
    paths(current, true)
}

/// Paths that the scenario on the command line sweeps, for `--x` and `--y`.
pub(crate) fn swept(current: &OsStr) -> Vec<CompletionCandidate> {
    matching(current, swept_paths().into_iter().map(|(path, _)| (path, String::new())))
}

/// The same with their values, for `--at`.
pub(crate) fn swept_value(current: &OsStr) -> Vec<CompletionCandidate> {
    let values = |(path, values): (String, Vec<String>)| {
        values.into_iter().map(move |value| (format!("{path}={value}"), String::new()))
    };
    matching(current, swept_paths().into_iter().flat_map(values))
}

/// Swept paths and their values of the scenario on the command line.
fn swept_paths() -> Vec<(String, Vec<String>)> {
    let Some(text) = line().iter().find_map(|word| subject(word)) else { return Vec::new() };
    let loaded = scenario::load_with(&policies_known(), "scenario", &text, &scenario::Overrides::default());
    let Ok(experiment) = loaded else { return Vec::new() };
    experiment.axes.into_iter().map(|axis| (axis.path, axis.values)).collect()
}

/// `PATH=`, and after the equals sign the valid words.
fn paths(current: &OsStr, swept: bool) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy().into_owned();
    // The scenario may be named before or after the flag.
    let text = line().iter().find_map(|word| subject(word));
    let known = settable(&policies_known(), text.as_deref(), swept);
    if let Some((path, _)) = typed.split_once('=') {
        let words = known.into_iter().filter(|known| known.path == path).flat_map(|known| known.words);
        return matching(current, words.map(|word| (format!("{path}={word}"), String::new())));
    }
    matching(current, known.into_iter().map(|known| (format!("{}=", known.path), known.about)))
}

/// The text of the scenario that a word of the command line names.
fn subject(word: &str) -> Option<String> {
    let file = word.ends_with(".yaml") || word.ends_with(".yml");
    if !file && built_in::find(word).is_none() {
        return None;
    }
    input::scenario(Path::new(word)).ok().map(|(_, text)| text)
}
