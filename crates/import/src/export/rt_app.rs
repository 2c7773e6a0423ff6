//! A scenario as JSON of rt-app: kinds of tasks become threads, their loops phases, their statements events.

use std::collections::{BTreeMap, BTreeSet};

use notation::yaml::Node;

use super::Exported;
use super::apps::{self, duration, entries, span, text, text_of, value, whole, workload};
use super::statements::{self, Statement};
use crate::note::Notes;
use crate::page::at;
use crate::{Refused, Source, units};

/// Most events of a thread when loops inside loops are written out.
const MOST_EVENTS: usize = 2_000;
/// Longest event of rt-app, in us: a 32-bit integer.
const LONGEST_US: u64 = i32::MAX as u64;
/// Work of a hog without end, in us, for each pass.
const PASS_US: u64 = 1_000_000;

/// A phase: how often (-1: for ever), its properties and events as JSON.
#[derive(Default)]
struct Phase {
    times: i64,
    /// Each with its key.
    properties: Vec<(&'static str, String)>,
    events: Vec<String>,
}

impl Phase {
    /// Sets a property; the last value counts.
    fn set(&mut self, key: &'static str, json: String) {
        self.properties.retain(|(other, _)| *other != key);
        self.properties.push((key, json));
    }
}

/// The names of the threads and objects of an application in the file, where all applications share them.
#[derive(Default)]
struct Renamed {
    /// The application, where objects of several programs are in one file.
    prefix: Option<String>,
    shared: BTreeSet<String>,
    /// Kinds by their name in the application.
    kinds: BTreeMap<String, String>,
}

impl Renamed {
    fn object(&self, name: &str) -> String {
        match &self.prefix {
            Some(app) if !self.shared.contains(name) => format!("{app}-{name}"),
            _ => name.to_owned(),
        }
    }

    fn kind(&self, name: &str) -> String {
        self.kinds.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }
}

/// The names of each application. A name that only one of them has stays as it is.
fn renamed(root: &Node) -> BTreeMap<&str, Renamed> {
    let apps = value(root, "apps").map_or(&[][..], entries);
    let kinds = |app: &Node| -> Vec<String> {
        let kinds = value(app, "program").and_then(|program| value(program, "kinds"));
        kinds.map_or(&[][..], entries).iter().map(|entry| entry.key.clone()).collect()
    };
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for app in apps {
        let kinds = kinds(&app.value);
        let own = if kinds.is_empty() { vec![app.key.clone()] } else { kinds };
        own.into_iter().for_each(|name| *times.entry(name).or_default() += 1);
    }
    let programs = apps.iter().filter(|app| value(&app.value, "program").is_some()).count();
    let mut done = BTreeMap::new();
    let mut taken: BTreeSet<String> = times.keys().cloned().collect();
    for app in apps {
        let shared = value(&app.value, "program").and_then(|program| value(program, "shared"));
        let mut names = Renamed {
            prefix: (programs > 1).then(|| app.key.clone()),
            shared: shared.map_or_else(BTreeSet::new, shared_names),
            kinds: BTreeMap::new(),
        };
        let own = kinds(&app.value);
        for kind in if own.is_empty() { vec![app.key.clone()] } else { own } {
            let mut name = kind.clone();
            if times.get(&kind).is_some_and(|times| *times > 1) {
                name = format!("{}-{kind}", app.key);
                while !taken.insert(name.clone()) {
                    name.push('_');
                }
            }
            names.kinds.insert(kind, name);
        }
        done.insert(app.key.as_str(), names);
    }
    done
}

/// The names in `shared`, a list or a word.
fn shared_names(node: &Node) -> BTreeSet<String> {
    match &node.content {
        notation::yaml::Content::List(items) => items.iter().filter_map(text).map(str::to_owned).collect(),
        _ => text(node).into_iter().map(str::to_owned).collect(),
    }
}

/// A thread in the making.
struct Thread<'n> {
    notes: &'n mut Notes,
    names: &'n Renamed,
    place: String,
    name: String,
    phases: Vec<Phase>,
    events: usize,
    delay: u64,
    /// Named barriers that it has met at.
    barriers: BTreeSet<String>,
}

/// Writes a scenario as a file of rt-app.
///
/// # Errors
/// The scenario is no scenario, or has nothing that rt-app can run.
pub fn rt_app(scenario: &Source<'_>) -> Result<Exported, Refused> {
    let root = apps::tree(scenario)?;
    let mut notes = Notes::default();
    let mut threads = Vec::new();
    let (renamed, alone) = (renamed(&root), Renamed::default());
    for entry in value(&root, "apps").map_or(&[][..], entries) {
        let (name, app) = (entry.key.as_str(), &entry.value);
        let place = at(scenario.line(entry.place.start), &format!("apps.{name}"));
        let names = renamed.get(name).unwrap_or(&alone);
        for key in ["after", "copies", "arrival", "affinity", "session"] {
            if value(app, key).is_some() {
                notes.left_out(place.clone(), format!("`{key}`: rt-app does not have it"));
            }
        }
        if value(app, "program").is_some() {
            program(scenario, &mut notes, (name, app, names), &mut threads);
        } else if let Some(("hog", parameters)) = workload(app) {
            threads.extend(hog(&mut notes, (name, app, parameters), names, &place));
        } else {
            notes.left_out(place, "a workload that is no `program` and no `hog`");
        }
    }
    if threads.is_empty() {
        return Err(
            scenario.refused("no application of it is a `program` or a `hog`, which rt-app could run")
        );
    }
    let mut global =
        vec!["\"default_policy\": \"SCHED_OTHER\"".to_owned(), "\"calibration\": \"CPU0\"".to_owned()];
    if let Some(ns) = span(&root, "window").or_else(|| span(&root, "horizon")) {
        global.insert(0, format!("\"duration\": {}", ns.div_ceil(1_000_000_000)));
        if !ns.is_multiple_of(1_000_000_000) {
            notes.differs("window", "rt-app counts whole seconds: rounded up");
        }
    }
    for key in ["cgroups", "admission", "warm_up"] {
        if let Some(entry) = root.get(key) {
            notes.left_out(at(scenario.line(entry.place.start), key), "rt-app does not have it");
        }
    }
    let text = format!(
        "{{\n  \"tasks\": {{\n{}\n  }},\n  \"global\": {{\n    {}\n  }}\n}}\n",
        threads.join(",\n"),
        global.join(",\n    ")
    );
    Ok(Exported { text, notes: notes.done() })
}

/// The threads of a program.
fn program(
    scenario: &Source<'_>,
    notes: &mut Notes,
    (name, app, names): (&str, &Node, &Renamed),
    threads: &mut Vec<String>,
) {
    let Some(program) = value(app, "program") else { return };
    let place = at(scenario.line(program.place.start), &format!("apps.{name}.program"));
    if text(program).is_some() {
        notes.left_out(place, "a program in a file of its own");
        return;
    }
    objects(notes, program, &place);
    let sections = |wanted: &str| Some(statements::read(value(value(program, "sections")?, wanted)?));
    let kinds = value(program, "kinds");
    let all: Vec<&Node> = kinds.map_or(&[][..], entries).iter().map(|entry| &entry.value).collect();
    let forked = |kind: &str| {
        let names = |node: &&Node| {
            let code = value(node, "code").map_or_else(Vec::new, statements::read);
            uses(&statements::inlined(&code, &sections, 0), "fork", kind)
        };
        all.iter().any(names)
    };
    let each: Vec<(String, &Node)> = match kinds {
        Some(kinds) => entries(kinds).iter().map(|entry| (entry.key.clone(), &entry.value)).collect(),
        None => vec![(name.to_owned(), program)],
    };
    for (kind, node) in each {
        let code = value(node, "code").map_or_else(Vec::new, statements::read);
        let code = statements::inlined(&code, &sections, 0);
        let place = at(scenario.line(node.place.start), &format!("apps.{name}.program: {kind}"));
        let count = if forked(&kind) { 0 } else { whole(node, "count").unwrap_or(1) };
        let mut thread = Thread {
            notes: &mut *notes,
            names,
            place,
            name: names.kind(&kind),
            phases: Vec::new(),
            events: 0,
            delay: 0,
            barriers: BTreeSet::new(),
        };
        let lines = properties(&mut thread, app, node, count);
        threads.extend(thread.written(&code, lines, span(app, "start").unwrap_or(0)));
    }
}

/// Notes objects that rt-app has in one form only.
fn objects(notes: &mut Notes, program: &Node, place: &str) {
    for (key, what) in [
        ("locks", "kinds of locks: rt-app's are mutexes of pthread"),
        ("semaphores", "units of semaphores at the start: rt-app's have none"),
        ("queues", "queues"),
        ("devices", "devices"),
        ("arrivals", "arrivals"),
        ("tables", "tables of lengths"),
        ("profiles", "memory profiles"),
    ] {
        if value(program, key).is_some() {
            notes.left_out(place, what);
        }
    }
}

/// True when a block has a statement with this first word and name.
fn uses(block: &[Statement], word: &str, name: &str) -> bool {
    block.iter().any(|s| {
        let own =
            s.words.first().is_some_and(|first| first == word) && s.words.get(1).is_some_and(|w| w == name);
        own || s.block.as_ref().is_some_and(|inner| uses(inner, word, name))
    })
}

/// A hog: one event, for ever or once.
fn hog(
    notes: &mut Notes,
    (name, app, parameters): (&str, &Node, Option<&Node>),
    names: &Renamed,
    place: &str,
) -> Option<String> {
    let mut thread = Thread {
        notes,
        names,
        place: place.to_owned(),
        name: names.kind(name),
        phases: Vec::new(),
        events: 0,
        delay: 0,
        barriers: BTreeSet::new(),
    };
    let count = whole(app, "tasks").unwrap_or(1);
    if value(app, "tasks").is_none() && value(app, "threads_per_core").is_some() {
        thread.notes.left_out(place, "`threads_per_core`: state `tasks`");
    }
    let lines = properties(&mut thread, app, app, count);
    let work = parameters.and_then(|parameters| span(parameters, "work"));
    let code = match work {
        Some(work) => format!("run {}", units::span(work)),
        None => format!("forever {{ run {PASS_US}us }}"),
    };
    let node = Node::scalar(app.place, &code);
    thread.written(&statements::read(&node), lines, span(app, "start").unwrap_or(0))
}

/// Properties of a thread: those of its kind, else of its application.
fn properties(thread: &mut Thread<'_>, app: &Node, kind: &Node, count: u64) -> Vec<String> {
    let mut lines = Vec::new();
    let key = |name: &str| value(kind, name).or_else(|| value(app, name));
    if count != 1 {
        lines.push(format!("\"instance\": {count}"));
    }
    let scheduling = key("scheduling");
    match scheduling.and_then(text) {
        Some("other") => {}
        Some(word @ ("batch" | "idle")) => {
            lines.push(format!("\"policy\": \"SCHED_{}\"", word.to_uppercase()));
        }
        _ => match scheduling.map(entries).and_then(<[_]>::first) {
            Some(entry) => {
                lines.push(format!("\"policy\": \"SCHED_{}\"", entry.key.to_uppercase()));
                if entry.key == "deadline" {
                    let read = |name: &str| value(&entry.value, name).and_then(text).and_then(duration);
                    let (deadline, period) = (read("deadline"), read("period"));
                    let all = [
                        ("runtime", read("runtime")),
                        ("deadline", deadline.or(period)),
                        ("period", period.or(deadline)),
                    ];
                    for (name, ns) in all.into_iter().filter_map(|(name, ns)| Some((name, ns?))) {
                        lines.push(format!("\"dl-{name}\": {}", ns / 1_000));
                    }
                    return lines;
                }
                let priority = text(&entry.value).unwrap_or("10");
                lines.push(format!("\"priority\": {priority}"));
            }
            None if scheduling.is_some() => {
                thread.notes.left_out(thread.place.clone(), "a scheduling policy for each rank");
            }
            None => {}
        },
    }
    match key("nice").map(|node| text(node).and_then(|nice| nice.parse::<i64>().ok())) {
        Some(Some(nice)) => lines.push(format!("\"priority\": {nice}")),
        Some(None) => thread.notes.left_out(thread.place.clone(), "a nice value for each rank"),
        None => {}
    }
    if let Some(slice) = key("slice").and_then(text).and_then(duration) {
        lines.push(format!("\"dl-runtime\": {}", slice / 1_000));
    }
    if let Some(node) = key("cpus") {
        match cpus(node) {
            Some(list) => lines.push(format!("\"cpus\": [{list}]")),
            None => thread.notes.left_out(thread.place.clone(), "a list of cpus in a form that is not known"),
        }
    }
    if let Some(group) = text_of(app, "cgroup") {
        lines.push(format!("\"taskgroup\": \"/{group}\""));
    }
    for name in ["deadline", "runtime", "requests"] {
        if key(name).is_some() {
            thread.notes.left_out(thread.place.clone(), format!("`{name}`: rt-app does not have it"));
        }
    }
    lines
}

/// A list of cpus as numbers with commas.
fn cpus(node: &Node) -> Option<String> {
    let joined = match &node.content {
        notation::yaml::Content::List(items) => {
            items.iter().map(text).collect::<Option<Vec<&str>>>()?.join(",")
        }
        _ => text(node)?.trim_start_matches("linux:").to_owned(),
    };
    let numbers = units::cpus(&joined, crate::page::MOST_CORES)?;
    Some(numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
}

impl Thread<'_> {
    /// The thread as JSON; none when it has no event, which rt-app refuses.
    fn written(mut self, code: &[Statement], mut lines: Vec<String>, start: u64) -> Option<String> {
        self.delay = start;
        let mut body = code;
        // A sleep before a loop is the delay of the thread.
        if let [first, rest @ ..] = code
            && let ["sleep", time] = &words(first)[..]
            && let Some(ns) = duration(time)
            && rest.len() == 1
            && rest[0].block.is_some()
        {
            self.delay += ns;
            body = rest;
        }
        if self.delay > 0 {
            let delay = self.micros(self.delay);
            lines.push(format!("\"delay\": {delay}"));
        }
        let (times, inner) = match body {
            [only] => match (&words(only)[..], &only.block) {
                (["forever"], Some(inner)) => (-1, &inner[..]),
                (["repeat", times], Some(inner)) if inner.iter().any(|s| s.block.is_some()) => {
                    (times.parse().unwrap_or(1), &inner[..])
                }
                _ => (1, body),
            },
            _ => (1, body),
        };
        self.block(inner, 0);
        self.carried(times != 1);
        if self.phases.is_empty() {
            self.notes.left_out(self.place.clone(), "a thread without an event that rt-app has");
            return None;
        }
        let indent = "      ";
        let phases: Vec<String> = self
            .phases
            .iter()
            .enumerate()
            .map(|(number, phase)| {
                let mut all = vec![format!("\"loop\": {}", phase.times)];
                all.extend(phase.properties.iter().map(|(key, json)| format!("\"{key}\": {json}")));
                all.extend(phase.events.iter().cloned());
                let inside = all.join(&format!(",\n{indent}    "));
                format!("{indent}  \"phase{number}\": {{\n{indent}    {inside}\n{indent}  }}")
            })
            .collect();
        lines.insert(0, format!("\"loop\": {times}"));
        lines.push(format!("\"phases\": {{\n{}\n{indent}}}", phases.join(",\n")));
        let inside = lines.join(&format!(",\n{indent}"));
        Some(format!("    \"{}\": {{\n{indent}{inside}\n    }}", self.name))
    }

    /// Moves the properties of phases without an event, which rt-app refuses, to the next one with some.
    fn carried(&mut self, loops: bool) {
        let mut waiting = Phase::default();
        let mut kept: Vec<Phase> = Vec::new();
        for mut phase in std::mem::take(&mut self.phases) {
            for (key, json) in std::mem::take(&mut phase.properties) {
                waiting.set(key, json);
            }
            if !phase.events.is_empty() {
                phase.properties = std::mem::take(&mut waiting.properties);
                kept.push(phase);
            }
        }
        if !waiting.properties.is_empty() && loops {
            let what = "`nice` or `cpus` at the end of a loop, which act from its second pass on";
            self.notes.left_out(self.place.clone(), what);
        }
        self.phases = kept;
    }

    /// A time in whole us.
    fn micros(&mut self, ns: u64) -> u64 {
        if !ns.is_multiple_of(1_000) {
            self.notes.differs(self.place.clone(), "rt-app counts whole us: rounded up");
        }
        let us = ns.div_ceil(1_000);
        if us > LONGEST_US {
            self.notes.left_out(self.place.clone(), "a time above 2,147 s: rt-app has no longer ones");
        }
        us.min(LONGEST_US)
    }

    /// Adds statements as phases: a loop is one, what stands between loops is one.
    fn block(&mut self, block: &[Statement], depth: usize) {
        let mut plain = Phase { times: 1, ..Phase::default() };
        for statement in block {
            let words = words(statement);
            let Some(inner) = &statement.block else {
                if matches!(words[0], "nice" | "cpus") {
                    // Properties are set at the beginning of a phase.
                    self.phases.push(std::mem::replace(&mut plain, Phase { times: 1, ..Phase::default() }));
                }
                self.event(&words, &mut plain);
                continue;
            };
            self.phases.push(std::mem::replace(&mut plain, Phase { times: 1, ..Phase::default() }));
            let times = match &words[..] {
                ["forever"] => -1,
                ["repeat", times] => times.parse().unwrap_or(1),
                _ => {
                    let what = format!("`{}`: rt-app has no such block", words[0]);
                    self.notes.left_out(self.place.clone(), what);
                    continue;
                }
            };
            self.repeated(inner, times, depth);
        }
        self.phases.push(plain);
    }

    fn repeated(&mut self, inner: &[Statement], times: i64, depth: usize) {
        let simple = inner.iter().all(|s| s.block.is_none() && !matches!(words(s)[0], "nice" | "cpus"));
        if simple {
            let mut phase = Phase { times, ..Phase::default() };
            inner.iter().for_each(|statement| self.event(&words(statement), &mut phase));
            self.phases.push(phase);
            return;
        }
        let size = inner.len().saturating_mul(usize::try_from(times).unwrap_or(usize::MAX));
        if depth > 8 || self.events.saturating_add(size) > MOST_EVENTS {
            self.notes.left_out(self.place.clone(), "loops inside loops: a phase has no phases");
            return;
        }
        (0..times).for_each(|_| self.block(inner, depth + 1));
    }

    /// A statement as an event; each key of a phase has its number.
    fn event(&mut self, words: &[&str], phase: &mut Phase) {
        self.events += 1;
        let number = phase.events.len();
        let mut push = |event: &str, json: String| phase.events.push(format!("\"{event}{number}\": {json}"));
        let names = self.names;
        let name = |name: &str| format!("\"{}\"", names.object(name));
        match words {
            [word @ ("run" | "sleep"), time, rest @ ..] => {
                let Some(ns) = duration(time) else {
                    let what = "a length that is no number";
                    return self.notes.left_out(self.place.clone(), what);
                };
                push(word, self.micros(ns).to_string());
                if !rest.is_empty() {
                    self.notes
                        .left_out(self.place.clone(), "variation and memory of lengths: the mean is taken");
                }
            }
            ["lock", lock] => push("lock", name(lock)),
            ["unlock", lock] => push("unlock", name(lock)),
            ["wait", condition, "with", lock] => {
                push("wait", format!("{{ \"ref\": {}, \"mutex\": {} }}", name(condition), name(lock)));
            }
            ["signal", condition] => push("signal", name(condition)),
            ["broadcast", condition] => push("broad", name(condition)),
            ["acquire", semaphore] => push("sem_wait", name(semaphore)),
            ["release", semaphore] => push("sem_post", name(semaphore)),
            ["barrier", barrier] => {
                push("barrier", name(barrier));
                if !self.barriers.insert((*barrier).to_owned()) {
                    let what = "a barrier that a thread names several times: rt-app waits once for each";
                    self.notes.left_out(self.place.clone(), what);
                }
            }
            // Each place where all tasks of a kind meet is a barrier of its own.
            ["barrier"] => {
                push("barrier", format!("\"{}-barrier{}\"", self.name, self.events));
            }
            ["yield"] => push("yield", "\"\"".to_owned()),
            ["fork", kind] => push("fork", format!("\"{}\"", names.kind(kind))),
            ["nice", nice] => phase.set("priority", (*nice).to_owned()),
            ["cpus", list] => match units::cpus(list.trim_start_matches("linux:"), crate::page::MOST_CORES) {
                Some(cpus) => {
                    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
                    phase.set("cpus", format!("[{}]", cpus.join(", ")));
                }
                None => self.notes.left_out(self.place.clone(), "a list of cpus in a form that is not known"),
            },
            ["until", period, rest @ ..] => {
                let event = self.timer(period, rest);
                phase.events.push(format!("\"timer{number}\": {event}"));
            }
            [word @ ("signal" | "acquire" | "release" | "fork"), object, count] => {
                let times = count.parse().unwrap_or(1_usize).min(MOST_EVENTS);
                (0..times).for_each(|_| self.event(&[word, object], phase));
            }
            _ => {
                let what =
                    format!("`{}`: rt-app has no such event", words.first().copied().unwrap_or_default());
                self.notes.left_out(self.place.clone(), what);
            }
        }
    }

    /// `until` as a timer in absolute mode, whose first instant is its period after the start.
    fn timer(&mut self, period: &str, rest: &[&str]) -> String {
        let mut words = rest.iter().copied();
        let (mut clock, mut first) = ("clock".to_owned(), 0);
        while let Some(word) = words.next() {
            match word {
                "from" => first = words.next().and_then(duration).unwrap_or(0),
                "clock" => words.next().unwrap_or_default().clone_into(&mut clock),
                "skip" => {
                    self.notes.left_out(self.place.clone(), "`skip`: rt-app catches up with late instants");
                }
                _ => {}
            }
        }
        let ns = duration(period).unwrap_or(0);
        if first != ns.saturating_add(self.delay) {
            let what = "the first instant of a timer is one period after the start";
            self.notes.differs(self.place.clone(), what);
        }
        // A name with this beginning is a timer of each thread.
        let unique = if clock.starts_with("unique") { clock } else { format!("unique-{clock}") };
        let period = self.micros(ns);
        format!("{{ \"ref\": \"{unique}\", \"period\": {period}, \"mode\": \"absolute\" }}")
    }
}

/// The words of a statement; at least one.
fn words(statement: &Statement) -> Vec<&str> {
    let words: Vec<&str> = statement.words.iter().map(String::as_str).collect();
    if words.is_empty() { vec![""] } else { words }
}
