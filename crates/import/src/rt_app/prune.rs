//! What of a file is never reached: threads that nobody starts, phases behind an endless one, events behind a
//! wait that nobody ends.

use std::collections::BTreeSet;

use super::model::{Thread, Times, What};
use super::usage::{Usage, suspended};
use crate::note::Notes;
use crate::page::at;

/// The threads without what is never reached. What another thread would have done there may keep a third one
/// from going on, so this is done until nothing changes.
pub(super) fn prune(mut threads: Vec<Thread>, notes: &mut Notes) -> Vec<Thread> {
    for thread in &mut threads {
        unreached(thread, notes);
    }
    loop {
        let usage = Usage::of(&threads);
        let before = threads.len();
        threads.retain(|thread| {
            let starts = thread.instances > 0 || usage.forked.contains_key(&thread.name);
            if !starts {
                let place = at(thread.line, &format!("tasks.{}", thread.name));
                notes.no_effect(place, "no thread of it starts");
            }
            starts
        });
        let all = threads.clone();
        let resumed: BTreeSet<&str> = all
            .iter()
            .flat_map(Thread::events)
            .filter_map(|event| if let What::Resume(name) = &event.what { Some(name.as_str()) } else { None })
            .collect();
        let stopped = threads.iter_mut().any(|thread| cut(thread, &usage, &resumed, notes));
        if !stopped && threads.len() == before {
            return threads;
        }
    }
}

/// Removes phases of a thread that runs no time, or that come behind an endless one.
fn unreached(thread: &mut Thread, notes: &mut Notes) {
    let name = thread.name.clone();
    let mut over = thread.times == Times::Number(0);
    thread.phases.retain(|phase| {
        let nothing = over;
        if nothing {
            let place = at(phase.line, &format!("tasks.{name}.phases.{}", phase.name));
            notes.no_effect(place, "it is never reached");
        }
        over |= phase.times == Times::Forever;
        !nothing
    });
}

/// Ends a thread at an event at which it stops for ever, which happens in its first pass.
fn cut(thread: &mut Thread, usage: &Usage, resumed: &BTreeSet<&str>, notes: &mut Notes) -> bool {
    for number in 0..thread.phases.len() {
        let events = &thread.phases[number].events;
        let Some(stop) = events.iter().position(|event| stops(thread, &event.what, usage, resumed)) else {
            continue;
        };
        let what =
            "nobody wakes it there: the thread stops, which the scenario ends; what follows is left out";
        notes.left_out(events[stop].place.clone(), what);
        thread.phases.truncate(number + 1);
        thread.phases[number].events.truncate(stop);
        thread.phases[number].times = Times::Number(1);
        thread.times = Times::Number(1);
        return true;
    }
    false
}

/// True for an event behind which a thread does not come.
fn stops(thread: &Thread, what: &What, usage: &Usage, resumed: &BTreeSet<&str>) -> bool {
    match what {
        What::Wait { condition, .. } => !usage.is_woken(condition),
        What::Suspend(text) => !usage.is_woken(suspended(thread, text, resumed)),
        What::Acquire(name) => !usage.is_posted(name),
        _ => false,
    }
}
