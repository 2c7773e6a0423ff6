//! The page of a scenario: other programs, the machine, and all together.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use import::Kind as Matters;
use scenario::DEFAULT_KERNEL;

use super::{Making, Recording};
use crate::costs::Estimated;
use crate::course::{self, Course, Step};
use crate::threads::Id;
use crate::write::{plain, time};

/// Other programs with less than this share of the cpu time of the recording are left out.
const OTHERS: f64 = 0.03;
/// What is left out together is named from this share on.
const LITTLE: f64 = 0.005;
/// Another program that computes so long between its waits is one that computes all the time, in ns.
const HOG: u64 = 10_000_000;

impl Making<'_> {
    /// Other programs, if they had much of the cpus.
    pub(super) fn others(&mut self) {
        let threads = &self.program.threads;
        let lasted = self.lasted().max(1) as f64;
        let courses = self.recording.courses;
        let many: BTreeSet<Id> = courses
            .list
            .iter()
            .filter(|(id, course)| !threads.contains(id) && course.cpu as f64 >= OTHERS * lasted)
            .filter(|(id, _)| {
                self.threads().get(**id).is_some_and(|thread| !course::of_the_kernel(&thread.name))
            })
            .map(|(id, _)| *id)
            .collect();
        let little: u64 = courses
            .list
            .iter()
            .filter(|(id, _)| !threads.contains(id) && !many.contains(id))
            .map(|(_, course)| course.cpu)
            .sum();
        if little as f64 >= LITTLE * lasted {
            let share = 100.0 * little as f64 / lasted;
            self.note(
                Matters::LeftOut,
                format!("other threads, which together had a cpu for {share:.1} % of the time"),
            );
        }
        let mut taken = BTreeSet::new();
        for id in many {
            let Some((thread, course)) = self.threads().get(id).cloned().zip(courses.list.get(&id)) else {
                continue;
            };
            let share = (course.cpu as f64 / lasted).min(1.0);
            let busy = course
                .steps
                .iter()
                .filter(|timed| !matches!(timed.step, Step::Run(_) | Step::Wake { .. }))
                .count();
            let mut name = format!("other-{}-{}", plain(&thread.name), thread.tid);
            if !taken.insert(name.clone()) {
                // A number that was used again.
                let _ = write!(name, "-{}", id.0);
            }
            self.findings.push(format!(
                "another program, `{}`, had a cpu for {:.0} % of the time: `{name}` stands for it",
                notation::neutral::line(&thread.name),
                100.0 * share
            ));
            self.stands_for(&name, thread.nice(), course, busy.max(1) as u64);
        }
    }

    /// How long the recording lasted, in ns.
    fn lasted(&self) -> u64 {
        let follower = self.recording.follower;
        follower.last - follower.first.unwrap_or(follower.last)
    }

    /// An application that stands for another program: it computes all the time, or in turns.
    fn stands_for(&mut self, name: &str, nice: i32, course: &Course, times: u64) {
        let (begin, lasted) = (self.program.begin, self.lasted());
        let text = &mut self.apps;
        let burst = course.cpu / times;
        if burst >= HOG {
            let start = time(course.first.saturating_sub(begin));
            let work = time(course.cpu);
            let _ = writeln!(
                text,
                "  {name}: {{ workload: {{ hog: {{ work: {work} }} }}, tasks: 1, background: true, \
                    nice: {nice}, start: {start} }}",
            );
        } else {
            let gap = lasted.saturating_sub(course.cpu + course.queued) / times;
            let _ = writeln!(text, "  {name}:");
            let _ = writeln!(text, "    background: true");
            let _ = writeln!(text, "    nice: {nice}");
            let _ = writeln!(
                text,
                "    program: {{ code: \"forever {{ run {}; sleep {} }}\" }}",
                time(burst.max(1)),
                time(gap.max(1_000))
            );
        }
    }

    /// The whole scenario.
    pub(super) fn page(&mut self) -> String {
        if self.options.kernel.is_none() {
            self.note(Matters::Assumed, format!("the kernel is {DEFAULT_KERNEL} (`--kernel`)"));
        }
        let mut text = String::from("# Made by `oversim twin import`.\n");
        for finding in &self.findings {
            let _ = writeln!(text, "# - {}", notation::neutral::line(finding));
        }
        for note in &self.notes {
            let _ = writeln!(text, "# {note}");
        }
        let _ = writeln!(text, "name: {}", self.options.name);
        let kernel = self.options.kernel.as_deref().unwrap_or(DEFAULT_KERNEL);
        let _ = writeln!(
            text,
            "machine: {}",
            self.options.machine.clone().unwrap_or_else(|| default_machine(&self.recording))
        );
        let _ = writeln!(text, "kernel: {kernel}");
        if let Some(quota) = self.quota() {
            let _ = writeln!(text, "cgroups: {{ twin: {quota} }}");
        }
        let _ = writeln!(text, "start_jitter: 0s");
        if let Some(window) = self.window {
            let _ = writeln!(text, "window: {}", time(window));
        }
        if self.parts {
            text.push_str("objective: makespan  # the parts of the program, one after the other\n");
        }
        let _ = writeln!(text, "apps:");
        text += &self.apps;
        let _ = writeln!(text, "policies: [LOAD]");
        text
    }
}

/// A machine with as many equal cores as the recording has cpus, and the costs of wake-ups that it shows.
#[must_use]
pub fn default_machine(recording: &Recording<'_>) -> String {
    let cpus = recording.follower.cpus().max(1);
    let Estimated { idle_exit, wake_remote, .. } = Estimated::of(recording.courses);
    let mut values = String::from("work_unit: own");
    if let Some((exit, _)) = idle_exit {
        let _ = write!(values, ", idle_exit: {exit}ns");
    }
    if let Some((wake, _)) = wake_remote {
        let _ = write!(values, ", wake_remote: {wake}ns");
    }
    format!("{{ \"core:{cpus}\": {{ {values} }} }}")
}
