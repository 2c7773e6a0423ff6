//! Reads the objects of a file of rt-app, by the rules of `rt-app_parse_config.c`.

use super::events;
use super::model::{Phase, Thread, Times, Traits};
use super::reader::Reader;
use crate::Refused;
use crate::json::{Key, Value};
use crate::page::{MOST_CORES, at};
use crate::units::LONGEST;

/// Most threads of an object: the most tasks that a test machine runs.
const MOST_INSTANCES: u32 = 100_000;

/// Keys of `global` that concern log files and the start, not schedules.
const WITHOUT_EFFECT: [&str; 12] = [
    "calibration",
    "lock_pages",
    "logdir",
    "log_basename",
    "log_size",
    "ftrace",
    "gnuplot",
    "frag",
    "cumulative_slack",
    "scheduler",
    "spacing",
    "clock",
];

impl Reader<'_, '_> {
    /// The object `global`.
    pub(super) fn global(&mut self, global: &Value) -> Result<(), Refused> {
        for (key, value) in global.entries() {
            let path = format!("global.{}", key.name);
            match key.name.as_str() {
                "duration" => {
                    let seconds = self.whole(value, &path, -1, LONGEST / 1_000_000_000)?;
                    // 0 and -1: no limit.
                    let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
                    self.global.duration = seconds.map(|s| (s * 1_000_000_000, value.line));
                }
                "default_policy" => self.global.policy = self.text(value, &path)?,
                "pi_enabled" => self.global.inherits = truth(value),
                "io_device" => self.global.device = self.text(value, &path)?,
                "mem_buffer_size" => self.global.buffer = self.whole(value, &path, 1, 1 << 40)? as u64,
                name if WITHOUT_EFFECT.contains(&name) => {
                    self.notes.no_effect(at(key.line, &path), "it acts on log files or the start only");
                }
                _ => self.notes.left_out(at(key.line, &path), "a key that rt-app does not document"),
            }
        }
        Ok(())
    }

    /// A thread object.
    pub(super) fn thread(&mut self, key: &Key, object: &Value) -> Result<Thread, Refused> {
        let path = format!("tasks.{}", key.name);
        if !object.is_map() {
            return Err(self.wrong(object.line, &format!("`{path}` is an object, not {}", object.kind())));
        }
        let (phased, repeats) = (object.get("phases"), object.get("loop"));
        let old = object.get("exec").is_some();
        let phases = match phased {
            Some(phases) => {
                let each = phases.entries().iter();
                let read = each.map(|(key, phase)| {
                    let path = format!("{path}.phases.{}", key.name);
                    let read = self.phase(&path, key, phase)?;
                    self.unknown(phase, &path, Part::Phase);
                    Ok(read)
                });
                read.collect::<Result<Vec<Phase>, Refused>>()?
            }
            None if old => vec![self.old(&path, key, object)?],
            None => {
                // The object is thread and phase at once; its traits are those of the thread.
                let mut phase = self.phase(&path, key, object)?;
                phase.traits = Traits::default();
                vec![phase]
            }
        };
        let times = match (phased, repeats) {
            (Some(_), Some(value)) => self.times(value, &path)?,
            (None, Some(_)) => Times::Number(1),
            (_, None) => Times::Forever,
        };
        let mut thread = Thread {
            name: key.name.clone(),
            line: key.line,
            instances: 1,
            delay: 0,
            times,
            phases,
            traits: self.traits(object, &path)?,
            deadline: None,
        };
        if let Some(value) = object.get("instance") {
            thread.instances = self.whole(value, &path, 0, u64::from(MOST_INSTANCES))? as u32;
        }
        if let Some(value) = object.get("delay") {
            thread.delay = self.micros(value, &format!("{path}.delay"))?;
        }
        if let Some(value) = object.get("deadline").filter(|_| old) {
            thread.deadline = Some(self.micros(value, &format!("{path}.deadline"))?);
        }
        let part = match (phased.is_some(), old) {
            (true, _) => Part::Phased,
            (false, true) => Part::Old,
            (false, false) => Part::Whole,
        };
        self.unknown(object, &path, part);
        Ok(thread)
    }

    /// Notes keys that are neither properties nor events.
    fn unknown(&mut self, object: &Value, path: &str, part: Part) {
        const OF_THREADS: [&str; 3] = ["phases", "instance", "delay"];
        const KEYS: [&str; 11] = [
            "loop",
            "policy",
            "priority",
            "cpus",
            "taskgroup",
            "dl-runtime",
            "dl-period",
            "dl-deadline",
            "nodes_membind",
            "util_min",
            "util_max",
        ];
        const OLD: [&str; 6] = ["exec", "period", "deadline", "lock_order", "resources", "runtime"];
        for (key, _) in object.entries() {
            let name = key.name.as_str();
            let known = KEYS.contains(&name)
                || (part != Part::Phase && OF_THREADS.contains(&name))
                || (part == Part::Old && OLD.contains(&name));
            let event = events::is_event(&key.name);
            let place = at(key.line, &format!("{path}.{}", key.name));
            if event && part == Part::Phased {
                self.notes.no_effect(place, "rt-app ignores events beside `phases`");
            } else if !known && !event {
                self.notes.left_out(place, "a key that rt-app does not document");
            }
        }
    }

    fn times(&self, value: &Value, path: &str) -> Result<Times, Refused> {
        let number = self.whole(value, &format!("{path}.loop"), -1, u64::from(u32::MAX))?;
        Ok(u32::try_from(number).map_or(Times::Forever, Times::Number))
    }

    fn phase(&mut self, path: &str, key: &Key, object: &Value) -> Result<Phase, Refused> {
        if !object.is_map() {
            return Err(self.wrong(object.line, &format!("`{path}` is an object, not {}", object.kind())));
        }
        let times = match object.get("loop") {
            // rt-app counts a phase until its number is reached, which 0 never is.
            Some(value) => match self.times(value, path)? {
                Times::Number(0) => Times::Forever,
                times => times,
            },
            None => Times::Number(1),
        };
        let mut phase = Phase {
            name: key.name.clone(),
            line: key.line,
            times,
            events: Vec::new(),
            traits: self.traits(object, path)?,
        };
        for (key, value) in object.entries() {
            if events::is_event(&key.name) {
                phase.events.extend(self.event(key, value, path)?);
            }
        }
        Ok(phase)
    }

    fn traits(&mut self, object: &Value, path: &str) -> Result<Traits, Refused> {
        let mut traits = Traits::default();
        for (key, value) in object.entries() {
            let full = format!("{path}.{}", key.name);
            let line = key.line;
            match key.name.as_str() {
                "policy" => traits.policy = Some((self.text(value, &full)?, line)),
                "priority" => traits.priority = Some((self.whole(value, &full, -20, 99)?, line)),
                "dl-runtime" => traits.slice = Some((self.micros(value, &full)?, line)),
                "dl-deadline" => traits.deadline = Some((self.micros(value, &full)?, line)),
                "dl-period" => traits.period = Some((self.micros(value, &full)?, line)),
                "cpus" => {
                    let read = value.items().iter().map(|cpu| {
                        self.whole(cpu, &full, 0, u64::from(MOST_CORES) - 1).map(|cpu| cpu as u32)
                    });
                    let mut cpus = read.collect::<Result<Vec<u32>, Refused>>()?;
                    if cpus.is_empty() {
                        return Err(self.wrong(line, &format!("`{full}` is a list of cpus")));
                    }
                    cpus.sort_unstable();
                    cpus.dedup();
                    traits.cpus = Some((cpus, line));
                }
                "taskgroup" => {
                    let group = self.text(value, &full)?;
                    traits.group = Some((group, line)).filter(|(group, _)| !group.is_empty());
                }
                "nodes_membind" => {
                    self.notes.left_out(at(line, &full), "where memory is bound: a program has no data");
                }
                "util_min" | "util_max" => {
                    self.notes
                        .left_out(at(line, &full), "utilization clamps: cpu frequencies do not follow them");
                }
                _ => {}
            }
        }
        Ok(traits)
    }
}

/// What an object is, which decides its keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A thread with phases.
    Phased,
    /// A thread of the grammar before version 1.
    Old,
    /// Thread and phase at once.
    Whole,
    Phase,
}

/// A flag as json-c reads it, or as a number.
fn truth(value: &Value) -> bool {
    value.what == crate::json::What::Flag(true) || value.whole().is_some_and(|n| n != 0)
}
