//! Files of rt-app: kinds of threads with phases of events, as programs of tasks.

mod code;
mod events;
mod model;
mod parse;
mod prune;
mod reader;
mod usage;

use std::collections::{BTreeMap, BTreeSet};

use crate::json::{self, Value};
use crate::page::{self, Names, Page, at, quoted};
use crate::units::span;
use crate::{Form, Imported, Options, Refused, Source};

use code::{Line, Writer};
use model::{Global, Thread, What};
use reader::Reader;
use usage::Usage;

/// How long programs are simulated that neither end nor have a duration.
const WINDOW: u64 = 10_000_000_000;
/// Most thread objects: half of the kinds that a program can have, as each can be forked, too.
const MOST_KINDS: usize = 128;
/// Name of the application.
const APP: &str = "rt-app";
/// Least and greatest slice that a scenario has, as the kernel, in ns.
const SLICES: (u64, u64) = (100_000, 100_000_000);
/// `DEFAULT_THREAD_PRIORITY` of rt-app, for real-time threads.
const PRIORITY: i64 = 10;

/// The least runtime of SCHED_DEADLINE in ns (`__checkparam_dl`), and its least and longest period
/// (`sched_deadline_period_min_us`, `sched_deadline_period_max_us`).
const RUNTIME: u64 = 1_024;
const PERIODS: (u64, u64) = (100_000, 4_194_304_000);

/// A kind of tasks of the scenario.
struct Kind<'a> {
    name: String,
    thread: &'a Thread,
    /// How many tasks, and why.
    count: (u64, String),
    code: Vec<Line>,
    endless: bool,
    forked: bool,
}

/// Imports a file, or the parts of one.
pub(crate) fn import(sources: &[Source<'_>], options: &Options) -> Result<Imported, Refused> {
    let mut page = Page::new();
    let (global, threads) = read(sources, &mut page)?;
    let names: Vec<&str> = sources.iter().map(|source| source.name).collect();
    let title = names.join(", ");
    if threads.is_empty() {
        let what = format!("{title}: no `tasks`; parts of a file are given together: `oversim import A B C`");
        return Err(Refused::Sentence(what));
    }
    if threads.len() > MOST_KINDS {
        let what = format!("{title}: {} threads; a program has at most {MOST_KINDS} kinds", threads.len());
        return Err(Refused::Sentence(what));
    }
    let threads = prune::prune(threads, &mut page.notes);
    let needed = threads.iter().flat_map(cpus_of).max().map_or(1, |last| last + 1);
    let cpus = page::cpus(options, needed)?;
    if cpus < needed {
        let last = needed - 1;
        return Err(Refused::Sentence(format!(
            "{title}: a thread may use cpu {last}, and the machine has {cpus}"
        )));
    }
    let mut usage = Usage::of(&threads);
    let kinds = kinds(&threads, &mut usage, &mut page, &global, cpus);
    if kinds.is_empty() {
        return Err(Refused::Sentence(format!("{title}: no thread does anything that a scenario can have")));
    }
    page.head(options, needed);
    let ended = window(&mut page, &kinds, &global);
    page.line(0, "start_jitter: 0s", "");
    write(&mut page, &kinds, &usage, (&global, ended));
    page.line(0, "policies: [LOAD]", "");
    Ok(page.done(Form::RtApp, &title, options))
}

/// What all parts say together.
fn read(sources: &[Source<'_>], page: &mut Page) -> Result<(Global, Vec<Thread>), Refused> {
    let values = sources.iter().map(json::read).collect::<Result<Vec<Value>, Refused>>()?;
    let mut global = Global::default();
    let mut threads = Vec::new();
    // `global` acts on the threads of all parts.
    let parts = || sources.iter().zip(&values);
    for (source, value) in parts() {
        let mut reader = Reader { source: *source, notes: &mut page.notes, global: global.clone() };
        if !value.is_map() {
            return Err(reader.wrong(value.line, "a file of rt-app is an object"));
        }
        if let Some(found) = value.get("global") {
            reader.global(found)?;
        }
        global = reader.global;
    }
    for (source, value) in parts() {
        let mut reader = Reader { source: *source, notes: &mut page.notes, global: global.clone() };
        for (key, object) in value.entries() {
            match key.name.as_str() {
                "tasks" => {
                    for (key, thread) in object.entries() {
                        threads.push(reader.thread(key, thread)?);
                    }
                }
                "global" => {}
                "resources" => {
                    let place = at(key.line, "resources");
                    reader.notes.no_effect(place, "objects are made where they are used");
                }
                name => reader.notes.left_out(at(key.line, name), "a key that rt-app does not document"),
            }
        }
    }
    Ok((global, threads))
}

fn cpus_of(thread: &Thread) -> impl Iterator<Item = u32> {
    let traits = thread.phases.iter().map(|phase| &phase.traits).chain([&thread.traits]);
    traits.filter_map(|traits| traits.cpus.as_ref()).flat_map(|(cpus, _)| cpus.iter().copied())
}

/// The kinds of tasks: one for each thread object that starts, one for each that is forked.
fn kinds<'a>(
    threads: &'a [Thread],
    usage: &mut Usage,
    page: &mut Page,
    global: &Global,
    cpus: u32,
) -> Vec<Kind<'a>> {
    let resumes = |what: &'a What| if let What::Resume(name) = what { Some(name.as_str()) } else { None };
    let resumed: BTreeSet<&str> =
        threads.iter().flat_map(Thread::events).filter_map(|event| resumes(&event.what)).collect();
    let mut kinds = Vec::new();
    for (number, thread) in threads.iter().enumerate() {
        let path = format!("tasks.{}", thread.name);
        let forked = usage.forked.get(&thread.name).cloned();
        let first = threads.iter().position(|other| other.name == thread.name) == Some(number);
        let own = (thread.instances > 0).then(|| {
            (usage.kinds[number].clone(), u64::from(thread.instances), format!("{path}.instance"), false)
        });
        let forked = forked.filter(|_| first).map(|(kind, most)| (kind, most, "at a time".to_owned(), true));
        for (name, count, why, forked) in own.into_iter().chain(forked) {
            let writer = Writer::new(usage, &mut page.notes, global, &resumed, cpus);
            let (code, endless) = writer.thread(thread);
            if code.is_empty() && !forked {
                page.notes.left_out(at(thread.line, &path), "a thread that does nothing");
                continue;
            }
            let count = (count, at(thread.line, &why));
            kinds.push(Kind { name, thread, count, code, endless, forked });
        }
    }
    kinds
}

/// How long the scenario is simulated; true when threads that end decide it.
fn window(page: &mut Page, kinds: &[Kind<'_>], global: &Global) -> bool {
    let ends = kinds.iter().any(|kind| !kind.endless && !kind.forked);
    match &global.duration {
        Some((ns, line)) => {
            let place = at(*line, "global.duration");
            let whole = kinds.iter().try_fold(0_u64, |sum, kind| {
                // How often a thread is forked in all is not known.
                let longest = kind.thread.longest().filter(|_| !kind.forked)?;
                let own = longest.saturating_mul(kind.count.0);
                Some(sum.saturating_add(own))
            });
            if ends && whole.is_some_and(|whole| whole <= *ns) {
                page.notes
                    .assumed(place.clone(), "all threads end before the duration: a run ends with them");
                page.line(0, &format!("horizon: {}", span(*ns)), &place);
                return true;
            }
            if ends {
                let what = "threads that end by themselves may run longer: all are stopped at the duration, \
                            as by rt-app";
                page.notes.assumed(place.clone(), what);
            }
            page.line(0, &format!("window: {}", span(*ns)), &place);
        }
        None if ends => return true,
        None => {
            page.notes.assumed("", format!("no thread ends: {} are simulated", span(WINDOW)));
            page.line(0, &format!("window: {}", span(WINDOW)), "assumed");
        }
    }
    page.line(0, "baseline: none", "");
    false
}

/// The applications: one for each task group, which share the objects.
fn write(page: &mut Page, kinds: &[Kind<'_>], usage: &Usage, (global, foreground): (&Global, bool)) {
    let mut groups: BTreeMap<String, Vec<&Kind<'_>>> = BTreeMap::new();
    for kind in kinds {
        groups.entry(group(page, kind)).or_default().push(kind);
    }
    page.line(0, "apps:", "");
    let mut names = Names::default();
    let several = groups.len() > 1;
    for (group, kinds) in &groups {
        let title = if group.is_empty() { APP.to_owned() } else { format!("{APP}-{group}") };
        page.line(2, &format!("{}:", names.unique(&title, APP)), "");
        if !group.is_empty() {
            page.line(4, &format!("cgroup: {group}"), "taskgroup");
        }
        page.line(4, "program:", "");
        objects(page, usage, global, kinds);
        let used = used(usage, kinds);
        if several && !used.is_empty() {
            page.line(6, &format!("shared: [{}]", used.join(", ")), "");
        }
        page.line(6, "kinds:", "");
        kinds.iter().for_each(|kind| write_kind(page, kind, global, foreground));
    }
}

/// The control group of a kind: that of its thread or first phase, without the first `/`.
fn group(page: &mut Page, kind: &Kind<'_>) -> String {
    let thread = kind.thread;
    let Some((group, line)) = thread.group() else { return String::new() };
    let place = at(*line, &format!("tasks.{}.taskgroup", thread.name));
    if kind.forked {
        page.notes.left_out(place, "the control group of a forked thread");
        return String::new();
    }
    let parts: Vec<String> =
        group.split('/').filter(|part| !part.is_empty()).map(|part| page::word(part, "group")).collect();
    parts.join("/")
}

/// The names of objects that the code of some kinds has.
fn used(usage: &Usage, kinds: &[&Kind<'_>]) -> Vec<String> {
    let words: BTreeSet<&str> =
        kinds.iter().flat_map(|kind| &kind.code).flat_map(|(_, text, _)| text.split(' ')).collect();
    usage.shared().into_iter().filter(|name| words.contains(name.as_str())).collect()
}

/// Objects that need more than their name.
fn objects(page: &mut Page, usage: &Usage, global: &Global, kinds: &[&Kind<'_>]) {
    let used = used(usage, kinds);
    for (word, parties) in usage.barriers.values().filter(|(word, _)| used.contains(word)) {
        let uses = |kind: &&&Kind<'_>| kind.code.iter().any(|line| line.1 == format!("barrier {word}"));
        let tasks: u64 = kinds.iter().filter(uses).map(|kind| kind.count.0).sum();
        if tasks < *parties {
            let what =
                format!("rt-app waits for {parties} threads, as often as they name it; here {tasks} meet");
            page.notes.differs(format!("barrier {word}"), what);
        }
    }
    if global.inherits && usage.locks.values().any(|word| used.contains(word)) {
        page.notes.left_out("global.pi_enabled", "priority inheritance of mutexes");
    }
}

fn write_kind(page: &mut Page, kind: &Kind<'_>, global: &Global, foreground: bool) {
    let thread = kind.thread;
    let path = format!("tasks.{}", thread.name);
    page.line(8, &format!("{}:", kind.name), &at(thread.line, &path));
    if kind.count.0 != 1 || kind.forked {
        page.line(10, &format!("count: {}", kind.count.0), &kind.count.1);
    }
    scheduling(page, thread, global);
    if let Some((cpus, line)) = &thread.traits.cpus {
        page.line(10, &format!("cpus: '{}'", page::list(cpus)), &at(*line, &format!("{path}.cpus")));
    }
    if let Some(deadline) = thread.deadline {
        page.line(
            10,
            &format!("deadline: {}", span(deadline)),
            &at(thread.line, &format!("{path}.deadline")),
        );
    }
    if kind.endless && !kind.forked && !foreground {
        page.line(10, "background: false", "the window ends it");
    }
    page.line(10, "code: |", "");
    for (depth, text, origin) in &kind.code {
        page.line(12 + 2 * depth, text, origin);
    }
}

/// What a thread of SCHED_DEADLINE reserves. The defaults are those of rt-app: the runtime is the period, and
/// that the deadline.
fn reserved(page: &mut Page, thread: &Thread, place: &str) {
    let of = |value: Option<(u64, usize)>| value.map(|(ns, _)| ns);
    let traits = &thread.traits;
    let runtime = of(traits.slice).unwrap_or(0);
    let period = of(traits.period).unwrap_or(runtime);
    let deadline = of(traits.deadline).unwrap_or(period);
    let ordered = RUNTIME <= runtime && runtime <= deadline && deadline <= period;
    if !ordered || !(PERIODS.0..=PERIODS.1).contains(&period) {
        let what = "Linux refuses its dl-runtime, dl-deadline and dl-period: it runs as SCHED_OTHER";
        page.notes.left_out(place.to_owned(), what);
        return;
    }
    let [runtime, deadline, period] = [runtime, deadline, period].map(span);
    let own = if deadline == period { String::new() } else { format!("deadline: {deadline}, ") };
    page.line(
        10,
        &format!("scheduling: {{ deadline: {{ runtime: {runtime}, {own}period: {period} }} }}"),
        place,
    );
}

/// Nice value, scheduling policy and slice.
fn scheduling(page: &mut Page, thread: &Thread, global: &Global) {
    let path = format!("tasks.{}", thread.name);
    let (policy, line) = match &thread.traits.policy {
        Some((policy, line)) => (policy.as_str(), *line),
        None => (global.policy.as_str(), thread.line),
    };
    let place = at(line, &format!("{path}.policy"));
    let (priority, at_priority) = match thread.traits.priority {
        Some((priority, line)) => (Some(priority), at(line, &format!("{path}.priority"))),
        None => (None, place.clone()),
    };
    match policy {
        "SCHED_FIFO" | "SCHED_RR" => {
            let word = if policy == "SCHED_FIFO" { "fifo" } else { "rr" };
            let priority = priority.unwrap_or(PRIORITY);
            if (1..=99).contains(&priority) {
                page.line(10, &format!("scheduling: {{ {word}: {priority} }}"), &at_priority);
            } else {
                let what = format!("{priority} is no priority of {policy} (1 to 99)");
                page.notes.left_out(at_priority.clone(), what);
            }
        }
        "SCHED_BATCH" => page.line(10, "scheduling: batch", &place),
        "SCHED_IDLE" => page.line(10, "scheduling: idle", &place),
        "SCHED_OTHER" => {}
        "SCHED_DEADLINE" => reserved(page, thread, &place),
        other => page.notes.left_out(place.clone(), format!("{} is no scheduling policy", quoted(other))),
    }
    if let Some(nice) = priority.filter(|_| matches!(policy, "SCHED_OTHER" | "SCHED_BATCH")) {
        if nice <= 19 {
            page.line(10, &format!("nice: {nice}"), &at_priority);
        } else {
            page.notes.left_out(at_priority, format!("{nice} is no nice value (-20 to 19)"));
        }
    }
    if policy == "SCHED_DEADLINE" {
        return;
    }
    for (name, value) in [("dl-deadline", thread.traits.deadline), ("dl-period", thread.traits.period)] {
        if let Some((_, line)) = value {
            page.notes.left_out(at(line, &format!("{path}.{name}")), "it is not of SCHED_DEADLINE");
        }
    }
    if let Some((slice, line)) = thread.traits.slice {
        let place = at(line, &format!("{path}.dl-runtime"));
        if !(SLICES.0..=SLICES.1).contains(&slice) || policy == "SCHED_IDLE" {
            page.notes.left_out(place, format!("a slice of {}: it is 100 us to 100 ms", span(slice)));
        } else {
            page.line(10, &format!("slice: {}", span(slice)), &place);
        }
    }
}
