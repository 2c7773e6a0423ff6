//! The answer about nested pools as text, Markdown and JSON.

use std::collections::BTreeSet;

use notation::number;

use super::{Answer, Cell};
use crate::shapes::page::{Form, Page, Table};
use crate::shapes::words::{length, longer, per_cent};

/// Most columns of the short text.
const MOST_COLUMNS: usize = 9;
/// Periods of the quota that the work should last.
const LEAST_PERIODS: f64 = 10.0;
/// Most rows of the short text.
const MOST_ROWS: usize = 10;

/// A combination in words.
fn words(cell: &Cell) -> String {
    format!(
        "{} x {}",
        number::plural(cell.outer as usize, "worker", "workers"),
        number::plural(cell.inner as usize, "thread", "threads")
    )
}

/// The answer in a form.
pub(super) fn written(answer: &Answer, form: Form) -> String {
    if form == Form::Json {
        return json(answer);
    }
    let mut page = Page::new(form);
    let quota =
        answer.quota.map_or_else(String::new, |milli| format!(", a quota of {} cpus", milli as f64 / 1e3));
    page.paragraph(&format!(
        "{} of work in calls of {} ({} % of each serial, {}) on {} ({}, {}){quota}; threads of {}.",
        length(answer.work_ns),
        length(answer.region_ns),
        answer.serial_percent,
        number::plural(answer.meetings as usize, "meeting of the threads", "meetings of the threads"),
        answer.machine,
        number::plural(answer.cpus as usize, "cpu", "cpus"),
        answer.kernel,
        answer.runtime,
    ));
    page.paragraph(&format!(
        "Time until all is done, by workers (rows) and threads of each (columns), {} seeds; *: fastest, \
         or not distinguishable from it.",
        answer.seeds
    ));
    let (times, cut) = table(answer, form, "workers", |cell| {
        format!("{}{}", number::short_seconds(cell.time_s.mean), if cell.level { "*" } else { "" })
    });
    page.table(&times);
    if cut {
        page.paragraph("Not all combinations are shown: --table full, --format markdown or json has them.");
    }
    if form != Form::Text {
        let (regrets, _) =
            table(answer, form, "longer than the fastest, %", |cell| per_cent(cell.regret.mean));
        page.table(&regrets);
    }
    conclusion(answer, &mut page);
    page.done()
}

/// The cells as a table, and whether some were left out.
fn table(answer: &Answer, form: Form, what: &str, shown: impl Fn(&Cell) -> String) -> (Table, bool) {
    let cells = || answer.cells.iter().filter(|cell| !cell.beside);
    let (rows, columns): (BTreeSet<u32>, BTreeSet<u32>) =
        cells().map(|cell| (cell.outer, cell.inner)).unzip();
    let most = |of: &BTreeSet<u32>, most: usize| match form {
        Form::Text => of.len() > most,
        _ => false,
    };
    let cut = most(&rows, MOST_ROWS) || most(&columns, MOST_COLUMNS);
    let (row_count, column_count) =
        if form == Form::Text { (MOST_ROWS, MOST_COLUMNS) } else { (usize::MAX, usize::MAX) };
    let columns: Vec<u32> = columns.into_iter().take(column_count).collect();
    let head = [what.to_owned()].into_iter().chain(columns.iter().map(|inner| format!("x{inner}")));
    let rows = rows.into_iter().take(row_count).map(|outer| {
        let cell = |inner: &u32| cells().find(|cell| (cell.outer, cell.inner) == (outer, *inner));
        let own = columns.iter().map(|inner| cell(inner).map_or_else(String::new, &shown));
        [format!("{outer}")].into_iter().chain(own).collect()
    });
    (Table { head: head.collect(), rows: rows.collect() }, cut)
}

fn conclusion(answer: &Answer, page: &mut Page) {
    let Some(best) = answer.cells.get(answer.best) else { return };
    let level = answer.cells.iter().filter(|cell| cell.level && !cell.beside).count();
    let among = match level {
        0 | 1 => String::new(),
        more => format!("; of {more} marked with *, the one with the fewest threads"),
    };
    page.labelled(
        "Best",
        &format!(
            "{}: {} ±{}{among}",
            words(best),
            number::short_seconds(best.time_s.mean),
            best.time_s.half_width().map_or_else(|| "-".into(), number::short_seconds)
        ),
    );
    page.labelled("Habit", &habit(answer));
    page.labelled("Cpus", &cpus(answer));
    if let Some(periods) = answer.periods.filter(|periods| *periods < LEAST_PERIODS) {
        let text = format!(
            "the work is the quota of {} periods of 100 ms: what a quota does shows in longer work (--work)",
            number::short(periods)
        );
        page.labelled("Short", &text);
    }
    page.typed(&typed(best));
    page.labelled(
        "Assumed",
        &format!(
            "work of threads within ±{} %, workers that are processes and share nothing, nothing else \
             on the machine; a thread reads a line from each of the others after a meeting, and \
             --meetings states how often a call has one; simulated, not measured",
            answer.spread_percent
        ),
    );
}

/// The habit against the fastest combination.
fn habit(answer: &Answer) -> String {
    let cpus = answer.cpus;
    let Some((at, habit)) = answer.habit.and_then(|at| Some((at, answer.cells.get(at)?))) else {
        return format!("{cpus} workers x {cpus} threads are too many to simulate");
    };
    let time = number::short_seconds(habit.time_s.mean);
    let compared = if at == answer.best {
        "that is the best one".to_owned()
    } else if habit.level {
        format!("{time}, not distinguishable from the fastest")
    } else {
        format!("{time}, against the fastest {}", longer(habit.regret.mean, habit.regret.ci95))
    };
    format!("{} (each level takes all cpus): {compared}", words(habit))
}

/// What counts as a cpu, and which program knows it.
fn cpus(answer: &Answer) -> String {
    match answer.quota {
        None => format!("{}; no quota is assumed (--cpus 2 states one)", answer.cpus),
        Some(_) if answer.usable == answer.cpus => {
            format!("{}: the quota does not lower the count", answer.cpus)
        }
        Some(_) => format!(
            "{} with the quota, which joblib.cpu_count() counts; os.cpu_count() says {}",
            answer.usable, answer.cpus
        ),
    }
}

/// The lines to type for a combination.
fn typed(best: &Cell) -> Vec<String> {
    let Cell { outer, inner, .. } = best;
    vec![
        format!("export OMP_NUM_THREADS={inner} OPENBLAS_NUM_THREADS={inner} MKL_NUM_THREADS={inner}"),
        format!("joblib: parallel_config(\"loky\", n_jobs={outer}, inner_max_num_threads={inner})"),
        format!(
            "torch: DataLoader(num_workers={outer}, worker_init_fn=lambda _: torch.set_num_threads({inner}))"
        ),
    ]
}

fn json(answer: &Answer) -> String {
    #[derive(serde::Serialize)]
    struct Whole<'a> {
        #[serde(flatten)]
        answer: &'a Answer,
        #[serde(rename = "type")]
        typed: Vec<String>,
    }
    let typed = answer.cells.get(answer.best).map_or_else(Vec::new, typed);
    serde_json::to_string_pretty(&Whole { answer, typed }).unwrap_or_default() + "\n"
}
