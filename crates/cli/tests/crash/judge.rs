//! What must hold after a fault: nothing is torn, lost or left, the exit status and the message are right.

use std::collections::BTreeSet;
use std::path::Path;

use rustix::process::Signal;

use crate::cases::{Compared, words};
use crate::child::{self, Ended};
use crate::fault::{Fault, Moment, Output};
use crate::prepared::Prepared;
use crate::tree::{Tree, is_hidden};

/// Whether a promise is kept, or what is wrong.
pub(crate) type Kept = Result<(), String>;

fn must(holds: bool, what: impl FnOnce() -> String) -> Kept {
    if holds { Ok(()) } else { Err(what()) }
}

/// The first line of a text, for a message.
fn first(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// All that holds for every fault of one program.
pub(crate) fn judge(prepared: &Prepared, fault: &Fault, ended: &Ended, now: &Tree) -> Kept {
    alive(ended)?;
    status(prepared, fault, ended, now)?;
    if matches!(fault, Fault::Removed { .. }) {
        return Ok(());
    }
    files(prepared, fault, now)?;
    let refused_output = matches!(fault, Fault::Output(_));
    if ended.code == prepared.ended.code || refused_output {
        complete(prepared, now)?;
    }
    let whole = ended.code == prepared.ended.code && prepared.case.compared == Compared::Bytes;
    must(!whole || refused_output || ended.out == prepared.ended.out, || {
        format!("success with {} bytes on standard output", ended.out.len())
    })
}

/// No panic, no hang, no process that stays.
pub(crate) fn alive(ended: &Ended) -> Kept {
    must(!ended.hung, || "it hangs".into())?;
    let panics = ended.code == Some(101) || ended.err.contains("panicked at");
    must(!panics, || format!("it panics: {}", ended.err.lines().take(3).collect::<Vec<_>>().join(" | ")))?;
    must(!ended.left_processes, || "processes that it started stay".into())
}

/// The exit status and the message.
fn status(prepared: &Prepared, fault: &Fault, ended: &Ended, now: &Tree) -> Kept {
    let case = prepared.case;
    let shown = || format!("status {:?}, signal {:?}: {}", ended.code, ended.signal, first(&ended.err));
    let wrote = || now.visible().difference(&prepared.before.visible());
    if let Some(signal) = ended.signal {
        let early = wrote().is_none();
        let expected = match fault {
            // Before the program receives signals, they do what they do to every program.
            Fault::Signal { signal: sent, .. } => sent.as_raw() == signal && (*sent == Signal::KILL || early),
            Fault::FileSize { ignored, .. } => !ignored && signal == Signal::XFSZ.as_raw(),
            // An allocation that fails ends a program of Rust by SIGABRT; the kernel ends one that it
            // cannot load.
            Fault::Memory { .. } => {
                signal == Signal::ABORT.as_raw() && ended.err.contains("memory allocation of")
                    || early && ended.err.is_empty()
            }
            _ => false,
        };
        return must(expected, shown);
    }
    let code = ended.code.unwrap_or(-1);
    if let Fault::Output(output) = fault {
        let fails = *output == Output::Full && !prepared.ended.out.is_empty();
        let expected = if fails { 1 } else { prepared.ended.code.unwrap_or(-1) };
        return must(code == expected, shown);
    }
    if Some(code) == prepared.ended.code {
        return Ok(());
    }
    if let Fault::Signal { signal, .. } = fault {
        let again = case.is_sweep() && *signal == Signal::TERM && code == 75;
        return must(again || code == 128 + signal.as_raw(), shown);
    }
    // The loader has no memory or no descriptor for the libraries.
    let unloaded =
        matches!(fault, Fault::Memory { .. } | Fault::OpenFiles { .. }) && matches!(code, 126 | 127);
    must(unloaded || code == 1 || code == 2, shown)?;
    must(fault.silences() || !ended.err.is_empty(), || format!("no message, {}", shown()))?;
    if code == 2 && !matches!(fault, Fault::Removed { .. }) {
        let kept = |tree: &Tree| tree.visible().keeping(|name| !case.is_loose(name));
        let made = kept(now).difference(&kept(&prepared.before));
        // The directory of a sweep is made before its scenario is judged against what is in it.
        let made = made.filter(|_| !case.is_sweep());
        must(made.is_none(), || {
            format!("status 2 after it wrote {}; {}", made.unwrap_or_default(), shown())
        })?;
    }
    Ok(())
}

/// Each file is as before or as it should be, and nothing else is there.
pub(crate) fn files(prepared: &Prepared, fault: &Fault, now: &Tree) -> Kept {
    let case = prepared.case;
    for name in prepared.before.files() {
        must(case.is_loose(name) || now.file(name).is_some(), || format!("{name} is lost"))?;
    }
    for name in now.files() {
        if is_hidden(name) {
            // What cannot be opened cannot be searched for what is to be removed in it.
            let closed = name.contains('/') && fault.closes_directories();
            must(fault.kills() || fault.keeps_files() || closed, || format!("{name} is left"))?;
        } else if !case.is_loose(name) {
            let bytes = now.file(name);
            let old = prepared.before.file(name);
            let new = prepared.after.iter().filter_map(|tree| tree.file(name));
            let whole = bytes == old
                || new.clone().any(|new| Some(new) == bytes)
                || case.compared == Compared::Form
                    && new.count() > 0
                    && has_form(name, bytes.unwrap_or_default());
            must(whole, || format!("{name} is torn: {} bytes", bytes.unwrap_or_default().len()))?;
        }
    }
    let known = |name: &&str| prepared.before.0.contains_key(*name) || case.is_loose(name);
    let empty = now.visible();
    let mut left = empty.empty_directories().filter(|name| !known(name));
    let excused = fault.kills() || fault.keeps_files() || fault.closes_directories();
    let left = left.next().filter(|_| !excused);
    must(left.is_none() || case.is_sweep(), || {
        format!("the empty directory {} is left", left.unwrap_or_default())
    })
}

/// All outputs are there.
pub(crate) fn complete(prepared: &Prepared, now: &Tree) -> Kept {
    let case = prepared.case;
    let kept = |tree: &Tree| tree.visible().keeping(|name| !case.is_loose(name));
    let (now, after) = (kept(now), kept(&prepared.after[0]));
    let differs = match case.compared {
        Compared::Bytes => now.difference(&after),
        Compared::Form => {
            after.files().find(|name| now.file(name).is_none()).map(|name| format!("{name} is missing"))
        }
    };
    must(differs.is_none(), || format!("success with {}", differs.unwrap_or_default()))
}

/// Whether a file of measured times is whole.
fn has_form(name: &str, bytes: &[u8]) -> bool {
    if name.ends_with(".json") {
        return serde_json::from_slice::<serde_json::Value>(bytes).is_ok();
    }
    let directory = tempfile::tempdir().unwrap();
    if name.ends_with(".gz") {
        let path = directory.path().join("r.gz");
        std::fs::write(&path, bytes).unwrap();
        let tested = std::process::Command::new("gzip").arg("-t").arg(path).status();
        return tested.is_ok_and(|status| status.success());
    }
    std::fs::write(directory.path().join("m.yaml"), bytes).unwrap();
    let show = ["machine", "show", "./m.yaml"].map(str::to_owned);
    child::plain(directory.path(), &show).code == Some(0)
}

/// The same command again gives what an undisturbed one gives.
pub(crate) fn again(prepared: &Prepared, directory: &Path) -> Kept {
    let case = prepared.case;
    let now = Tree::of(directory).visible();
    let there: Vec<&str> = prepared.outputs().filter(|name| now.file(name).is_some()).collect();
    let mut ended = child::plain(directory, &case.words());
    let mut command = "again";
    if !there.is_empty() && !case.continues() {
        let refused = ended.code == Some(2) && ended.err.contains("exists");
        must(refused, || format!("again, over {}: {:?} {}", there[0], ended.code, first(&ended.err)))?;
        let differs = Tree::of(directory).visible().difference(&now);
        must(differs.is_none(), || format!("a refusal changes {}", differs.unwrap_or_default()))?;
        if !case.has_force() {
            let whole = there.len() == prepared.outputs().count();
            return must(whole, || format!("{} files of a new directory", there.len()));
        }
        command = "again with --force";
        let forced: Vec<String> = case.words().into_iter().chain(["--force".to_owned()]).collect();
        ended = child::plain(directory, &forced);
    }
    alive(&ended)?;
    let code = ended.code;
    must(code == prepared.ended.code, || format!("{command}: {code:?} {}", first(&ended.err)))?;
    if case.compared == Compared::Bytes {
        must(ended.out == prepared.ended.out, || format!("{command}: another standard output"))?;
    }
    for args in case.finish {
        let ended = child::plain(directory, &words(args));
        must(ended.code == Some(0), || format!("{args:?}: {:?} {}", ended.code, first(&ended.err)))?;
    }
    let end = Tree::of(directory);
    let kept = |tree: &Tree| tree.visible().keeping(|name| !case.is_loose(name));
    if case.compared == Compared::Bytes {
        let differs = kept(&end).difference(&kept(&prepared.last));
        must(differs.is_none(), || format!("{command}: {}", differs.unwrap_or_default()))?;
    }
    let open = end.files().find(|name| name.ends_with(".open"));
    must(open.is_none(), || format!("{command}: the journal {} stays", open.unwrap_or_default()))
}

/// What must hold after two programs at the same time.
pub(crate) fn judge_two(prepared: &Prepared, fault: &Fault, ended: [&Ended; 2], now: &Tree) -> Kept {
    let case = prepared.case;
    let killed = matches!(fault, Fault::Two { kill: Some(_), .. });
    let mut successes = 0;
    for (at, ended) in ended.into_iter().enumerate() {
        alive(ended)?;
        if killed && at == 0 && ended.signal == Some(Signal::KILL.as_raw()) {
            continue;
        }
        let done = ended.code == prepared.ended.code;
        successes += usize::from(done);
        let exists = matches!(ended.code, Some(1 | 2)) && ended.err.contains("exists");
        must(done || !case.continues() && exists, || {
            format!("program {at}: {:?} {:?} {}", ended.code, ended.signal, first(&ended.err))
        })?;
    }
    // Of two programs with several outputs, each may be the first one with one of them.
    let place = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let places: BTreeSet<String> = prepared.outputs().map(place).collect();
    must(killed || successes > 0 || places.len() > 1, || "none of two succeeds".into())?;
    files(prepared, fault, now)?;
    if !killed && case.compared == Compared::Bytes {
        let kept = |tree: &Tree| tree.visible().keeping(|name| !case.is_loose(name));
        let now = kept(now);
        let one = prepared.after.iter().any(|after| kept(after) == now);
        must(one, || {
            format!("a mixture: {}", now.difference(&kept(&prepared.after[0])).unwrap_or_default())
        })?;
    }
    Ok(())
}

/// Whether the fault changed how the program ended.
pub(crate) fn had_effect(prepared: &Prepared, fault: &Fault, ended: &Ended) -> bool {
    let removed = matches!(fault, Fault::Removed { moment: Moment::At(_) });
    ended.code != prepared.ended.code || removed
}
