//! Who uses which object on which side, and uses that nobody answers.

use std::collections::{BTreeMap, BTreeSet};

use notation::diagnostics::Place;
use notation::reader::Reader;
use notation::suggest::nearest;

use super::draft::Draft;
use super::tree::{Action, Name};

/// What a name is that of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Sort {
    Lock,
    Condition,
    Semaphore,
    Queue,
    Barrier,
    Device,
    Kind,
    Graph,
}

/// An object: the application whose it is (none: it is shared), its sort and its name.
pub(super) type Key = (Option<usize>, Sort, String);

/// Where an object is first used on each side.
#[derive(Clone, Debug, Default)]
pub(super) struct Sides {
    /// Somebody waits for it or takes it.
    pub(super) taken: Option<Place>,
    /// Somebody gives it.
    pub(super) given: Option<Place>,
    /// Application and kind of all who use it.
    pub(super) users: BTreeSet<(usize, usize)>,
}

/// All objects in use.
pub(super) type Uses = BTreeMap<Key, Sides>;

/// The key of an object of an application.
pub(super) fn key(drafts: &[Draft], app: usize, sort: Sort, name: &str) -> Key {
    let shared = !matches!(sort, Sort::Kind | Sort::Graph);
    let shares = shared && drafts.get(app).is_some_and(|draft| draft.shares(name));
    ((!shares).then_some(app), sort, name.to_owned())
}

/// The uses of all programs.
pub(super) fn all(drafts: &[Draft]) -> Uses {
    let mut uses = Uses::new();
    for (app, draft) in drafts.iter().enumerate() {
        let known = |sort: Sort, name: &str| key(drafts, app, sort, name);
        for (kind, of_kind) in draft.kinds.iter().enumerate() {
            draft.each(&of_kind.code, &mut |action, place| {
                for (sort, name, taken, given) in sides(action) {
                    let one: &mut Sides = uses.entry(known(sort, &name.text)).or_default();
                    one.users.insert((app, kind));
                    one.taken = one.taken.or(taken.then_some(place));
                    one.given = one.given.or(given.then_some(place));
                }
            });
        }
        // What is there from the start, or comes from outside.
        for (name, _) in draft.semaphores.iter().filter(|(_, units)| *units > 0) {
            let one = uses.entry(known(Sort::Semaphore, &name.text)).or_default();
            one.given = one.given.or(Some(name.place));
        }
        for (name, _) in &draft.arrivals {
            let one = uses.entry(known(Sort::Queue, &name.text)).or_default();
            one.given = one.given.or(Some(name.place));
        }
    }
    uses
}

/// The objects that a statement uses: whether it takes, and whether it gives.
fn sides(action: &Action) -> Vec<(Sort, &Name, bool, bool)> {
    match action {
        Action::Lock(name) => vec![(Sort::Lock, name, true, false)],
        Action::Unlock(name) => vec![(Sort::Lock, name, false, true)],
        Action::Wait(condition, lock) => {
            vec![(Sort::Condition, condition, true, false), (Sort::Lock, lock, false, true)]
        }
        Action::Signal(name, _) | Action::Broadcast(name) => vec![(Sort::Condition, name, false, true)],
        Action::Acquire(name, _) => vec![(Sort::Semaphore, name, true, false)],
        Action::Release(name, _) => vec![(Sort::Semaphore, name, false, true)],
        Action::Send(name) => vec![(Sort::Queue, name, false, true)],
        Action::Receive(name) => vec![(Sort::Queue, name, true, false)],
        Action::Barrier(Some(name)) => vec![(Sort::Barrier, name, true, true)],
        Action::Io(name, _) => vec![(Sort::Device, name, true, true)],
        Action::Fork(name, _) => vec![(Sort::Kind, name, false, true)],
        Action::Join(name, _) => vec![(Sort::Kind, name, true, false)],
        Action::Work(name) => vec![(Sort::Graph, name, true, true)],
        _ => Vec::new(),
    }
}

/// Notes uses that nobody answers; false if there are any.
pub(super) fn check<C>(reader: &mut Reader<C>, uses: &Uses) -> bool {
    let mut sound = true;
    for ((owner, sort, name), sides) in uses {
        let (message, place) = match (*sort, sides.taken, sides.given) {
            (Sort::Lock, None, Some(place)) => (format!("nobody takes the lock `{name}`"), place),
            (Sort::Lock, Some(place), None) => (format!("nobody gives the lock `{name}` back"), place),
            (Sort::Condition, Some(place), None) => (format!("nobody signals the condition `{name}`"), place),
            (Sort::Condition, None, Some(place)) => {
                (format!("nobody waits for the condition `{name}`"), place)
            }
            (Sort::Semaphore, Some(place), None) => {
                (format!("nobody releases the semaphore `{name}`, and it has no units"), place)
            }
            // One that is declared with units and not used is no error.
            (Sort::Semaphore, None, Some(place)) if !sides.users.is_empty() => {
                (format!("nobody acquires the semaphore `{name}`"), place)
            }
            (Sort::Queue, Some(place), None) => (format!("nobody sends to the queue `{name}`"), place),
            (Sort::Queue, None, Some(place)) => (format!("nobody receives from the queue `{name}`"), place),
            (Sort::Kind, Some(place), None) => (format!("nobody forks the kind `{name}`"), place),
            _ => continue,
        };
        let others = uses.keys().filter(|(of, other, word)| (of, other) == (owner, sort) && word != name);
        let hint = match nearest(name, others.map(|(_, _, word)| word.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => advice(*sort, sides.taken.is_some()).replace("NAME", name),
        };
        reader.wrong_with_hint(place, message, hint);
        sound = false;
    }
    sound
}

/// What would answer a use.
const fn advice(sort: Sort, taken: bool) -> &'static str {
    match (sort, taken) {
        (Sort::Lock, true) => "add `unlock NAME`",
        (Sort::Lock, false) => "add `lock NAME`",
        (Sort::Condition, true) => "add `signal NAME` or `broadcast NAME`",
        (Sort::Condition, false) => "add `wait NAME with LOCK`",
        (Sort::Semaphore, true) => "add `release NAME`, or `semaphores: { NAME: 1 }`",
        (Sort::Semaphore, false) => "add `acquire NAME`",
        (Sort::Queue, true) => "add `send NAME`, or `arrivals: { NAME: { every: 10ms } }`",
        (Sort::Queue, false) => "add `receive NAME`",
        (Sort::Kind, _) => "add `fork NAME`",
        (Sort::Barrier | Sort::Device | Sort::Graph, _) => "",
    }
}
