//! Ranks as a program with the calls of the library.

use std::fmt::Write as _;

use import::Kind as Matters;

use super::Making;
use crate::fold::{self, Lengths, Part};
use crate::ranks::Ranks;
use crate::write::{plain, time};

impl Making<'_> {
    /// Ranks as a program with the calls of the library.
    pub(super) fn ranks(&mut self, ranks: &Ranks) {
        let Ranks { members, calls, before, inside, .. } = ranks;
        let cpu: u64 = members
            .iter()
            .filter_map(|id| self.recording.courses.list.get(id))
            .map(|course| course.cpu)
            .sum();
        self.findings.push(format!(
            "found {} ranks with {calls} calls each, by marks; they spend {:.0} % of their cpu time in calls",
            members.len(),
            100.0 * *inside as f64 / cpu.max(1) as f64
        ));
        let runtime = self.runtime(self.options.facts.ranks()).unwrap_or_else(|| {
            let mpich = self.recording.follower.marks.iter().any(|mark| mark.starts_with("m_"));
            let runtime = if mpich { "mpich2" } else { "openmpi" };
            self.note(Matters::Assumed, format!("the runtime of ranks: `{runtime}` (`--runtime`)"));
            runtime.to_owned()
        });
        self.note(
            Matters::Assumed,
            "messages have 8 bytes, and `sendrecv` goes to the next rank: neither is in the recording",
        );
        let (tables, code) = code(ranks);
        let name = members
            .first()
            .and_then(|id| self.threads().get(*id))
            .map_or_else(String::new, |thread| plain(&thread.name));
        let keys = self.keys();
        let text = &mut self.apps;
        let _ = writeln!(text, "  {name}:");
        let _ = writeln!(text, "    runtime: {runtime}");
        let _ = writeln!(
            text,
            "    start: {}  # from the first instant of the program to its first rank",
            time(*before)
        );
        text.push_str(&keys);
        let _ = writeln!(text, "    program:");
        let _ = writeln!(text, "      count: {}", members.len());
        let _ = writeln!(
            text,
            "      devices: {{ launcher: 1024 }}  # sleep before the first and behind the last call"
        );
        if !tables.is_empty() {
            let _ = writeln!(text, "      tables:");
        }
        for (table, values) in tables {
            let values: Vec<String> = values.iter().map(|value| time(*value)).collect();
            let _ = writeln!(text, "        {table}: [{}]", values.join(", "));
        }
        let _ = writeln!(text, "      code: |");
        for line in code {
            let _ = writeln!(text, "        {line}");
        }
        let left = self.program.threads.len() - members.len();
        if left > 0 {
            self.note(
                Matters::Differs,
                format!("{left} other threads of the program, such as the launcher, are left out"),
            );
        }
    }
}

/// Tables of lengths, by their names, in ns.
type Tables = Vec<(String, Vec<u64>)>;

/// What each rank does, and the tables of its lengths.
fn code(ranks: &Ranks) -> (Tables, Vec<String>) {
    let Ranks { parts, edges, slept, after, .. } = ranks;
    let mut tables = Tables::new();
    let mut code =
        vec![format!("run {}", time(edges.0.max(1))), format!("io launcher {}", time(slept.0.max(1)))];
    for (number, part) in parts.iter().enumerate() {
        match part {
            Part::One(called) => {
                if called.work > 0 {
                    code.push(format!("run {}", time(called.work)));
                }
                code.push(called.statement.to_owned());
            }
            Part::Loop(times, block) => {
                code.push(format!("repeat {times} {{"));
                for (place, (called, works)) in block.iter().enumerate() {
                    let run = match fold::lengths(works) {
                        Lengths::Mean(mean) => time(mean),
                        Lengths::Table(values) => {
                            tables.push((format!("work-{}-{}", number + 1, place + 1), values));
                            format!("table work-{}-{}", number + 1, place + 1)
                        }
                    };
                    code.push(format!("  run {run}"));
                    code.push(format!("  {}", called.statement));
                }
                code.push("}".into());
            }
        }
    }
    code.push(format!("run {}", time(edges.1.max(1))));
    code.push(format!("io launcher {}", time((*after + slept.1).max(1))));
    (tables, code)
}
