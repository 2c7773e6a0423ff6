//! What kSTEP reads and writes: operations as sequences of four integers, the log of a run that carries them
//! out, and traces with a line of JSON for each tick. Its cpu 0 belongs to the harness.

use std::collections::BTreeMap;

use serde_json::Value;

use super::case::{Case, Cell, MOST_CPUS, MOST_TICKS, Operation, Trouble, What};
use super::table::weight_of;

/// Its operations in the order of their numbers.
const NAMES: [&str; 25] = [
    "TASK_CREATE",
    "TASK_FORK",
    "TASK_PIN",
    "TASK_FIFO",
    "TASK_CFS",
    "TASK_PAUSE",
    "TASK_WAKEUP",
    "TASK_SET_PRIO",
    "TICK",
    "TICK_REPEAT",
    "CGROUP_CREATE",
    "CGROUP_SET_CPUSET",
    "CGROUP_SET_WEIGHT",
    "CGROUP_ADD_TASK",
    "CPU_SET_FREQ",
    "CPU_SET_CAPACITY",
    "CGROUP_DESTROY",
    "CGROUP_MOVE_TASK_ROOT",
    "KTHREAD_CREATE",
    "KTHREAD_BIND",
    "KTHREAD_START",
    "KTHREAD_YIELD",
    "KTHREAD_BLOCK",
    "KTHREAD_SYNCWAKE",
    "TASK_FREEZE",
];

/// A single tick.
const TICK: i64 = 8;

/// Operations on groups in which no task is.
const ON_EMPTY_GROUPS: [usize; 4] = [10, 11, 12, 16];

/// A sequence that is carried out.
#[derive(Default)]
struct Sequence {
    case: Case,
    tick: u64,
    /// Number in the case by that in the sequence.
    tasks: BTreeMap<i64, usize>,
}

impl Sequence {
    fn new() -> Self {
        let case = Case { first_cpu: 1, before: true, stepped: true, ..Case::default() };
        Self { case, ..Self::default() }
    }

    fn known(&self, line: usize, task: i64) -> Result<usize, Trouble> {
        let wrong = || Trouble::at(line, format!("task {task} was not created before (operation 0)"));
        self.tasks.get(&task).copied().ok_or_else(wrong)
    }

    fn create(&mut self, line: usize, task: i64) -> Result<usize, Trouble> {
        let number = self.case.tasks.len();
        if self.tasks.insert(task, number).is_some() {
            return Err(Trouble::at(line, format!("task {task} exists already")));
        }
        self.case.tasks.push(format!("t{task}"));
        Ok(number)
    }

    fn tick(&mut self, line: usize, times: i64) -> Result<(), Trouble> {
        self.tick = self.tick.saturating_add(times.max(0) as u64);
        if self.tick > MOST_TICKS {
            return Err(Trouble::at(line, format!("a case has at most {MOST_TICKS} ticks")));
        }
        Ok(())
    }

    fn act(&mut self, line: usize, [code, a, b, c]: [i64; 4]) -> Result<(), Trouble> {
        let name = usize::try_from(code).ok().and_then(|code| NAMES.get(code).map(|name| (code, *name)));
        let Some((code, name)) = name else {
            return Err(Trouble::at(
                line,
                format!("{code} is no operation; they are 0 to {}", NAMES.len() - 1),
            ));
        };
        let (task, what) = match code {
            0 => (self.create(line, a)?, What::Create),
            1 => {
                let parent = self.known(line, a)?;
                (parent, What::Fork(self.create(line, b)?))
            }
            2 => (self.known(line, a)?, What::Pin(pinned(line, b, c)?)),
            5 => (self.known(line, a)?, What::Sleep),
            6 => (self.known(line, a)?, What::Wake),
            7 => {
                let weight = weight_of(b);
                let wrong = || Trouble::at(line, format!("a nice value is -20 to 19, not {b}"));
                (self.known(line, a)?, What::Weight(weight.ok_or_else(wrong)?))
            }
            8 => return self.tick(line, 1),
            9 => return self.tick(line, a),
            code if ON_EMPTY_GROUPS.contains(&code) => return Ok(()),
            _ => {
                let text = format!(
                    "{name} cannot be expressed; operations are {}, and those on groups without tasks",
                    [0, 1, 2, 5, 6, 7, 8, 9].map(|code: usize| NAMES[code]).join(", ")
                );
                self.case.refused.get_or_insert((self.tick, Trouble::at(line, text)));
                return Ok(());
            }
        };
        if self.case.refused.is_some() {
            // What comes behind an operation that is left out may not fit.
            return Ok(());
        }
        self.case.add(line, Operation { tick: self.tick, task, what })
    }
}

/// Cpus `first` to `last` of kSTEP as cpus of the machine.
fn pinned(line: usize, first: i64, last: i64) -> Result<Vec<u32>, Trouble> {
    if first < 1 || last < first || last > 1 << 16 {
        let text = format!("cpus {first} to {last}: they begin with 1, because 0 belongs to the harness");
        return Err(Trouble::at(line, text));
    }
    Ok((first as u32 - 1..last as u32).collect())
}

fn four(line: usize, value: &Value) -> Result<[i64; 4], Trouble> {
    let list = value.as_array().and_then(|list| list.iter().map(Value::as_i64).collect::<Option<Vec<_>>>());
    let wrong = || Trouble::at(line, format!("an operation is four integers, not `{value}`"));
    list.and_then(|list| list.try_into().ok()).ok_or_else(wrong)
}

/// Reads a sequence of operations: `{"seq": [[0, 0, 0, 0], ...]}`, also under the name `ops`.
///
/// # Errors
/// What is no such sequence; the line is the number of the operation.
pub(super) fn read_operations(text: &str) -> Result<Case, Trouble> {
    let value: Value =
        serde_json::from_str(text).map_err(|why| Trouble::at(why.line(), format!("no JSON: {why}")))?;
    let list = ["seq", "ops"].iter().find_map(|key| value.get(key)).and_then(Value::as_array);
    let Some(list) = list else {
        return Err(Trouble::at(0, "no list `seq` or `ops` of operations, as `{\"seq\": [[0, 0, 0, 0]]}`"));
    };
    let mut sequence = Sequence::new();
    for (number, operation) in list.iter().enumerate() {
        sequence.act(number + 1, four(number + 1, operation)?)?;
    }
    Ok(sequence.case)
}

/// Marks in a log.
const EXECUTED: &str = "EXECOP: ";
const VERSION: &str = "Linux version ";
const PRESENT: &str = "Allowing ";
const TOPOLOGY: &str = "topology=";

/// Reads the log of a run: the operations that were carried out and, after each tick, which task has which
/// cpu. `kernel` of the case is the release that booted.
///
/// # Errors
/// The line that is wrong.
pub(super) fn read_log(text: &str) -> Result<Case, Trouble> {
    let mut sequence = Sequence::new();
    let (mut cpus, mut levels) = (0, String::new());
    let (mut pending, mut ticked): (Option<(usize, [i64; 4])>, bool) = (None, false);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(rest) = after(line, VERSION).filter(|_| sequence.case.kernel.is_empty()) {
            sequence.case.kernel = rest.split_whitespace().next().unwrap_or("").to_owned();
        } else if let Some(rest) = after(line, PRESENT).filter(|_| cpus == 0) {
            let count = rest.split_whitespace().next().and_then(|count| count.parse().ok());
            cpus = count.filter(|count| (1..=MOST_CPUS).contains(count)).unwrap_or(0);
            sequence.case.booted = Some(cpus).filter(|cpus| *cpus > 0);
            sequence.case.machine = format!("core:{}", cpus.saturating_sub(1).max(1));
        } else if let Some(rest) = after(line, EXECUTED) {
            // The state of the tasks follows what was carried out, if there are any.
            if let Some((at, operation)) = pending.take().filter(|_| sequence.tasks.is_empty()) {
                sequence.carried_out(at, operation, cpus)?;
            }
            let value: Value = serde_json::from_str(rest)
                .map_err(|why| Trouble::at(number, format!("no operation in JSON: {why}")))?;
            let part = |key: &str| value.get(key).cloned().unwrap_or(Value::Null);
            let four = four(number, &Value::Array(["op", "a", "b", "c"].map(part).to_vec()))?;
            pending = Some((number, four));
        } else if let Some((task, state)) = state_line(line) {
            if let Some((at, operation)) = pending.take() {
                sequence.carried_out(at, operation, cpus)?;
                ticked = operation[0] == TICK;
            }
            if ticked {
                sequence.note(task, state);
            }
        }
        if let Some(rest) = after(line, TOPOLOGY).filter(|_| line.contains("Command line")) {
            levels = rest.split_whitespace().next().unwrap_or("").to_owned();
        }
    }
    if !levels.is_empty() {
        topology(&mut sequence.case, &levels);
    }
    Ok(sequence.case)
}

impl Sequence {
    /// An operation was carried out. After a tick nobody is known to have a cpu.
    fn carried_out(&mut self, line: usize, operation: [i64; 4], cpus: u32) -> Result<(), Trouble> {
        self.act(line, operation)?;
        if operation[0] == TICK {
            let idle = Cell { who: Some(None), length: None };
            self.case.rows.insert(self.tick, vec![idle; cpus.saturating_sub(1) as usize]);
        }
        Ok(())
    }

    /// A task has a cpu or not, as of now.
    fn note(&mut self, task: i64, (on_cpu, cpu): (bool, usize)) {
        let Some(number) = self.tasks.get(&task).copied().filter(|_| on_cpu) else { return };
        let cell = self.case.rows.get_mut(&self.tick).and_then(|row| row.get_mut(cpu.wrapping_sub(1)));
        if let Some(cell) = cell {
            cell.who = Some(Some(number));
        }
    }
}

fn after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.split_once(mark).map(|(_, rest)| rest)
}

/// `Task 0 75: on_cpu=1, state=0, cpu=2, ...`: the number, whether it has a cpu, and which.
fn state_line(line: &str) -> Option<(i64, (bool, usize))> {
    let rest = after(line, "Task ")?;
    let (who, state) = rest.split_once(": on_cpu=")?;
    let number = who.split_whitespace().next()?.parse().ok()?;
    let cpu = after(state, " cpu=")?.split(',').next()?.parse().ok()?;
    Some((number, (state.starts_with('1'), cpu)))
}

/// A machine with the hardware threads and clusters of a topology `LEVEL:CPUS/CPUS/...+LEVEL:...`.
fn topology(case: &mut Case, text: &str) {
    let size = |level: &str| {
        let spans = text.split('+').find_map(|part| part.strip_prefix(level)?.strip_prefix(':'))?;
        let of_first = spans.split('/').nth(1)?;
        let (first, last) = of_first.split_once('-').unwrap_or((of_first, of_first));
        Some(last.parse::<u32>().ok()?.checked_sub(first.parse::<u32>().ok()?)?.saturating_add(1))
    };
    let all = case.booted.unwrap_or(1).saturating_sub(1).max(1);
    let (threads, cluster) = (size("SMT").unwrap_or(1), size("CLS").unwrap_or(1));
    if cluster > 1 && cluster != threads {
        case.remarks.push("clusters of cores (CLS) are no level here: taken as caches of a package".into());
        case.machine = format!("cache:{} core:{} pu:{threads}", all / cluster, cluster / threads.max(1));
    } else if threads > 1 {
        case.machine = format!("core:{} pu:{threads}", all / threads);
    }
}

/// Adds what a trace knows: lines of JSON with `timestamp` and `type`, of which `curr_task` and `nr_running`
/// are read.
///
/// # Errors
/// The line that is wrong.
pub(super) fn add_trace(case: &mut Case, text: &str) -> Result<(), Trouble> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let value: Value =
            serde_json::from_str(line).map_err(|why| Trouble::at(number, format!("no JSON: {why}")))?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or("").to_owned();
        if kind == "curr_task" || kind == "nr_running" {
            let at = value.get("timestamp").and_then(Value::as_u64).filter(|at| *at <= MOST_TICKS);
            let at = at.ok_or_else(|| Trouble::at(number, "a line needs its tick as `timestamp`"))?;
            lines.push((number, at, value));
        }
    }
    let Some((_, first, _)) = lines.first() else {
        return Err(Trouble::at(0, "no line of the type `curr_task` or `nr_running`: nothing to compare"));
    };
    case.stepped = true;
    // What is written before a tick begins with that of time 0, what is written after it with tick 1.
    let before = *first > 0;
    if case.rows.is_empty() {
        case.before = before;
    } else if case.before != before {
        return Err(Trouble::at(1, "its rows are not of the same moment as those that are there already"));
    }
    name_pids(case, &lines)?;
    for (number, at, value) in &lines {
        for (cpu, cell) in cells(case, *number, value)? {
            let cpu = cpu.checked_sub(u64::from(case.first_cpu)).filter(|cpu| *cpu < u64::from(MOST_CPUS));
            let cpu = cpu.ok_or_else(|| Trouble::at(*number, "a cpu that is no cpu of a machine"))? as usize;
            let row = case.rows.entry(*at).or_default();
            row.resize(row.len().max(cpu + 1), Cell::default());
            let old = &mut row[cpu];
            *old = Cell { who: cell.who.or(old.who), length: cell.length.or(old.length) };
        }
    }
    Ok(())
}

/// What a line says of each cpu, by kSTEP's numbers.
fn cells(case: &Case, line: usize, value: &Value) -> Result<Vec<(u64, Cell)>, Trouble> {
    let number = |key: &str| {
        let wrong = || Trouble::at(line, format!("a line needs a number `{key}`"));
        value.get(key).and_then(Value::as_u64).ok_or_else(wrong)
    };
    if value.get("type").and_then(Value::as_str) == Some("curr_task") {
        let pid = number("pid")?;
        let who = if pid == 0 { None } else { case.pids.get(&pid).copied() };
        let known = pid == 0 || who.is_some();
        return Ok(vec![(number("cpu")?, Cell { who: known.then_some(who), length: None })]);
    }
    let mut all = Vec::new();
    for key in value.as_object().into_iter().flat_map(serde_json::Map::keys) {
        if let Some(cpu) = key.strip_prefix("cpu").and_then(|cpu| cpu.parse().ok()) {
            all.push((cpu, Cell { who: None, length: u32::try_from(number(key)?).ok() }));
        }
    }
    Ok(all)
}

/// Process ids rise in the order of creation: where the trace has as many as there are tasks, they are those.
fn name_pids(case: &mut Case, lines: &[(usize, u64, Value)]) -> Result<(), Trouble> {
    let pid = |(_, _, value): &(usize, u64, Value)| value.get("pid").and_then(Value::as_u64);
    let pids: std::collections::BTreeSet<u64> = lines.iter().filter_map(pid).filter(|pid| *pid > 0).collect();
    if pids.is_empty() || !case.pids.is_empty() {
        return Ok(());
    }
    if pids.len() != case.tasks.len() {
        let text = format!(
            "the trace has {} process ids and the case {} tasks; say which is which by `pids A=39 B=40`",
            pids.len(),
            case.tasks.len()
        );
        return Err(Trouble::at(0, text));
    }
    case.pids = pids.into_iter().zip(0..).collect();
    Ok(())
}

/// Writes rows as a trace.
#[must_use]
pub fn write_trace(case: &Case, rows: &[Vec<Cell>]) -> String {
    let pid_of = |task: usize| case.pids.iter().find(|(_, other)| **other == task).map(|(pid, _)| *pid);
    let mut out = String::new();
    for (tick, row) in rows.iter().enumerate().skip(usize::from(case.before)) {
        let lengths = row.iter().zip(case.first_cpu..).filter_map(|(cell, cpu)| Some((cpu, cell.length?)));
        let lengths: Vec<String> = lengths.map(|(cpu, length)| format!("\"cpu{cpu}\":{length}")).collect();
        for (cell, cpu) in row.iter().zip(case.first_cpu..) {
            let pid = match cell.who {
                Some(Some(task)) => pid_of(task).unwrap_or(task as u64 + 1),
                Some(None) => 0,
                None => continue,
            };
            out += &format!("{{\"timestamp\":{tick},\"type\":\"curr_task\",\"cpu\":{cpu},\"pid\":{pid}}}\n");
        }
        if !lengths.is_empty() {
            let lengths = lengths.join(",");
            out += &format!("{{\"timestamp\":{tick},\"type\":\"nr_running\",{lengths}}}\n");
        }
    }
    out
}
