//! Graphs of jobs as written, and the jobs that they are.

use notation::reader::Reader;
use notation::suggest::advice;
use sim_core::limits::MAX_JOBS;
use sim_core::program::PoolRules;

use super::tree::{Name, Run};

/// The most names in a message.
const FEW: usize = 8;

/// A graph of jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphDraft {
    /// Its jobs.
    pub shape: Shape,
    /// Who gets which.
    pub rules: PoolRules,
}

/// The jobs of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Each by its name.
    Jobs(Vec<JobDraft>),
    /// A complete tree of forks and joins.
    Tree {
        /// Forks on the way to a leaf, at least 1.
        depth: u32,
        /// Branches of each fork, at least 1.
        fan: u32,
        /// Work before the branches of each fork, if there is some.
        fork: Option<Box<Run>>,
        /// Work of each leaf.
        run: Run,
        /// Work after the branches of each fork, if there is some.
        join: Option<Box<Run>>,
    },
    /// A grid: each job comes after those above it and to its left.
    Wavefront {
        /// Rows, at least 1.
        rows: u32,
        /// Columns, at least 1.
        columns: u32,
        /// Work of each job.
        run: Run,
    },
    /// Jobs that come after none.
    Independent {
        /// How many, at least 1.
        count: u32,
        /// Work of each.
        run: Run,
    },
}

/// A job with a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobDraft {
    /// Its name.
    pub name: Name,
    /// Its work, if it has some.
    pub run: Option<Run>,
    /// Those that it comes after.
    pub after: Vec<Name>,
}

/// The jobs of a graph by their numbers: the work of each, and those that come after it.
pub(super) type Jobs<'a> = Vec<(Option<&'a Run>, Vec<u32>)>;

impl GraphDraft {
    /// All work that it names.
    pub(super) fn runs(&self) -> Vec<&Run> {
        match &self.shape {
            Shape::Jobs(list) => list.iter().filter_map(|job| job.run.as_ref()).collect(),
            Shape::Tree { fork, run, join, .. } => {
                fork.as_deref().into_iter().chain([run]).chain(join.as_deref()).collect()
            }
            Shape::Wavefront { run, .. } | Shape::Independent { run, .. } => vec![run],
        }
    }

    /// Its jobs; what is wrong goes to the reader.
    pub(super) fn jobs<C>(&self, reader: &mut Reader<C>, of: &Name) -> Option<Jobs<'_>> {
        match &self.shape {
            Shape::Jobs(list) => named(reader, of, list),
            Shape::Tree { depth, fan, fork, run, join } => {
                let [fork, join] = [fork.as_deref(), join.as_deref()];
                let (forks, leaves) = tree_size(*depth, *fan);
                enough(reader, of, forks.saturating_mul(2).saturating_add(leaves))?;
                Some(tree((*depth, *fan), fork, run, join))
            }
            Shape::Wavefront { rows, columns, run } => {
                enough(reader, of, u64::from(*rows) * u64::from(*columns))?;
                Some(wavefront(*rows, *columns, run))
            }
            Shape::Independent { count, run } => {
                enough(reader, of, u64::from(*count))?;
                Some(vec![(Some(run), Vec::new()); *count as usize])
            }
        }
    }
}

fn enough<C>(reader: &mut Reader<C>, of: &Name, jobs: u64) -> Option<()> {
    if jobs <= MAX_JOBS as u64 {
        return Some(());
    }
    let message = format!("a graph has at most {MAX_JOBS} jobs, `{}` has {jobs}", of.text);
    reader.wrong_with_hint(of.place, message, "make it smaller, and repeat it: `repeat 10 { work ... }`");
    None
}

/// Forks and leaves of a complete tree.
fn tree_size(depth: u32, fan: u32) -> (u64, u64) {
    let (mut forks, mut level) = (0_u64, 1_u64);
    for _ in 0..depth {
        forks = forks.saturating_add(level);
        level = level.saturating_mul(fan.into());
    }
    (forks, level)
}

/// Each fork is two jobs: one before its branches, one after them. Level by level: first the jobs before the
/// branches, then the leaves, then the jobs after the branches, in the order of the first ones.
fn tree<'a>(
    (depth, fan): (u32, u32),
    fork: Option<&'a Run>,
    run: &'a Run,
    join: Option<&'a Run>,
) -> Jobs<'a> {
    let (forks, leaves) = tree_size(depth, fan);
    let (forks, leaves, fan) = (forks as u32, leaves as u32, fan);
    // Nodes count from the root on; the branches of node n are n * fan + 1 and the following.
    let join_of = |node: u32| forks + leaves + node;
    let up = |node: u32| node.checked_sub(1).map(|node| join_of(node / fan));
    let mut jobs: Jobs<'a> = Vec::with_capacity((2 * forks + leaves) as usize);
    for node in 0..forks + leaves {
        if node < forks {
            jobs.push((fork, (node * fan + 1..=node * fan + fan).collect()));
        } else {
            jobs.push((Some(run), up(node).into_iter().collect()));
        }
    }
    jobs.extend((0..forks).map(|node| (join, up(node).into_iter().collect())));
    jobs
}

fn wavefront(rows: u32, columns: u32, run: &Run) -> Jobs<'_> {
    let job = |at: u32| {
        let (row, column) = (at / columns, at % columns);
        let right = (column + 1 < columns).then_some(at + 1);
        let below = (row + 1 < rows).then_some(at + columns);
        (Some(run), right.into_iter().chain(below).collect())
    };
    (0..rows * columns).map(job).collect()
}

fn named<'a, C>(reader: &mut Reader<C>, of: &Name, list: &'a [JobDraft]) -> Option<Jobs<'a>> {
    enough(reader, of, list.len() as u64)?;
    let numbers: std::collections::BTreeMap<&str, usize> =
        list.iter().enumerate().map(|(at, job)| (job.name.text.as_str(), at)).collect();
    let mut jobs: Jobs<'a> = list.iter().map(|job| (job.run.as_ref(), Vec::new())).collect();
    let mut sound = true;
    for (at, job) in list.iter().enumerate() {
        for (nth, before) in job.after.iter().enumerate() {
            let text = before.text.as_str();
            let (message, hint) = match numbers.get(text) {
                _ if job.after.iter().take(nth).any(|other| other.text == text) => (
                    format!("`{}` comes after `{text}` twice", job.name.text),
                    "leave out one of them".into(),
                ),
                Some(number) => {
                    jobs[*number].1.push(at as u32);
                    continue;
                }
                None => {
                    let known: Vec<&str> = list.iter().map(|job| job.name.text.as_str()).collect();
                    (format!("unknown job `{text}`"), advice(text, &known))
                }
            };
            reader.wrong_with_hint(before.place, message, hint);
            sound = false;
        }
    }
    if let Some(circle) = circle(&jobs).filter(|_| sound) {
        let names = circle.iter().take(FEW).filter_map(|at| list.get(*at));
        let names: Vec<String> = names.map(|job| format!("`{}`", job.name.text)).collect();
        let more = if circle.len() > FEW { ", and so on" } else { "" };
        let message = match names.as_slice() {
            [one] => format!("the job {one} comes after itself"),
            all => format!(
                "each of these jobs comes after the next one, and the last one after the first: {}{more}",
                all.join(", ")
            ),
        };
        let place = circle.first().and_then(|at| list.get(*at)).map_or(of.place, |job| job.name.place);
        reader.wrong_with_hint(place, message, "take one of them out of an `after`");
        sound = false;
    }
    sound.then_some(jobs)
}

/// Jobs of which each comes after the next one, and the last one after the first, if there are any.
fn circle(jobs: &Jobs<'_>) -> Option<Vec<usize>> {
    let mut before = vec![Vec::new(); jobs.len()];
    for (at, (_, next)) in jobs.iter().enumerate() {
        next.iter().for_each(|job| before[*job as usize].push(at));
    }
    let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut ready: Vec<usize> = (0..jobs.len()).filter(|at| missing[*at] == 0).collect();
    while let Some(at) = ready.pop() {
        for next in jobs[at].1.iter().map(|job| *job as usize) {
            missing[next] -= 1;
            if missing[next] == 0 {
                ready.push(next);
            }
        }
    }
    // Each job that is left waits for another one that is left.
    let mut at = (0..jobs.len()).find(|at| missing[*at] > 0)?;
    let mut way: Vec<usize> = Vec::new();
    let mut seen = vec![usize::MAX; jobs.len()];
    while seen[at] == usize::MAX {
        seen[at] = way.len();
        way.push(at);
        at = before[at].iter().copied().find(|other| missing[*other] > 0)?;
    }
    Some(way.split_off(seen[at]))
}

#[cfg(test)]
mod tests {
    use notation::diagnostics::Place;
    use sim_core::time::Span;

    use super::super::tree::{Length, Vary};
    use super::*;

    fn run(ms: u64) -> Run {
        let length = Length::Mean(Span::from_ms(ms), Vary::Fixed);
        Run { length, profile: None, place: Place::NONE }
    }

    fn name(text: &str) -> Name {
        Name { text: text.to_owned(), place: Place::NONE }
    }

    fn next(shape: Shape) -> Result<Vec<Vec<u32>>, String> {
        let mut reader: Reader = Reader::new(());
        let graph = GraphDraft { shape, rules: PoolRules::STEALING };
        let jobs =
            graph.jobs(&mut reader, &name("g")).map(|jobs| jobs.into_iter().map(|(_, next)| next).collect());
        jobs.ok_or_else(|| {
            let said = reader.problems();
            said.iter().map(|problem| format!("{}: {}", problem.message, problem.hint)).collect()
        })
    }

    fn jobs(all: &[(&str, &[&str])]) -> Result<Vec<Vec<u32>>, String> {
        let job = |(own, after): &(&str, &[&str])| JobDraft {
            name: name(own),
            run: Some(run(1)),
            after: after.iter().map(|text| name(text)).collect(),
        };
        next(Shape::Jobs(all.iter().map(job).collect()))
    }

    #[test]
    fn shapes_are_what_they_say() {
        let tree = |depth, fan| {
            next(Shape::Tree { depth, fan, fork: None, run: run(1), join: Some(Box::new(run(2))) })
        };
        // A fork with three leaves and its join.
        assert_eq!(tree(1, 3).unwrap(), [vec![1, 2, 3], vec![4], vec![4], vec![4], vec![]]);
        let two = tree(2, 2).unwrap();
        assert_eq!(
            two,
            [
                vec![1, 2],
                vec![3, 4],
                vec![5, 6],
                vec![8],
                vec![8],
                vec![9],
                vec![9],
                vec![],
                vec![7],
                vec![7]
            ]
        );
        let grid = next(Shape::Wavefront { rows: 2, columns: 3, run: run(1) }).unwrap();
        assert_eq!(grid, [vec![1, 3], vec![2, 4], vec![5], vec![4], vec![5], vec![]]);
        assert_eq!(next(Shape::Independent { count: 3, run: run(1) }).unwrap(), vec![Vec::new(); 3]);
        assert!(tree(32, 2).unwrap_err().starts_with("a graph has at most 1048576 jobs, `g` has"));
        assert!(tree(64, 1 << 20).is_err());
        assert!(next(Shape::Independent { count: 1 << 21, run: run(1) }).is_err());
    }

    #[test]
    fn jobs_come_after_others_by_their_names() {
        let found = jobs(&[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])]).unwrap();
        assert_eq!(found, [vec![1, 2], vec![2], vec![]]);
        let wrong = |all| jobs(all).unwrap_err();
        assert_eq!(wrong(&[("left", &[]), ("b", &["lefd"])]), "unknown job `lefd`: did you mean `left`?");
        assert!(wrong(&[("a", &[]), ("b", &["a", "a"])]).starts_with("`b` comes after `a` twice"));
        assert!(wrong(&[("a", &["a"])]).starts_with("the job `a` comes after itself"));
        let circle = wrong(&[("r", &[]), ("a", &["r", "c"]), ("b", &["a"]), ("c", &["b"]), ("d", &["c"])]);
        assert!(circle.contains("the last one after the first: `a`, `c`, `b`: take"), "{circle}");
    }
}
