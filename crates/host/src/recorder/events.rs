//! Which events are recorded, and what is left out of them because it says nothing of a program.

use std::fs;

use crate::recorder::tracefs::Instance;

/// An event of tracefs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Wanted {
    /// Its system and name.
    name: &'static str,
    /// Nothing can be read without it.
    needed: bool,
    filter: Filter,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Filter {
    Nothing,
    /// Softirqs of the kernel's own work: TASKLET, SCHED, RCU (`include/linux/interrupt.h`).
    Softirqs,
    /// Only timers that wake the thread which sets them.
    Sleeps,
    /// All timers but the tick.
    NoTick,
}

const fn wanted(name: &'static str, needed: bool, filter: Filter) -> Wanted {
    Wanted { name, needed, filter }
}

/// The events of a recording.
const EVENTS: [Wanted; 14] = [
    wanted("sched/sched_switch", true, Filter::Nothing),
    wanted("sched/sched_waking", true, Filter::Nothing),
    wanted("sched/sched_wakeup_new", false, Filter::Nothing),
    wanted("sched/sched_stat_runtime", false, Filter::Nothing),
    wanted("sched/sched_process_fork", true, Filter::Nothing),
    wanted("sched/sched_process_exec", false, Filter::Nothing),
    wanted("sched/sched_process_exit", false, Filter::Nothing),
    wanted("sched/sched_migrate_task", false, Filter::Nothing),
    wanted("timer/hrtimer_start", false, Filter::Sleeps),
    wanted("timer/hrtimer_expire_entry", false, Filter::NoTick),
    wanted("irq/softirq_entry", false, Filter::Softirqs),
    wanted("irq/softirq_exit", false, Filter::Softirqs),
    wanted("irq/irq_handler_entry", false, Filter::Nothing),
    wanted("irq/irq_handler_exit", false, Filter::Nothing),
];

/// The functions of the tick, by kernel: from 6.8 on, and before.
const TICKS: [&str; 2] = ["tick_nohz_handler", "tick_sched_timer"];

/// The address of a function in `/proc/kallsyms`; none where it is not told (0), or where several have the
/// name.
fn address(symbols: &str, name: &str) -> Option<u64> {
    let mut found = symbols.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (address, _, symbol) = (fields.next()?, fields.next()?, fields.next()?);
        if symbol == name { u64::from_str_radix(address, 16).ok() } else { None }
    });
    let first = found.next().filter(|address| *address != 0)?;
    found.next().is_none().then_some(first)
}

/// The spellings of a filter, the best first: kernels that do not know names of functions take addresses.
fn spellings(filter: Filter, symbols: &dyn Fn() -> String) -> Vec<String> {
    let functions = |sign: &str, names: &[&str]| {
        let mut all: Vec<String> =
            names.iter().map(|name| format!("function.function {sign} {name}")).collect();
        let symbols = symbols();
        let addresses = names.iter().filter_map(|name| address(&symbols, name));
        all.extend(addresses.map(|address| format!("function {sign} {address:#x}")));
        all
    };
    match filter {
        Filter::Nothing => Vec::new(),
        Filter::Softirqs => vec!["vec != 6 && vec != 7 && vec != 9".to_owned()],
        Filter::Sleeps => functions("==", &["hrtimer_wakeup"]),
        Filter::NoTick => functions("!=", &TICKS),
    }
}

/// Enables the events in an instance. The names of those that this kernel does not have.
///
/// # Errors
/// A sentence: one without which nothing can be read is missing.
pub(crate) fn enable(instance: &Instance<'_>) -> Result<Vec<&'static str>, String> {
    let symbols = || fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let mut missing = Vec::new();
    for event in EVENTS {
        let folder = format!("events/{}", event.name);
        if !instance.has(&folder) {
            if event.needed {
                return Err(format!("cannot record: this kernel has no event {}", event.name));
            }
            missing.push(event.name);
            continue;
        }
        // Without its filter a recording is larger, and otherwise the same.
        let filter = format!("{folder}/filter");
        let _ = spellings(event.filter, &symbols).iter().any(|text| instance.set(&filter, text).is_ok());
        instance.write(&format!("{folder}/enable"), "1")?;
    }
    Ok(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOLS: &str = "ffffffff81100000 T hrtimer_init\nffffffff81200010 t hrtimer_wakeup\n\
        ffffffff81300000 t twice\nffffffff81400000 t twice [module]\n0000000000000000 t hidden\nbroken\n";

    #[test]
    fn functions_are_named_or_addressed() {
        assert_eq!(address(SYMBOLS, "hrtimer_wakeup"), Some(0xffff_ffff_8120_0010));
        assert_eq!(["twice", "hidden", "none"].map(|name| address(SYMBOLS, name)), [None; 3]);
        let all = spellings(Filter::Sleeps, &|| SYMBOLS.to_owned());
        assert_eq!(all, ["function.function == hrtimer_wakeup", "function == 0xffffffff81200010"]);
        let ticks = spellings(Filter::NoTick, &String::new);
        assert_eq!(ticks, TICKS.map(|name| format!("function.function != {name}")));
        assert!(spellings(Filter::Nothing, &String::new).is_empty());
    }

    #[test]
    fn wakes_are_recorded_where_they_are_caused() {
        let names = EVENTS.map(|event| event.name);
        assert!(names.contains(&"sched/sched_waking") && !names.contains(&"sched/sched_wakeup"));
        assert!(EVENTS.iter().filter(|event| event.needed).all(|event| event.filter == Filter::Nothing));
        let bracket = |name: &str| EVENTS.iter().find(|event| event.name == name).map(|event| event.filter);
        assert_eq!(bracket("irq/softirq_entry"), bracket("irq/softirq_exit"));
    }
}
