//! The table format: a header, operations at ticks, rows of ticks by cpus. Written by people.

use std::fmt::Write;

use notation::lists;
use notation::parameter::Kind;
use sim_core::limits::MAX_GROUPS;
use sim_core::os::NICE_WEIGHTS;

use super::case::{Case, Cell, Group, MOST_CELLS, MOST_TASKS, MOST_TICKS, Operation, Trouble, What};

/// Words of the header.
const HEADER: [&str; 10] =
    ["kernel", "rules", "machine", "capacity", "cpus", "booted", "stepped", "rows", "pids", "kthreads"];

/// Reads a table.
///
/// # Errors
/// The line that is wrong, and what would be right.
pub(super) fn read(text: &str) -> Result<Case, Trouble> {
    let mut case = Case::default();
    let mut width = 0;
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let line = line.split('#').next().unwrap_or("").trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else { continue };
        match *first {
            "group" => group(&mut case, number, &words[1..])?,
            "at" => operation(&mut case, number, &words[1..])?,
            "tick" => width = words.len() - 1,
            word if HEADER.contains(&word) => header(&mut case, number, word, &words[1..])?,
            word if word.starts_with(|c: char| c.is_ascii_digit()) => {
                row(&mut case, number, &words, &mut width)?;
            }
            word => {
                return Err(Trouble::at(
                    number,
                    format!(
                        "`{word}` begins no line of a table; write {}, `at TICK`, `tick` or a tick",
                        HEADER.join(", ")
                    ),
                ));
            }
        }
    }
    Ok(case)
}

fn header(case: &mut Case, line: usize, word: &str, values: &[&str]) -> Result<(), Trouble> {
    let Some(first) = values.first() else {
        return Err(Trouble::at(line, format!("`{word}` needs a value")));
    };
    match word {
        "kernel" => case.kernel = (*first).to_owned(),
        "machine" => case.machine = values.join(" "),
        "capacity" => {
            case.capacities = values.iter().map(|value| capacity(line, value)).collect::<Result<_, _>>()?;
        }
        "rules" => {
            for value in values {
                let (rule, value) = pair(line, value, "yield=forfeit")?;
                case.rules.push((rule.to_owned(), value.to_owned()));
            }
        }
        "cpus" => case.first_cpu = cpus(line, first)?[0],
        "booted" => case.booted = Some(count(line, first)?),
        "kthreads" => {
            for name in values {
                let task = known(case, line, name)?;
                case.kernel_threads.insert(task);
            }
        }
        "stepped" if *first == "kstep" => case.stepped = true,
        "stepped" => {
            let text = format!("who steps the kernel is `kstep` or is not said, not `{first}`");
            return Err(Trouble::at(line, text));
        }
        "rows" => {
            case.before = match *first {
                "before" => true,
                "after" => false,
                other => {
                    let text = format!("rows show the state `before` or `after` operations, not `{other}`");
                    return Err(Trouble::at(line, text));
                }
            }
        }
        _ => {
            for value in values {
                let (name, pid) = pair(line, value, "A=39")?;
                let task = known(case, line, name)?;
                case.pids.insert(number(line, pid)?, task);
            }
        }
    }
    Ok(())
}

/// The capacity of a cpu.
pub(super) fn capacity(line: usize, text: &str) -> Result<u32, Trouble> {
    let wrong = || Trouble::at(line, format!("the capacity of a cpu is 1 to 1024, not `{text}`"));
    text.parse().ok().filter(|capacity| (1..=1024).contains(capacity)).ok_or_else(wrong)
}

fn pair<'a>(line: usize, text: &'a str, example: &str) -> Result<(&'a str, &'a str), Trouble> {
    let wrong = || Trouble::at(line, format!("`{text}` is not of the form `{example}`"));
    text.split_once('=').ok_or_else(wrong)
}

fn number(line: usize, text: &str) -> Result<u64, Trouble> {
    text.parse().map_err(|_| Trouble::at(line, format!("`{text}` is no whole number")))
}

fn cpus(line: usize, text: &str) -> Result<Vec<u32>, Trouble> {
    let all = lists::parse(Kind::Cpus, text, 0, 1 << 16).map_err(|why| Trouble::at(line, why))?;
    if all.is_empty() {
        return Err(Trouble::at(line, "a list of cpus names at least one, as `1-3`"));
    }
    Ok(all.into_iter().map(|cpu| cpu as u32).collect())
}

fn known(case: &Case, line: usize, name: &str) -> Result<usize, Trouble> {
    let wrong = || {
        let text = format!("no task `{name}` was created before (`at 0 create {name}`)");
        Trouble::at(line, text)
    };
    case.task(name).ok_or_else(wrong)
}

/// `group NAME` or `group NAME PARENT`.
fn group(case: &mut Case, line: usize, words: &[&str]) -> Result<(), Trouble> {
    let (name, parent) = match words {
        [name] => (name, None),
        [name, parent] => (name, Some(known_group(case, line, parent)?)),
        _ => return Err(Trouble::at(line, "a task group is `group NAME` or `group NAME PARENT`")),
    };
    plain(line, name)?;
    if case.group(name).is_some() {
        return Err(Trouble::at(line, format!("the task group `{name}` exists already")));
    }
    if case.groups.len() >= MAX_GROUPS {
        return Err(Trouble::at(line, format!("a case has at most {MAX_GROUPS} task groups")));
    }
    case.groups.push(Group { name: (*name).to_owned(), parent });
    Ok(())
}

fn known_group(case: &Case, line: usize, name: &str) -> Result<usize, Trouble> {
    let wrong = || Trouble::at(line, format!("no line `group {name}` stands before"));
    case.group(name).ok_or_else(wrong)
}

/// Refuses what is no name.
fn plain(line: usize, name: &str) -> Result<(), Trouble> {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Ok(());
    }
    let text = format!("`{name}` is no name: a letter, then letters, digits and `_`");
    Err(Trouble::at(line, text))
}

/// A new task.
fn create(case: &mut Case, line: usize, name: &str) -> Result<usize, Trouble> {
    plain(line, name)?;
    if case.task(name).is_some() {
        return Err(Trouble::at(line, format!("the task `{name}` exists already")));
    }
    if case.tasks.len() >= MOST_TASKS {
        return Err(Trouble::at(line, format!("a case has at most {MOST_TASKS} tasks")));
    }
    case.tasks.push(name.to_owned());
    Ok(case.tasks.len() - 1)
}

/// What can be done, and how it is written.
const VERBS: [(&str, &str); 10] = [
    ("create", "A B"),
    ("wake", "A B"),
    ("sleep", "A B"),
    ("block", "A B"),
    ("pin", "A 1-3"),
    ("nice", "A NUMBER"),
    ("weight", "A NUMBER"),
    ("fork", "PARENT CHILD"),
    ("join", "A GROUP"),
    ("shares", "GROUP 2..262144"),
];

/// `at TICK VERB ...`.
fn operation(case: &mut Case, line: usize, words: &[&str]) -> Result<(), Trouble> {
    let [tick, verb, rest @ ..] = words else {
        return Err(Trouble::at(line, "an operation is `at TICK VERB TASK ...`, as `at 5 wake A`"));
    };
    let tick = tick_of(line, tick)?;
    let wants = |what: &str| Trouble::at(line, format!("`{verb}` is written `at {tick} {verb} {what}`"));
    let add = |case: &mut Case, task, what| case.add(line, Operation { tick, task, what });
    match (*verb, rest) {
        ("create", [_, ..]) => {
            for name in rest {
                let task = create(case, line, name)?;
                add(case, task, What::Create)?;
            }
        }
        ("wake" | "sleep" | "block", [_, ..]) => {
            let what = match *verb {
                "wake" => What::Wake,
                "sleep" => What::Sleep,
                _ => What::Block,
            };
            for name in rest {
                let task = known(case, line, name)?;
                add(case, task, what.clone())?;
            }
        }
        ("join", [name, group]) => {
            let task = known(case, line, name)?;
            let group = if *group == "-" { None } else { Some(known_group(case, line, group)?) };
            add(case, task, What::Join(group))?;
        }
        ("shares", [group, weight]) => {
            let (group, weight) = (known_group(case, line, group)?, number(line, weight)?);
            if !(2..=1 << 18).contains(&weight) {
                return Err(wants("GROUP 2..262144"));
            }
            add(case, group, What::Shares(weight as u32))?;
        }
        ("pin", [name, list]) => {
            let task = known(case, line, name)?;
            let first = case.first_cpu;
            let inside = |cpu: u32| cpu.checked_sub(first).ok_or_else(|| wants("A 1-3"));
            let list = cpus(line, list)?.into_iter().map(inside).collect::<Result<Vec<_>, _>>()?;
            add(case, task, What::Pin(list))?;
        }
        ("nice", [name, value]) => {
            let task = known(case, line, name)?;
            let weight = value.parse().ok().and_then(weight_of).ok_or_else(|| wants("A -20..19"))?;
            add(case, task, What::Weight(weight))?;
        }
        ("weight", [name, value]) => {
            let task = known(case, line, name)?;
            let weight = number(line, value)?;
            if !(1..=1 << 20).contains(&weight) {
                return Err(wants("A 1..1048576"));
            }
            add(case, task, What::Weight(weight as u32))?;
        }
        ("fork", [parent, child]) => {
            let parent = known(case, line, parent)?;
            let child = create(case, line, child)?;
            add(case, parent, What::Fork(child))?;
        }
        (other, _) => match VERBS.iter().find(|(verb, _)| *verb == other) {
            Some((_, form)) => return Err(wants(form)),
            None => refuse(case, line, tick, other),
        },
    }
    Ok(())
}

/// The tick of an operation.
fn tick_of(line: usize, word: &str) -> Result<u64, Trouble> {
    let late = || Trouble::at(line, format!("a case has at most {MOST_TICKS} ticks"));
    Some(number(line, word)?).filter(|tick| *tick <= MOST_TICKS).ok_or_else(late)
}

/// An operation cannot be expressed.
fn refuse(case: &mut Case, line: usize, tick: u64, verb: &str) {
    let verbs = VERBS.map(|(verb, _)| verb).join(", ");
    let text = format!("`{verb}` cannot be expressed; operations are {verbs}");
    case.refused.get_or_insert((tick, Trouble::at(line, text)));
}

/// The load weight of a nice value.
pub(super) fn weight_of(nice: i64) -> Option<u32> {
    NICE_WEIGHTS.get(usize::try_from(nice.checked_add(20)?).ok()?).copied()
}

/// `TICK CELL ...` or `FIRST-LAST CELL ...`.
fn row(case: &mut Case, line: usize, words: &[&str], width: &mut usize) -> Result<(), Trouble> {
    let (first, last) = words[0].split_once('-').unwrap_or((words[0], words[0]));
    let (first, last) = (number(line, first)?, number(line, last)?);
    if *width == 0 {
        *width = words.len() - 1;
    }
    if words.len() - 1 != *width || *width == 0 {
        let text = format!("a row has a cell for each cpu, here {}, this one {}", *width, words.len() - 1);
        return Err(Trouble::at(line, text));
    }
    if last < first || last > MOST_TICKS {
        return Err(Trouble::at(line, format!("ticks are 0 to {MOST_TICKS} in order, as `4-7`")));
    }
    if (case.rows.len() as u64 + last - first + 1) * *width as u64 > MOST_CELLS {
        return Err(Trouble::at(line, format!("a case has at most {MOST_CELLS} cells, ticks times cpus")));
    }
    let cells = words[1..].iter().map(|word| cell(case, line, word)).collect::<Result<Vec<_>, _>>()?;
    for tick in first..=last {
        if case.rows.insert(tick, cells.clone()).is_some() {
            return Err(Trouble::at(line, format!("tick {tick} has a row already")));
        }
    }
    Ok(())
}

/// A number of cpus or tasks.
fn count(line: usize, text: &str) -> Result<u32, Trouble> {
    let number = number(line, text)?;
    u32::try_from(number)
        .map_err(|_| Trouble::at(line, format!("`{text}` is too large, at most {}", u32::MAX)))
}

/// `WHO`, `WHO/LENGTH`; `-` is idle, `?` unknown.
fn cell(case: &Case, line: usize, text: &str) -> Result<Cell, Trouble> {
    let (who, length) = text.split_once('/').map_or((text, None), |(who, length)| (who, Some(length)));
    let who = match who {
        "?" => None,
        "-" => Some(None),
        name => Some(Some(known(case, line, name)?)),
    };
    let length = length.filter(|length| *length != "?").map(|length| count(line, length)).transpose()?;
    Ok(Cell { who, length })
}

/// Writes a table with these rows in place of those of the case.
#[must_use]
pub fn write(case: &Case, rows: &[Vec<Cell>]) -> String {
    let mut out = String::new();
    let mut say = |line: String| {
        out.push_str(line.trim_end());
        out.push('\n');
    };
    say(format!("kernel   {}", case.kernel));
    if !case.rules.is_empty() {
        let rules: Vec<String> = case.rules.iter().map(|(rule, value)| format!("{rule}={value}")).collect();
        say(format!("rules    {}", rules.join(" ")));
    }
    say(format!("machine  {}", case.machine));
    if !case.capacities.is_empty() {
        let all: Vec<String> = case.capacities.iter().map(u32::to_string).collect();
        say(format!("capacity {}", all.join(" ")));
    }
    let cpus = rows.first().map_or(0, Vec::len) as u32;
    say(format!("cpus     {}", lists::ranges(case.first_cpu..case.first_cpu + cpus)));
    case.booted.iter().for_each(|booted| say(format!("booted   {booted}")));
    if case.stepped {
        say("stepped  kstep".to_owned());
    }
    say(format!("rows     {}", if case.before { "before" } else { "after" }));
    for group in &case.groups {
        let parent = group.parent.map_or("", |parent| &case.groups[parent].name);
        say(format!("group    {} {parent}", group.name));
    }
    case.operations.iter().for_each(|operation| say(written(case, operation)));
    if !case.kernel_threads.is_empty() {
        let names: Vec<&str> = case.kernel_threads.iter().map(|task| case.tasks[*task].as_str()).collect();
        say(format!("kthreads {}", names.join(" ")));
    }
    if !case.pids.is_empty() {
        let pid = |(pid, task): (&u64, &usize)| format!("{}={pid}", case.tasks[*task]);
        say(format!("pids     {}", case.pids.iter().map(pid).collect::<Vec<_>>().join(" ")));
    }
    let heads = (0..cpus).fold(String::new(), |mut all, cpu| {
        let _ = write!(all, " {:8}", format!("cpu{}", case.first_cpu + cpu));
        all
    });
    say(format!("tick    {heads}"));
    let mut from = 0;
    for (tick, row) in rows.iter().enumerate() {
        if rows.get(tick + 1) == Some(row) {
            continue;
        }
        let ticks = if from == tick { format!("{tick}") } else { format!("{from}-{tick}") };
        let cells = row.iter().fold(String::new(), |mut all, cell| {
            let _ = write!(all, " {:8}", show(case, *cell));
            all
        });
        say(format!("{ticks:8}{cells}"));
        from = tick + 1;
    }
    out
}

/// A cell as a table has it.
#[must_use]
pub fn show(case: &Case, cell: Cell) -> String {
    let who = match cell.who {
        None => "?",
        Some(None) => "-",
        Some(Some(task)) => case.tasks.get(task).map_or("?", String::as_str),
    };
    cell.length.map_or_else(|| who.to_owned(), |length| format!("{who}/{length}"))
}

fn written(case: &Case, operation: &Operation) -> String {
    let tick = operation.tick;
    let name = || &case.tasks[operation.task];
    match &operation.what {
        What::Create => format!("at {tick} create {}", name()),
        What::Wake => format!("at {tick} wake {}", name()),
        What::Sleep => format!("at {tick} sleep {}", name()),
        What::Block => format!("at {tick} block {}", name()),
        What::Weight(weight) => format!("at {tick} weight {} {weight}", name()),
        What::Fork(child) => format!("at {tick} fork {} {}", name(), case.tasks[*child]),
        What::Join(group) => {
            let group = group.map_or("-", |group| &case.groups[group].name);
            format!("at {tick} join {} {group}", name())
        }
        What::Shares(weight) => format!("at {tick} shares {} {weight}", case.groups[operation.task].name),
        What::Pin(cpus) => {
            let list = lists::ranges(cpus.iter().map(|cpu| cpu + case.first_cpu));
            format!("at {tick} pin {} {list}", name())
        }
    }
}
