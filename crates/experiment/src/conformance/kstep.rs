//! What kSTEP reads and writes: operations as sequences of four integers, the log of a run that carries them
//! out, and traces with a line of JSON for each tick. Its cpu 0 belongs to the harness.

use std::collections::BTreeMap;

use serde_json::Value;
use sim_core::limits::MAX_GROUPS;

use super::case::{Case, Cell, Group, MOST_CPUS, MOST_TASKS, MOST_TICKS, Operation, Trouble, What};
use super::table::{capacity, weight_of};

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
/// Numbers of tasks, of kernel threads and of groups are below this (`MAX_TASKS`).
const NUMBERS: std::ops::Range<i64> = 0..1024;

/// What is known of a task beside the case.
#[derive(Clone, Default)]
struct Known {
    /// The cpus that it was pinned to, and those that it may use.
    pinned: Option<Vec<u32>>,
    mask: Option<Vec<u32>>,
    /// Its group, by the number in the sequence.
    group: Option<i64>,
}

/// A control group.
struct Cgroup {
    /// Its number in the case.
    number: usize,
    parent: Option<i64>,
    cpus: Option<Vec<u32>>,
}

/// A sequence that is carried out.
#[derive(Default)]
struct Sequence {
    case: Case,
    tick: u64,
    /// Number in the case by that in the sequence; those of kernel threads.
    tasks: BTreeMap<i64, usize>,
    threads: BTreeMap<i64, usize>,
    /// By the number in the case.
    known: Vec<Known>,
    groups: BTreeMap<i64, Cgroup>,
    /// Cpus of the machine.
    cpus: u32,
    /// The kernel takes a cpu from tasks in kernel mode, too.
    preempts: bool,
}

impl Sequence {
    fn new() -> Self {
        let case = Case { first_cpu: 1, before: true, stepped: true, ..Case::default() };
        Self { case, cpus: MOST_CPUS, ..Self::default() }
    }

    /// The harness shares the caches of the other cpus: it is a task of the case, on a cpu of its own.
    fn with_harness(&mut self, line: usize) -> Result<(), Trouble> {
        self.case.first_cpu = 0;
        let task = self.add_task(line, "harness".to_owned())?;
        for what in [What::Create, What::Pin(vec![0]), What::Wake] {
            self.add(line, task, what)?;
        }
        Ok(())
    }

    /// A task that was created before, or a kernel thread.
    fn known(&self, line: usize, (task, thread): (i64, bool)) -> Result<usize, Trouble> {
        let (all, code) = if thread { (&self.threads, 18) } else { (&self.tasks, 0) };
        let wrong = || Trouble::at(line, format!("{task} was not created before (operation {code})"));
        all.get(&task).copied().ok_or_else(wrong)
    }

    fn add_task(&mut self, line: usize, name: String) -> Result<usize, Trouble> {
        if self.case.tasks.len() >= MOST_TASKS {
            return Err(Trouble::at(line, format!("a case has at most {MOST_TASKS} tasks")));
        }
        self.case.tasks.push(name);
        self.known.push(Known::default());
        Ok(self.case.tasks.len() - 1)
    }

    /// A new task, or a kernel thread.
    fn create(&mut self, line: usize, (task, thread): (i64, bool)) -> Result<usize, Trouble> {
        if !NUMBERS.contains(&task) {
            return Err(Trouble::at(line, format!("the number of a task is 0 to 1023, not {task}")));
        }
        if self.tasks.contains_key(&task) && !thread {
            return Err(Trouble::at(line, format!("task {task} exists already")));
        }
        let letter = if thread { 'k' } else { 't' };
        let again = self.case.tasks.iter().filter(|name| name.starts_with(letter)).count();
        let mut name = format!("{letter}{task}");
        if self.case.task(&name).is_some() {
            name = format!("{name}_{again}");
        }
        let number = self.add_task(line, name)?;
        if thread && !self.preempts {
            self.case.kernel_threads.insert(number);
        }
        if thread { &mut self.threads } else { &mut self.tasks }.insert(task, number);
        Ok(number)
    }

    fn tick(&mut self, line: usize, times: i64) -> Result<(), Trouble> {
        self.tick = self.tick.saturating_add(times.max(0) as u64);
        if self.tick > MOST_TICKS {
            return Err(Trouble::at(line, format!("a case has at most {MOST_TICKS} ticks")));
        }
        Ok(())
    }

    fn add(&mut self, line: usize, task: usize, what: What) -> Result<(), Trouble> {
        if self.case.refused.is_some() {
            // What comes behind an operation that is left out may not fit.
            return Ok(());
        }
        self.case.add(line, Operation { tick: self.tick, task, what })
    }

    fn act(&mut self, line: usize, [code, a, b, c]: [i64; 4]) -> Result<(), Trouble> {
        let name = usize::try_from(code).ok().and_then(|code| NAMES.get(code));
        let Some(name) = name else {
            let text = format!("{code} is no operation; they are 0 to {}", NAMES.len() - 1);
            return Err(Trouble::at(line, text));
        };
        let thread = (18..=23).contains(&code);
        let of = |all: &Self| all.known(line, (a, thread));
        match code {
            0 | 18 => {
                let task = self.create(line, (a, thread))?;
                self.add(line, task, What::Create)?;
                self.masks(line, task)
            }
            1 => {
                let parent = of(self)?;
                let child = self.create(line, (b, false))?;
                self.known[child] = self.known[parent].clone();
                self.add(line, parent, What::Fork(child))
            }
            2 | 19 => {
                let (task, cpus) = (of(self)?, self.pinned(line, b, c)?);
                self.known[task].pinned = Some(cpus);
                self.masks(line, task)
            }
            5 => self.add(line, of(self)?, What::Sleep),
            6 | 20 => self.add(line, of(self)?, What::Wake),
            7 => {
                let weight = weight_of(b);
                let wrong = || Trouble::at(line, format!("a nice value is -20 to 19, not {b}"));
                self.add(line, of(self)?, What::Weight(weight.ok_or_else(wrong)?))
            }
            8 => self.tick(line, 1),
            9 => self.tick(line, a),
            22 => self.add(line, of(self)?, What::Block),
            10..=13 | 16 | 17 => self.cgroup(line, [code, a, b, c]),
            _ => {
                let all = [3, 4, 14, 15, 21, 23, 24].map(|code: usize| NAMES[code]).join(", ");
                let text = format!("{name} cannot be expressed; nor can the others of {all}");
                self.case.refused.get_or_insert((self.tick, Trouble::at(line, text)));
                Ok(())
            }
        }
    }

    /// An operation on a control group.
    fn cgroup(&mut self, line: usize, [code, a, b, c]: [i64; 4]) -> Result<(), Trouble> {
        if code == 10 {
            return self.create_group(line, a, b);
        }
        let wrong = || Trouble::at(line, format!("group {a} was not created before (operation 10)"));
        let number = self.groups.get(&a).map(|group| group.number).ok_or_else(wrong)?;
        match code {
            11 => {
                let cpus = self.pinned(line, b, c)?;
                self.groups.entry(a).and_modify(|group| group.cpus = Some(cpus));
                (0..self.known.len()).try_for_each(|task| self.masks(line, task))
            }
            12 => {
                if !(1..=10_000).contains(&b) {
                    return Err(Trouble::at(line, format!("the weight of a group is 1 to 10000, not {b}")));
                }
                // `sched_weight_from_cgroup`, at least `MIN_SHARES`.
                let weight = ((b * 1024 + 50) / 100).max(2) as u32;
                self.add(line, number, What::Shares(weight))
            }
            13 => {
                let task = self.known(line, (b, false))?;
                self.join(line, task, Some(a))
            }
            17 => {
                let task = self.known(line, (b, false))?;
                self.leave(line, task)
            }
            _ => {
                if self.groups.values().any(|group| group.parent == Some(a)) {
                    return Err(Trouble::at(
                        line,
                        format!("group {a} has groups in it; destroy those first"),
                    ));
                }
                self.leave_all(line, a)?;
                self.groups.remove(&a);
                Ok(())
            }
        }
    }

    fn create_group(&mut self, line: usize, around: i64, group: i64) -> Result<(), Trouble> {
        let parent = self.groups.get(&around).map(|parent| parent.number);
        if !NUMBERS.contains(&group) || self.groups.contains_key(&group) || around >= 0 && parent.is_none() {
            let text = format!("group {group} in {around}: one that does not exist, in one that does or -1");
            return Err(Trouble::at(line, text));
        }
        if self.case.groups.len() >= MAX_GROUPS {
            return Err(Trouble::at(line, format!("a case has at most {MAX_GROUPS} task groups")));
        }
        // Tasks are in groups without groups only.
        self.leave_all(line, around)?;
        let number = self.case.groups.len();
        let again = if self.case.group(&format!("g{group}")).is_some() {
            format!("_{number}")
        } else {
            String::new()
        };
        self.case.groups.push(Group { name: format!("g{group}{again}"), parent });
        let parent = (around >= 0).then_some(around);
        self.groups.insert(group, Cgroup { number, parent, cpus: None });
        Ok(())
    }

    /// A task joins a group, or the root: first its mask follows, then its task group.
    fn join(&mut self, line: usize, task: usize, group: Option<i64>) -> Result<(), Trouble> {
        self.known[task].group = group;
        self.masks(line, task)?;
        let number = group.and_then(|group| self.groups.get(&group)).map(|group| group.number);
        self.add(line, task, What::Join(number))
    }

    /// A task comes back to the root, and may use all cpus (`kstep_op_move_task_to_root`).
    fn leave(&mut self, line: usize, task: usize) -> Result<(), Trouble> {
        self.join(line, task, None)?;
        self.known[task].pinned = None;
        self.masks(line, task)
    }

    fn leave_all(&mut self, line: usize, group: i64) -> Result<(), Trouble> {
        let inside = |known: &Known| known.group == Some(group);
        let tasks: Vec<usize> = (0..self.known.len()).filter(|task| inside(&self.known[*task])).collect();
        tasks.into_iter().try_for_each(|task| self.leave(line, task))
    }

    /// Cpus of a group (`cpuset.cpus.effective`); none: all.
    fn cpus_of(&self, group: Option<i64>) -> Option<Vec<u32>> {
        let group = self.groups.get(&group?)?;
        let around = self.cpus_of(group.parent);
        common(group.cpus.clone(), around.clone()).or(around)
    }

    /// The mask of a task follows what it was pinned to, within the cpus of its group; where they have none
    /// in common, those (`__set_cpus_allowed_ptr`).
    fn masks(&mut self, line: usize, task: usize) -> Result<(), Trouble> {
        let Known { pinned, mask, group } = &self.known[task];
        let cpus = self.cpus_of(*group);
        let all = || (1 - self.case.first_cpu.min(1)..self.cpus).collect::<Vec<u32>>();
        let new = common(pinned.clone(), cpus.clone()).or(cpus);
        let harness = self.case.first_cpu == 0;
        // A new task may use all cpus of a machine already, unless one is that of the harness.
        let known = mask.is_some() || new.is_some() || harness;
        let new = new.unwrap_or_else(all);
        if !known || mask.as_ref() == Some(&new) || self.case.tasks[task] == "harness" {
            return Ok(());
        }
        self.known[task].mask = Some(new.clone());
        self.add(line, task, What::Pin(new))
    }

    /// Cpus `first` to `last` of kSTEP as cpus of the machine.
    fn pinned(&self, line: usize, first: i64, last: i64) -> Result<Vec<u32>, Trouble> {
        if first < 1 || last < first || last > 1 << 16 {
            let text = format!("cpus {first} to {last}: they begin with 1, because 0 belongs to the harness");
            return Err(Trouble::at(line, text));
        }
        let shift = self.case.first_cpu;
        Ok((first as u32 - shift..=last as u32 - shift).collect())
    }
}

/// The cpus that two lists have in common; none, if they have none or both are not known.
fn common(one: Option<Vec<u32>>, other: Option<Vec<u32>>) -> Option<Vec<u32>> {
    match (one, other) {
        (Some(one), Some(other)) => {
            let both: Vec<u32> = one.into_iter().filter(|cpu| other.contains(cpu)).collect();
            (!both.is_empty()).then_some(both)
        }
        (one, other) => one.or(other),
    }
}

fn four(line: usize, value: &Value) -> Result<[i64; 4], Trouble> {
    let list = value.as_array().and_then(|list| list.iter().map(Value::as_i64).collect::<Option<Vec<_>>>());
    let wrong = || Trouble::at(line, format!("an operation is four integers, not `{value}`"));
    list.and_then(|list| list.try_into().ok()).ok_or_else(wrong)
}

/// Where the elements of the list under this key begin in a text in JSON: lines and columns from 1, those of
/// characters.
fn elements(text: &str, key: &str) -> Vec<(usize, usize)> {
    let (mut depth, mut name, mut inside) = (0_usize, None, false);
    let (mut line, mut column, mut awaited) = (1, 0, false);
    let mut found = Vec::new();
    let mut letters = text.chars();
    let step = |letter: char, line: &mut usize, column: &mut usize| {
        (*line, *column) = if letter == '\n' { (*line + 1, 0) } else { (*line, *column + 1) };
    };
    while let Some(letter) = letters.next() {
        step(letter, &mut line, &mut column);
        if inside && awaited && depth == 2 && !letter.is_whitespace() && letter != ']' {
            found.push((line, column));
            awaited = false;
        }
        match letter {
            '"' => {
                let mut word = String::new();
                while let Some(letter) = letters.next() {
                    step(letter, &mut line, &mut column);
                    match letter {
                        '"' => break,
                        '\\' => {
                            letters.next().into_iter().for_each(|next| step(next, &mut line, &mut column));
                        }
                        other => word.push(other),
                    }
                }
                // At the first level a text is a key, or what a key has.
                if depth == 1 {
                    name = Some(word);
                }
            }
            '[' | '{' => {
                depth += 1;
                if depth == 2 {
                    inside = letter == '[' && name.as_deref() == Some(key);
                    awaited = inside;
                    // Of equal keys the last one counts.
                    if inside {
                        found.clear();
                    }
                }
            }
            ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 2 => awaited = true,
            _ => {}
        }
        if depth < 2 {
            inside = false;
        }
    }
    found
}

/// Reads a sequence of operations: `{"seq": [[0, 0, 0, 0], ...]}`, also under the name `ops`.
///
/// # Errors
/// What is no such sequence, with the number of the operation and where it begins.
pub(super) fn read_operations(text: &str) -> Result<Case, Trouble> {
    let value: Value =
        serde_json::from_str(text).map_err(|why| Trouble::at(why.line(), format!("no JSON: {why}")))?;
    let list = ["seq", "ops"].iter().find_map(|key| Some((*key, value.get(key)?.as_array()?)));
    let Some((key, list)) = list else {
        return Err(Trouble::at(0, "no list `seq` or `ops` of operations, as `{\"seq\": [[0, 0, 0, 0]]}`"));
    };
    let mut sequence = Sequence::new();
    // Until something is wrong, operations have their numbers in place of lines.
    let placed = |trouble: Trouble| {
        let number = trouble.line;
        let begins = number.checked_sub(1).and_then(|at| elements(text, key).get(at).copied());
        let Some((line, column)) = begins else { return trouble };
        Trouble::at(line, format!("operation {number} (column {column}): {}", trouble.text))
    };
    for (number, operation) in list.iter().enumerate() {
        let done = four(number + 1, operation).and_then(|four| sequence.act(number + 1, four));
        done.map_err(placed)?;
    }
    let mut case = sequence.case;
    case.refused = case.refused.map(|(tick, trouble)| (tick, placed(trouble)));
    Ok(case)
}

/// Marks in a log.
const EXECUTED: &str = "EXECOP: ";
const VERSION: &str = "Linux version ";
const PRESENT: &str = "Allowing ";
const TOPOLOGY: &str = "topology=";
const CAPACITY: &str = "capacity=";

/// Reads the log of a run: the operations that were carried out and, after each tick, which task has which
/// cpu. `kernel` of the case is the release that booted.
///
/// # Errors
/// The line that is wrong.
pub(super) fn read_log(text: &str) -> Result<Case, Trouble> {
    let mut sequence = Sequence::new();
    let (mut cpus, mut levels, mut begun) = (0, String::new(), false);
    let (mut pending, mut ticked): (Option<(usize, [i64; 4])>, bool) = (None, false);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(rest) = after(line, VERSION).filter(|_| sequence.case.kernel.is_empty()) {
            // The version of the build: `#1 SMP PREEMPT`, `PREEMPT_DYNAMIC`.
            sequence.preempts = rest.contains(" PREEMPT");
            sequence.case.kernel = rest.split_whitespace().next().unwrap_or("").to_owned();
        } else if let Some(rest) = after(line, PRESENT).filter(|_| cpus == 0) {
            let count = rest.split_whitespace().next().and_then(|count| count.parse().ok());
            cpus = count.filter(|count| (1..=MOST_CPUS).contains(count)).unwrap_or(0);
        } else if let Some(rest) = after(line, EXECUTED) {
            if !std::mem::replace(&mut begun, true) {
                sequence.begin(number, cpus, &levels)?;
            }
            // The state of the tasks follows what was carried out, if there are any.
            if let Some((at, operation)) = pending.take().filter(|_| sequence.tasks.is_empty()) {
                sequence.carried_out(at, operation)?;
            }
            let value: Value = serde_json::from_str(rest)
                .map_err(|why| Trouble::at(number, format!("no operation in JSON: {why}")))?;
            let part = |key: &str| value.get(key).cloned().unwrap_or(Value::Null);
            let four = four(number, &Value::Array(["op", "a", "b", "c"].map(part).to_vec()))?;
            pending = Some((number, four));
        } else if let Some((task, state)) = state_line(line) {
            if let Some((at, operation)) = pending.take() {
                sequence.carried_out(at, operation)?;
                ticked = operation[0] == TICK;
            }
            if ticked {
                sequence.note(task, state);
            }
        }
        let word =
            |mark| after(line, mark).filter(|_| line.contains("Command line"))?.split_whitespace().next();
        if let Some(text) = word(TOPOLOGY) {
            levels = text.to_owned();
        }
        if let Some(text) = word(CAPACITY) {
            let each = text.split('/').filter(|part| !part.is_empty());
            let all: Result<Vec<u32>, _> = each.map(|part| capacity(number, part)).collect();
            sequence.case.capacities = all?;
        }
    }
    Ok(sequence.case)
}

impl Sequence {
    /// The first operation comes: so many cpus have booted, with this topology. Where none is given, the cpu
    /// of the harness is one of them (`kstep_topo_init` is not called).
    fn begin(&mut self, line: usize, booted: u32, levels: &str) -> Result<(), Trouble> {
        self.case.booted = Some(booted).filter(|cpus| *cpus > 0);
        self.cpus = booted.saturating_sub(1).max(1);
        self.case.machine = format!("core:{}", self.cpus);
        if levels.is_empty() && booted > 1 {
            self.cpus = booted;
            self.case.machine = format!("core:{booted}");
            return self.with_harness(line);
        }
        // The first of the capacities is that of the cpu of the harness.
        self.case.capacities.drain(..self.case.capacities.len().min(1));
        topology(&mut self.case, levels);
        Ok(())
    }

    /// An operation was carried out. After a tick nobody is known to have a cpu; of kernel threads nothing
    /// is known, nor of the cpu of the harness.
    fn carried_out(&mut self, line: usize, operation: [i64; 4]) -> Result<(), Trouble> {
        self.act(line, operation)?;
        if operation[0] == TICK {
            let who = self.threads.is_empty().then_some(None);
            let mut row = vec![Cell { who, length: None }; self.cpus as usize];
            if self.case.first_cpu == 0 {
                row[0] = Cell::default();
            }
            self.case.rows.insert(self.tick, row);
            self.case.check_cells(line, self.cpus as usize)?;
        }
        Ok(())
    }

    /// A task has a cpu or not, as of now.
    fn note(&mut self, task: i64, (on_cpu, cpu): (bool, usize)) {
        let Some(number) = self.tasks.get(&task).copied().filter(|_| on_cpu) else { return };
        let index = cpu.wrapping_sub(self.case.first_cpu as usize);
        let cell = self.case.rows.get_mut(&self.tick).and_then(|row| row.get_mut(index));
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
        let (clusters, cores) = (all / cluster, cluster / threads.max(1));
        case.machine = format!("cache:1 cluster:{clusters} core:{cores} pu:{threads}");
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
            case.check_cells(*number, cpu + 1)?;
            let row = case.rows.entry(*at).or_default();
            let old = &mut row[cpu];
            *old = Cell { who: cell.who.or(old.who), length: cell.length.or(old.length) };
            // Of tasks on which none is seen to run one is about to: it is told to pick again.
            if old.who == Some(None) && old.length.is_some_and(|length| length > 0) {
                old.who = None;
            }
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
