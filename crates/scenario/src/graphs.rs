//! Graphs of jobs: from the keys of a program to what the compiler takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use notation::yaml::{Content, Entry, Node};
use sim_core::limits::MAX_JOBS;
use sim_core::program::{JobEnd, JobQueues, PoolRules};
use workloads::program::{self, GraphDraft, JobDraft, Name, Run, Shape};

use crate::Reader;
use crate::graph_keys::{GraphKeys, IndependentKeys, JobKeys, SHAPES, TreeKeys, WavefrontKeys};
use crate::key::names;
use crate::labels::name;
use crate::program_files::is_file;

/// Words with `$`, and what they stand for.
type Values = BTreeMap<String, String>;

/// Reads a graph of a program. What is wrong goes to the reader.
pub(crate) fn graph(reader: &mut Reader, name: &str, node: &Node, values: &Values) -> Option<GraphDraft> {
    let hint = "write `jobs: { a: { run: 5ms }, b: { run: 1ms, after: [a] } }`, \
                `tree: { depth: 5, run: 1ms }`, `wavefront: { rows: 8, run: 1ms }` or \
                `independent: { count: 100, run: 1ms }`";
    if is_unread(reader, node) {
        return None;
    }
    reader.mapping(node, &format!("the graph `{name}`"), &names(GraphKeys::KEYS))?;
    let shapes = names(GraphKeys::KEYS);
    if shapes.iter().take(SHAPES).filter(|shape| node.get(shape).is_some()).count() != 1 {
        reader.wrong_node(node, format!("the graph `{name}` says in one way which jobs it has"), hint);
        return None;
    }
    let written = GraphKeys::of(node);
    let shape = if let Some(list) = written.jobs.node() {
        jobs(reader, list, values)
    } else if let Some(of) = written.tree.node() {
        tree(reader, of, values)
    } else if let Some(of) = written.wavefront.node() {
        wavefront(reader, of, values)
    } else {
        independent(reader, written.independent.node()?, values)
    };
    let (queues, own, steal) =
        (written.queues.given(reader), written.own.given(reader), written.steal.given(reader));
    let (victims, roots) = (written.victims.given(reader), written.roots.given(reader));
    let queues = queues?.unwrap_or(PoolRules::STEALING.queues);
    let usual = if queues == JobQueues::One { PoolRules::SHARED } else { PoolRules::STEALING };
    if queues == JobQueues::One {
        let useless = [written.steal.place(), written.victims.place(), written.roots.place()];
        if let Some(place) = useless.into_iter().flatten().next() {
            let hint = "leave it out, or write `queues: own`";
            reader.wrong_with_hint(place, "with one queue nobody has jobs of its own", hint);
            return None;
        }
    }
    let or = |end: Option<Option<JobEnd>>, usual| end.map(|end| end.unwrap_or(usual));
    let rules = PoolRules {
        queues,
        own: or(own, usual.own)?,
        steal: or(steal, usual.steal)?,
        victims: victims?.unwrap_or(usual.victims),
        roots: roots?.unwrap_or(usual.roots),
    };
    Some(GraphDraft { shape: shape?, rules })
}

/// A file that cannot be read is an error already.
fn is_unread(reader: &Reader, node: &Node) -> bool {
    matches!(&node.content, Content::Scalar(text) if is_file(text)) && !reader.is_clean()
}

fn run(reader: &mut Reader, node: &Node, values: &Values) -> Option<Run> {
    let sources = Arc::clone(&reader.context.sources);
    program::run(reader, node, sources.whole(node.place.source), values)
}

/// Work that has to be there.
fn required(reader: &mut Reader, whole: &Node, own: Option<&Node>, values: &Values) -> Option<Run> {
    if own.is_none() {
        reader.wrong_with_hint(whole.start(), "the work of each job is missing", "add `run: 1ms`");
    }
    run(reader, own?, values)
}

fn given(reader: &mut Reader, own: Option<&Node>, values: &Values) -> Option<Option<Run>> {
    match own {
        Some(node) => run(reader, node, values).map(Some),
        None => Some(None),
    }
}

/// A count that has to be there.
fn counted(reader: &mut Reader, whole: &Node, count: Option<Option<u64>>, name: &str) -> Option<u32> {
    let count = count?;
    if count.is_none() {
        reader.wrong_with_hint(whole.start(), format!("`{name}` is missing"), format!("add `{name}: 8`"));
    }
    count.map(|count| count as u32)
}

fn tree(reader: &mut Reader, node: &Node, values: &Values) -> Option<Shape> {
    reader.mapping(node, "a tree of jobs", &names(TreeKeys::KEYS))?;
    let written = TreeKeys::of(node);
    let (depth, fan) = (written.depth.given(reader), written.fan.given(reader));
    let depth = counted(reader, node, depth, "depth");
    let work = required(reader, node, written.run.node(), values);
    let fork = given(reader, written.fork.node(), values);
    let join = given(reader, written.join.node(), values);
    let fan = fan?.unwrap_or(2) as u32;
    let (fork, join) = (fork?.map(Box::new), join?.map(Box::new));
    Some(Shape::Tree { depth: depth?, fan, fork, run: work?, join })
}

fn wavefront(reader: &mut Reader, node: &Node, values: &Values) -> Option<Shape> {
    reader.mapping(node, "a grid of jobs", &names(WavefrontKeys::KEYS))?;
    let written = WavefrontKeys::of(node);
    let (rows, columns) = (written.rows.given(reader), written.columns.given(reader));
    let rows = counted(reader, node, rows, "rows");
    let work = required(reader, node, written.run.node(), values);
    let (rows, columns) = (rows?, columns?);
    Some(Shape::Wavefront { rows, columns: columns.map_or(rows, |columns| columns as u32), run: work? })
}

fn independent(reader: &mut Reader, node: &Node, values: &Values) -> Option<Shape> {
    reader.mapping(node, "jobs that come after none", &names(IndependentKeys::KEYS))?;
    let written = IndependentKeys::of(node);
    let count = written.count.given(reader);
    let count = counted(reader, node, count, "count");
    let work = required(reader, node, written.run.node(), values);
    Some(Shape::Independent { count: count?, run: work? })
}

/// Jobs by name.
fn jobs(reader: &mut Reader, node: &Node, values: &Values) -> Option<Shape> {
    if is_unread(reader, node) {
        return None;
    }
    let Content::Map(entries) = &node.content else {
        let hint = "write `jobs: { a: { run: 5ms } }`, or the path of a file that ends in .yaml or .json";
        reader.wrong_node(node, format!("`jobs` must be a mapping, not {}", node.what()), hint);
        return None;
    };
    if entries.len() > MAX_JOBS {
        reader.wrong_node(node, format!("a graph has at most {MAX_JOBS} jobs"), "");
        return None;
    }
    let each: Vec<_> = entries.iter().map(|entry| job(reader, entry, values)).collect();
    each.into_iter().collect::<Option<_>>().map(Shape::Jobs)
}

fn job(reader: &mut Reader, entry: &Entry, values: &Values) -> Option<JobDraft> {
    let name = name(reader, entry)?;
    let node = &entry.value;
    reader.mapping(node, &format!("the job `{}`", entry.key), &names(JobKeys::KEYS))?;
    let written = JobKeys::of(node);
    let run = given(reader, written.run.node(), values);
    let mut before = |node: &Node| {
        let text = reader.text(node, "the name of a job")?;
        Some(Name { text: text.to_owned(), place: node.place })
    };
    let after: Vec<_> = match written.after.node() {
        None => Vec::new(),
        Some(Node { content: Content::List(items), .. }) => items.iter().map(&mut before).collect(),
        Some(one) => vec![before(one)],
    };
    let after: Option<Vec<Name>> = after.into_iter().collect();
    Some(JobDraft { name, run: run?, after: after? })
}
