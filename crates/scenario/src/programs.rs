//! Programs that scenarios write themselves: from their keys to what the compiler takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use notation::diagnostics::Place;
use notation::parameter::{Kind, Values};
use notation::yaml::{Content, Entry, Node};
use sim_core::limits::MAX_TASKS;
use sim_core::machine::CpuSet;
use sim_core::program::{Arrivals, MemoryProfile};
use sim_core::time::Span;
use workloads::LOCK_KINDS;
use workloads::program::{
    self, Block, Draft, Feed, KindDraft, LockForm, MOST_KINDS, MOST_NAMES, Name, QueueForm, RuntimeForm,
};
use workloads::runtimes::{MessageRules, RUNTIMES};

use crate::Reader;
use crate::forms::Runtime;
use crate::graphs::graph;
use crate::key::{Value, names};
use crate::labels::name;
use crate::limits::MAX_HORIZON_NS;
use crate::program_files::is_file;
use crate::program_keys::{
    BurstKeys, FeedKeys, KindKeys, LockKeys, MOST_SERVERS, MOST_UNITS, PROGRAM, ProgramKeys, QueueKeys, SORTS,
};
use crate::registries::{self, Selected};

/// Mean interval of bursts in lengths of their state: beyond it most states pass without a request, and
/// drawing them would take for ever.
const RARE: u64 = 10_000;

/// The names of the applications that the kinds of a program are: `app-kind`, or `app` for a single kind.
pub(crate) fn names_of(app: &str, program: &Node) -> Vec<String> {
    let kinds = program.get("kinds").map_or(&[][..], |entry| entry.value.entries());
    match kinds {
        [] | [_] => vec![app.to_owned()],
        _ => kinds.iter().map(|kind| format!("{app}-{}", kind.key)).collect(),
    }
}

/// Reads the program of an application, with its `runtime`. What is wrong goes to the reader.
pub(crate) fn draft(
    reader: &mut Reader,
    app: &str,
    node: &Node,
    copies: u32,
    (cpus, allowed): (u32, Option<CpuSet>),
    runtime: Option<&Node>,
) -> Option<Draft> {
    if let Content::Scalar(text) = &node.content {
        // A file that cannot be read is an error already.
        if is_file(text) && !reader.is_clean() {
            return None;
        }
        let hint = "write `program: { code: 'run 1s' }`, or the path of a file that ends in .yaml or .json";
        reader.wrong_node(node, format!("`{text}` is not a program"), hint);
        return None;
    }
    reader.mapping(node, "a program", &names(PROGRAM))?;
    let written = ProgramKeys::of(node);
    let values = values(reader, written.values.node())?;
    let code = |reader: &mut Reader, node: &Node| {
        let sources = Arc::clone(&reader.context.sources);
        program::parse(reader, node, sources.whole(node.place.source), &values)
    };
    let locks = named(reader, written.locks.node(), "`locks`", lock);
    let semaphores = named(reader, written.semaphores.node(), "`semaphores`", |reader, name, node| {
        units(reader, name, node, (0, MOST_UNITS))
    });
    let queues = named(reader, written.queues.node(), "`queues`", queue);
    let barriers = named(reader, written.barriers.node(), "`barriers`", |reader, name, node| {
        units(reader, name, node, (1, MOST_UNITS))
    });
    let devices = named(reader, written.devices.node(), "`devices`", |reader, name, node| {
        units(reader, name, node, (1, MOST_SERVERS))
    });
    let graphs = named(reader, written.graphs.node(), "`graphs`", |reader, name, node| {
        graph(reader, name, node, &values)
    });
    let tables = named(reader, written.tables.node(), "`tables`", spans);
    let arrivals = named(reader, written.arrivals.node(), "`arrivals`", feed);
    let runtimes = named(reader, written.runtimes.node(), "`runtimes`", own_runtime);
    let profiles = named(reader, written.profiles.node(), "`profiles`", profile);
    let sections = named(reader, written.sections.node(), "`sections`", |reader, _, node| code(reader, node));
    let shared = shared(reader, written.shared.node());
    let kinds = kinds(reader, (app, node), &written, runtime, &code);
    let parts = [written.kinds.node(), written.code.node(), written.sections.node(), written.graphs.node()];
    for name in values.keys().filter(|name| !parts.iter().flatten().any(|part| names_value(part, name))) {
        reader.remark(format!("the value `{name}` of `{app}` is declared and not used"));
    }
    Some(Draft {
        copies,
        cpus,
        allowed,
        locks: locks?,
        semaphores: semaphores?,
        queues: queues?,
        barriers: barriers?,
        devices: devices?,
        tables: tables?,
        graphs: graphs?,
        arrivals: arrivals?,
        profiles: profiles?,
        runtimes: runtimes?,
        sections: sections?,
        shared: shared?,
        kinds: kinds?,
        ..Draft::empty(app, node.place)
    })
}

/// Whether the code in a node has the word `$name`.
fn names_value(node: &Node, name: &str) -> bool {
    let is_it = |word: &str| word.strip_prefix('$') == Some(name);
    match &node.content {
        Content::Scalar(text) => {
            text.split(|c: char| c.is_whitespace() || matches!(c, ';' | '{' | '}')).any(is_it)
        }
        Content::List(items) => items.iter().any(|item| names_value(item, name)),
        Content::Map(entries) => entries.iter().any(|entry| names_value(&entry.value, name)),
        Content::Null => false,
    }
}

/// The node of the keys of a kind, by its position; none for the only kind of a program without `kinds`.
pub(crate) fn kind_node(program: &Node, at: usize) -> Option<&Node> {
    program.get("kinds")?.value.entries().get(at).map(|entry| &entry.value)
}

/// How the code of a node is read.
type Code<'a> = dyn Fn(&mut Reader, &Node) -> Option<Block> + 'a;

fn kinds(
    reader: &mut Reader,
    (app, node): (&str, &Node),
    written: &ProgramKeys<'_>,
    runtime: Option<&Node>,
    code: &Code<'_>,
) -> Option<Vec<KindDraft>> {
    let Some(kinds) = written.kinds.node() else {
        let Some(text) = written.code.node() else {
            let hint = "add `code: 'run 1s'`, or `kinds: { worker: { code: ... } }`";
            reader.wrong_with_hint(node.start(), format!("the program of `{app}` has no `code`"), hint);
            return None;
        };
        let name = Name { text: app.to_owned(), place: node.start() };
        let (count, threads) = (written.count.given(reader), written.threads.given(reader));
        let requests = written.requests.given(reader);
        let code = code(reader, text);
        let (count, threads) = tasks(reader, &name, count?, threads?)?;
        let messages = messages(reader, runtime);
        return Some(vec![KindDraft { name, count, threads, code: code?, messages, requests: requests? }]);
    };
    let beside =
        [written.count.place(), written.threads.place(), written.code.place(), written.requests.place()];
    if let Some(place) = beside.into_iter().flatten().next() {
        reader.wrong_with_hint(place, "this stands in one of the `kinds`", "move it there");
        return None;
    }
    let Content::Map(entries) = &kinds.content else {
        let hint = "write `kinds: { worker: { code: ... } }`";
        reader.wrong_node(kinds, format!("`kinds` must be a mapping, not {}", kinds.what()), hint);
        return None;
    };
    if entries.is_empty() || entries.len() > MOST_KINDS {
        reader.wrong_node(kinds, format!("a program has 1 to {MOST_KINDS} kinds of tasks"), "");
        return None;
    }
    let each: Vec<_> = entries.iter().map(|entry| kind(reader, entry, runtime, code)).collect();
    each.into_iter().collect()
}

fn kind(reader: &mut Reader, entry: &Entry, runtime: Option<&Node>, code: &Code<'_>) -> Option<KindDraft> {
    let name = name(reader, entry)?;
    reader.mapping(&entry.value, "a kind of tasks", &names(KindKeys::KEYS))?;
    let written = KindKeys::of(&entry.value);
    let (count, threads) = (written.count.given(reader), written.threads.given(reader));
    let requests = written.requests.given(reader);
    let Some(text) = written.code.node() else {
        reader.wrong_with_hint(
            entry.place,
            format!("the kind `{}` has no `code`", entry.key),
            "add `code: 'run 1s'`",
        );
        return None;
    };
    let code = code(reader, text);
    let (count, threads) = tasks(reader, &name, count?, threads?)?;
    let messages = messages(reader, written.runtime.node().or(runtime));
    Some(KindDraft { name, count, threads, code: code?, messages, requests: requests? })
}

/// How tasks of this runtime move messages. What is wrong with it is noted where the kind is made.
fn messages(reader: &Reader, runtime: Option<&Node>) -> MessageRules {
    let mut aside = Reader::new(reader.context.clone());
    let chosen = runtime.and_then(|runtime| Runtime::read(&mut aside, runtime, "`runtime`"));
    chosen.map_or(MessageRules::PLAIN, |of| MessageRules::of(&of.first.values))
}

/// The tasks of a kind, and the threads of each.
fn tasks(reader: &mut Reader, of: &Name, count: Option<u64>, threads: Option<u64>) -> Option<(u32, u32)> {
    let (count, threads) = (count.unwrap_or(1), threads.unwrap_or(1));
    if count.saturating_mul(threads) > MAX_TASKS {
        let message =
            format!("`{}` has {count} times {threads} tasks; at most {MAX_TASKS} are simulated", of.text);
        reader.wrong(of.place, message);
        return None;
    }
    Some((count as u32, threads as u32))
}

/// A runtime of single statements.
fn own_runtime(reader: &mut Reader, name: &str, node: &Node) -> Option<RuntimeForm> {
    let chosen = reader.chosen(node, &format!("the runtime `{name}`"), &[])?;
    let Selected { entry, values } = registries::entry(reader, &RUNTIMES, &chosen)?;
    Some(RuntimeForm { name: entry.name, values })
}

/// A mapping of names.
fn named<T>(
    reader: &mut Reader,
    node: Option<&Node>,
    what: &str,
    read: impl Fn(&mut Reader, &str, &Node) -> Option<T>,
) -> Option<Vec<(Name, T)>> {
    let Some(node) = node else { return Some(Vec::new()) };
    let Content::Map(entries) = &node.content else {
        reader.wrong_node(node, format!("{what} must be a mapping of names, not {}", node.what()), "");
        return None;
    };
    if entries.len() > MOST_NAMES {
        reader.wrong_node(node, format!("{what} has more than {MOST_NAMES} names"), "");
        return None;
    }
    let one = |entry: &Entry| {
        let value = read(reader, &entry.key, &entry.value);
        Some((name(reader, entry)?, value?))
    };
    let each: Vec<_> = entries.iter().map(one).collect();
    each.into_iter().collect()
}

/// The values that words with `$` stand for.
fn values(reader: &mut Reader, node: Option<&Node>) -> Option<BTreeMap<String, String>> {
    let read = named(reader, node, "`values`", |reader, name, node| {
        Some(reader.text(node, &format!("the value `{name}`"))?.trim().to_owned())
    })?;
    Some(read.into_iter().map(|(name, value)| (name.text, value)).collect())
}

fn lock(reader: &mut Reader, name: &str, node: &Node) -> Option<LockForm> {
    if matches!(node.content, Content::Map(_)) {
        reader.mapping(node, &format!("the lock `{name}`"), &names(LockKeys::KEYS))?;
        let ceiling = LockKeys::of(node).ceiling.given(reader)?;
        if ceiling.is_none() {
            reader.wrong_node(node, format!("the lock `{name}` has no ceiling"), "write `{ ceiling: 30 }`");
        }
        return ceiling.map(|ceiling| LockForm::Ceiling(ceiling as u8));
    }
    let text = reader.text(node, &format!("the lock `{name}`"))?;
    let at = LOCK_KINDS.iter().position(|kind| kind.name == text);
    if at.is_none() {
        let known: Vec<&str> = LOCK_KINDS.iter().map(|kind| kind.name).collect();
        reader.unknown(node.place, "kind of lock", text, &known);
    }
    at.map(LockForm::Kind)
}

fn units(reader: &mut Reader, name: &str, node: &Node, (least, most): (u64, u64)) -> Option<u32> {
    reader.value(node, &format!("`{name}`"), Kind::Count, least, most).map(|units| units as u32)
}

fn queue(reader: &mut Reader, _: &str, node: &Node) -> Option<QueueForm> {
    if node.content == Content::Null {
        return Some(QueueForm::default());
    }
    reader.mapping(node, "a queue", &names(QueueKeys::KEYS))?;
    let written = QueueKeys::of(node);
    let (places, copy) = (written.places.given(reader), written.copy.given(reader));
    Some(QueueForm { places: places?.map(|places| places as u32), copy: copy?.unwrap_or(Span::ZERO) })
}

/// A list of lengths.
fn spans(reader: &mut Reader, name: &str, node: &Node) -> Option<Vec<Span>> {
    let Content::List(items) = &node.content else {
        let hint = "write `[1ms, 2ms, 20ms]`";
        reader.wrong_node(node, format!("`{name}` must be a list of lengths, not {}", node.what()), hint);
        return None;
    };
    let what = format!("a length of `{name}`");
    let each = items.iter().map(|item| reader.value(item, &what, Kind::Duration, 0, MAX_HORIZON_NS));
    let each: Vec<_> = each.collect();
    each.into_iter().map(|ns| ns.map(Span::from_ns)).collect()
}

/// What feeds a queue.
fn feed(reader: &mut Reader, name: &str, node: &Node) -> Option<Feed> {
    let hint = "write `{ every: 10ms }`, `{ mean: 10ms }`, `{ bursts: ... }` or `{ at: [0s, 5ms] }`";
    reader.mapping(node, &format!("what feeds `{name}`"), &names(FeedKeys::KEYS))?;
    let sorts = names(FeedKeys::KEYS);
    let chosen = sorts.iter().take(SORTS).filter(|sort| node.get(sort).is_some()).count();
    if chosen != 1 {
        reader.wrong_node(node, format!("what feeds `{name}` says in one way when requests come"), hint);
        return None;
    }
    let written = FeedKeys::of(node);
    let (start, count) = (written.start.given(reader), written.count.given(reader));
    let arrivals = if written.every.node().is_some() {
        written.every.given(reader)?.map(Arrivals::Every)
    } else if written.mean.node().is_some() {
        written.mean.given(reader)?.map(Arrivals::Random)
    } else if let Some(bursts) = written.bursts.node() {
        Some(self::bursts(reader, bursts)?)
    } else {
        let at = written.at.node()?;
        let list = spans(reader, "at", at)?;
        if !list.is_sorted() {
            reader.wrong_node(at, "the times of requests are in ascending order", "");
            return None;
        }
        Some(Arrivals::At(list.into()))
    };
    Some(Feed { arrivals: arrivals?, start: start?.unwrap_or(Span::ZERO), most: count?.unwrap_or(u64::MAX) })
}

fn bursts(reader: &mut Reader, node: &Node) -> Option<Arrivals> {
    reader.mapping(node, "`bursts`", &names(BurstKeys::KEYS))?;
    let written = BurstKeys::of(node);
    let mut two = |list: Option<&Node>, name: &str| {
        let read = list.map(|list| spans(reader, name, list));
        match read.flatten().as_deref() {
            Some([one, other]) if *one > Span::ZERO && *other > Span::ZERO => Some([*one, *other]),
            _ => {
                let place = list.unwrap_or(node);
                let hint = "write `bursts: { means: [10ms, 1ms], last: [1s, 100ms] }`";
                reader.wrong_node(place, format!("`{name}` has two lengths above 0"), hint);
                None
            }
        }
    };
    let (mean, lasts) = (two(written.means.node(), "means"), two(written.last.node(), "last"));
    let (mean, lasts) = (mean?, lasts?);
    let often = mean.iter().zip(&lasts).any(|(mean, last)| mean.ns() / RARE < last.ns());
    if !often {
        let message = format!("hardly any request comes: no mean interval is below {RARE} times its `last`");
        reader.wrong_with_hint(node.start(), message, "use a shorter mean interval, or a longer `last`");
        return None;
    }
    Some(Arrivals::Bursts { mean, lasts })
}

fn profile(reader: &mut Reader, name: &str, node: &Node) -> Option<MemoryProfile> {
    let mut values = Values::defaults(program::PROFILE);
    if !matches!(node.content, Content::Map(_)) {
        let hint = "write `{ demand: 2GB/s, working_set: 64MiB }`";
        reader.wrong_node(node, format!("the profile `{name}` must be a mapping, not {}", node.what()), hint);
        return None;
    }
    reader.parameters(&format!("the profile `{name}`"), &mut values, node.entries());
    Some(program::profile(&values))
}

fn shared(reader: &mut Reader, node: Option<&Node>) -> Option<Vec<Name>> {
    let Some(node) = node else { return Some(Vec::new()) };
    let Content::List(items) = &node.content else {
        reader.wrong_node(node, "`shared` is a list of names", "write `shared: [jobs]`");
        return None;
    };
    let one = |item: &Node| {
        let text = reader.text(item, "a shared name")?;
        Some(Name { text: text.to_owned(), place: item.place })
    };
    let each: Vec<_> = items.iter().map(one).collect();
    each.into_iter().collect()
}

/// A place in the program of an application, for errors about all of it.
pub(crate) fn place(node: Option<&Node>) -> Place {
    node.map_or(Place::NONE, Node::start)
}
