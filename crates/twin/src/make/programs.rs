//! What threads did as programs of a scenario.

use std::fmt::Write as _;

use import::{Kind as Matters, Refused};
use sim_core::limits::MAX_OPS;
use workloads::program::MOST_KINDS;

use super::Making;
use crate::costs::Estimated;
use crate::jobs::Jobs;
use crate::write::{Kind, Writer, Written, time};

/// Threads that go on until they are stopped are the program if they have this share of its cpu time.
const ENDLESS: f64 = 0.9;
/// Columns before a line of code.
const INDENT: usize = 12;

impl Making<'_> {
    /// Programs of threads.
    pub(super) fn programs(&mut self, jobs: Option<&Jobs>) -> Result<(), Refused> {
        let kinds = self.program.threads.len();
        if kinds > MOST_KINDS {
            return Err(
                self.too_large(&format!("{kinds} kinds of tasks, and a program has at most {MOST_KINDS}"))
            );
        }
        let written = {
            let Making { recording, program, costs, .. } = &*self;
            let span = (program.begin, program.end);
            let dense = Estimated::of(recording.courses).dense.filter(|_| self.options.machine.is_none());
            let mut writer = Writer::new(
                &recording.follower.threads,
                recording.courses,
                &program.threads,
                jobs,
                *costs,
                span,
            );
            writer.dense = dense.as_ref();
            writer.programs()
        };
        if let Some(kind) = written.kinds.iter().find(|kind| kind.code.len() > MAX_OPS) {
            let (name, lines) = (&kind.name, kind.code.len());
            return Err(
                self.too_large(&format!("{lines} statements of `{name}`, and at most {MAX_OPS} are read"))
            );
        }
        if let Some(jobs) = jobs {
            self.findings.push(format!(
                "found {} jobs that one thread starts, at most {} at once; which job waits for which beyond \
                    that is not known",
                jobs.jobs.len(),
                jobs.slots
            ));
        }
        let (steps, lines) = written.steps;
        self.findings.push(format!("{steps} steps of threads became {lines} lines of code"));
        if self.options.runtime.is_some() {
            let what = "neither a team nor ranks were found: no runtime waits for anybody (`--runtime`)";
            self.note(Matters::Differs, what);
        }
        if self.recording.follower.counts.wakes == 0 {
            self.note(
                Matters::Differs,
                "no wake-up was seen: threads that poll are threads that compute here",
            );
        }
        if written.endless.1 >= ENDLESS {
            let lasted = self.program.end - self.program.begin;
            self.window = Some(lasted);
            self.findings.push(format!(
                "{} threads compute and sleep in turns until the program is over: the twin stops after {}, \
                    as the recording does",
                written.endless.0,
                time(lasted)
            ));
        }
        let name = self.name();
        self.app(&name, &written);
        Ok(())
    }

    fn app(&mut self, name: &str, written: &Written) {
        let keys = self.keys();
        let text = &mut self.apps;
        let _ = writeln!(text, "  {name}:");
        text.push_str(&keys);
        let _ = writeln!(text, "    program:");
        if written.outside {
            let _ = writeln!(
                text,
                "      # Waits for devices, interrupts and other programs: they last as long as in the \
                    recording."
            );
            let _ = writeln!(text, "      devices: {{ outside: 1024 }}");
        }
        if let Some(slots) = written.slots {
            let _ = writeln!(text, "      semaphores: {{ slots: {slots} }}  # jobs at once");
        }
        if !written.tables.is_empty() {
            let _ = writeln!(text, "      tables:");
            for (table, values) in &written.tables {
                let values: Vec<String> = values.iter().map(|value| time(*value)).collect();
                let _ = writeln!(text, "        {table}: [{}]", values.join(", "));
            }
        }
        let _ = writeln!(text, "      kinds:");
        for Kind { endless, name, code, origin, nice } in &written.kinds {
            let _ = writeln!(text, "        {name}:  # {}", notation::neutral::line(origin));
            if *nice != 0 {
                let _ = writeln!(text, "          nice: {nice}");
            }
            if self.window.is_some() {
                // The run is that of the threads that go on until it is over.
                let _ = writeln!(text, "          background: {}", !endless);
            }
            let _ = writeln!(text, "          code: |");
            for line in code {
                let _ = writeln!(text, "{}{line}", " ".repeat(INDENT));
            }
        }
    }
}
