//! How a Python class describes itself, as an entry of the list of policies.
//!
//! Entries live as long as the process. Those of sessions that have ended are used again, so that a program
//! keeps no more of them than it has different classes in use at one time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use notation::parameter::{Kind, Parameter, Values};
use notation::units;
use policies::{Entry, Level, Setting, Showcase, TaskGroups};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sim_core::policy::{Order, Policy};
use sim_core::time::Span;

use super::State;
use super::hooks::PythonPolicy;
use super::interned::{interned, interned_words};
use super::values::ns;

/// A class in use.
pub(super) struct Live {
    pub(super) class: Py<PyAny>,
    pub(super) state: Arc<State>,
    /// The hooks that it defines.
    pub(super) hooks: Vec<&'static str>,
}

/// The entries that Python classes have been given.
#[derive(Default)]
struct Entries {
    /// Those in use, by address.
    live: BTreeMap<usize, Arc<Live>>,
    /// The others.
    free: Vec<&'static Entry>,
}

static ENTRIES: Mutex<Entries> = Mutex::new(Entries { live: BTreeMap::new(), free: Vec::new() });

fn address(entry: &'static Entry) -> usize {
    std::ptr::from_ref(entry) as usize
}

/// The entry of a class, as long as this exists.
pub(super) struct Lease(&'static Entry);

impl Lease {
    /// The entry of a class.
    pub(super) fn new(class: &Bound<'_, PyAny>, state: &Arc<State>) -> PyResult<Self> {
        let py = class.py();
        let described = py.import("oversim.policy")?.getattr("_describe")?.call1((class,))?;
        let (wanted, table, hooks) = read(&described)?;
        let live = Live { class: class.clone().unbind(), state: Arc::clone(state), hooks };
        let mut entries = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |entry: &&Entry| {
            (entry.name, entry.summary, entry.level, entry.text)
                == (wanted.name, wanted.summary, wanted.level, wanted.text)
                && entry.parameters == table
        };
        let found = entries.free.iter().position(same);
        let entry = match found {
            Some(at) => entries.free.swap_remove(at),
            None => Box::leak(Box::new(Entry { parameters: Box::leak(table.into_boxed_slice()), ..wanted })),
        };
        entries.live.insert(address(entry), Arc::new(live));
        Ok(Self(entry))
    }

    pub(super) fn entry(&self) -> &'static Entry {
        self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut entries = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
        let live = entries.live.remove(&address(self.0));
        entries.free.push(self.0);
        drop(entries);
        drop(live);
    }
}

/// Does the work of a thread that simulates. While policies in Python are in use the thread keeps its state
/// in the interpreter, which takes 7 us to make anew, from hook to hook.
pub(crate) fn around(work: &mut (dyn FnMut() + Send)) {
    let used = !ENTRIES.lock().unwrap_or_else(PoisonError::into_inner).live.is_empty();
    if used {
        Python::attach(|py| py.detach(work));
    } else {
        work();
    }
}

/// Builds the policy of a run: an object of the class of the entry.
fn build(values: &Values, setting: &Setting<'_>) -> Box<dyn Policy> {
    let live = {
        let entries = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
        entries.live.get(&address(setting.entry)).cloned()
    };
    match live {
        Some(live) => Box::new(PythonPolicy::new(live, values, setting)),
        None => State::default().fail(PyValueError::new_err("the session of this policy has ended")),
    }
}

/// A parameter as `_describe` gives it: name, kind, words of a choice, default, least and largest value,
/// text.
type Described = (String, String, Vec<String>, String, Option<String>, Option<String>, String);

/// An entry without its parameters, these, and the hooks of the class.
fn read(described: &Bound<'_, PyAny>) -> PyResult<(Entry, Vec<Parameter>, Vec<&'static str>)> {
    let text = |key: &str| -> PyResult<String> { described.get_item(key)?.extract() };
    let name = text("name")?;
    let parameters: Vec<Described> = described.get_item("parameters")?.extract()?;
    let mut table = Vec::new();
    for parameter in parameters {
        table.push(declared(&name, parameter)?);
    }
    let names: Vec<String> = described.get_item("hooks")?.extract()?;
    let hooks = names.iter().map(|name| interned(name)).collect::<PyResult<_>>()?;
    let about = text("about")?;
    let entry = Entry {
        name: interned(&name)?,
        summary: interned(&text("summary")?)?,
        source: "a class in Python",
        level: if text("level")? == "user" { Level::UserLevel } else { Level::InKernel },
        task_groups: match text("groups")?.as_str() {
            "kept" => TaskGroups::Kept,
            "told" => TaskGroups::Told,
            _ => TaskGroups::Refused,
        },
        parameters: &[],
        text: interned(&format!("# {name}\n\n## How it works\n\n{about}\n"))?,
        wins: Showcase::NONE,
        loses: Showcase::NONE,
        build: &build,
    };
    Ok((entry, table, hooks))
}

fn declared(policy: &str, parameter: Described) -> PyResult<Parameter> {
    let (name, kind, words, default, least, most, about) = parameter;
    let (kind, last) = match kind.as_str() {
        "duration" => (Kind::Duration, u64::MAX),
        "flag" => (Kind::Flag, 1),
        "factor" => (Kind::Factor, u64::MAX),
        "choice" => {
            let last = (words.len() as u64).saturating_sub(1);
            (Kind::Choice(interned_words(&words)?), last)
        }
        _ => (Kind::Count, u64::MAX),
    };
    let number = |what: &str, text: &str| {
        units::parse(kind, text)
            .map_err(|why| PyValueError::new_err(format!("{policy}.{name}: {what}: {why}")))
    };
    let (min, max) = (
        least.map_or(Ok(0), |text| number("minimum", &text))?,
        most.map_or(Ok(last), |text| number("maximum", &text))?,
    );
    let default = number("default", &default)?;
    if default < min || default > max {
        let (min, max) = (kind.show(min), kind.show(max));
        return Err(PyValueError::new_err(format!(
            "{policy}.{name}: the default must lie between {min} and {max}"
        )));
    }
    Ok(Parameter { name: interned(&name)?, kind, default, min, max, about: interned(&about)? })
}

/// Gives the object the values of its parameters.
pub(super) fn configure(object: &Bound<'_, PyAny>, values: &Values) -> PyResult<()> {
    for parameter in values.table() {
        let value = values.number(parameter.name).unwrap_or(parameter.default);
        match parameter.kind {
            Kind::Flag => object.setattr(parameter.name, value != 0)?,
            Kind::Factor => object.setattr(parameter.name, value as f64 / 1_000.0)?,
            Kind::Choice(_) => object.setattr(parameter.name, parameter.kind.show(value))?,
            // An infinite time.
            Kind::Duration if value == u64::MAX => object.setattr(parameter.name, object.py().None())?,
            _ => object.setattr(parameter.name, value)?,
        }
    }
    Ok(())
}

/// What the policy has counted: the answer of the object's `counters`.
pub(super) fn counters(object: &Bound<'_, PyAny>) -> PyResult<Vec<(String, u64)>> {
    let answer = object.call_method0("counters")?;
    let named = |(name, count): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let count = count.extract().map_err(|_| {
            PyTypeError::new_err(format!("counters: `{name}` must be a whole number from 0 below 2**64"))
        })?;
        Ok((name, count))
    };
    let counts = answer
        .cast::<PyDict>()
        .map_err(|_| PyTypeError::new_err("counters must return a dict of names and whole numbers"))?;
    counts.iter().map(named).collect()
}

/// Who orders the queues: the answer of the object's `order`.
pub(super) fn order(object: &Bound<'_, PyAny>) -> PyResult<Order> {
    let answer = object.call_method0("order")?;
    if let Ok(word) = answer.extract::<&str>() {
        match word {
            "system" => return Ok(Order::System),
            "policy" => return Ok(Order::Policy),
            _ => {}
        }
    }
    let wrong = || {
        PyTypeError::new_err(
            "order must return \"system\", \"policy\", (\"fifo\", slice_ns) or (\"virtual_time\", slice_ns)",
        )
    };
    let pair = answer.cast::<PyTuple>().map_err(|_| wrong())?;
    let (word, slice): (String, u64) = pair.extract().map_err(|_| wrong())?;
    if slice < 1_000 {
        return Err(PyValueError::new_err(format!(
            "the slice of an order is at least 1,000 ns, not {slice}"
        )));
    }
    let slice = Span::from_ns(ns("slice_ns", slice)?);
    match word.as_str() {
        "fifo" => Ok(Order::Fifo { slice }),
        "virtual_time" => Ok(Order::VirtualTime { slice }),
        _ => Err(wrong()),
    }
}
