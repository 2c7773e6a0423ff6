//! Orders as entries of the registry of policies.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use notation::parameter::{self, Kind, Values};
use policies::{Entry, Level, PolicyFile, Setting, Showcase, TaskGroups};
use sim_core::policy::Policy;

use crate::ext::Ext;

use super::file::MOST_BYTES;
use super::order::{Formula, Parameter, time};
use super::scheduler::Ordered;

/// The entries so far, by the name and the text of their orders: each is made once.
static ENTRIES: Mutex<BTreeMap<(String, String), &'static Entry>> = Mutex::new(BTreeMap::new());

/// Reads the order at a path, for [`policies::PolicyRegistry::reading_files`].
///
/// # Errors
/// A half-sentence about the file with line and column, and what would be right.
pub fn read(path: &Path) -> Result<PolicyFile, (String, String)> {
    let absent = |error: std::io::Error| (error.to_string(), String::new());
    let file = File::open(path).map_err(absent)?;
    let mut bytes = Vec::new();
    // One byte more than is allowed shows that there are too many.
    file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(absent)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let sha256 = hmac_sha256::Hash::hash(&bytes);
    let text = String::from_utf8(bytes);
    let text = text.map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        (format!("byte {at} is not UTF-8"), "an order is a text file".to_owned())
    })?;
    let formula = Formula::parse(&name, &text).map_err(|problems| {
        let mut located = problems.located();
        let others = located.len().saturating_sub(1);
        let Some(first) = (!located.is_empty()).then(|| located.remove(0)) else { return Default::default() };
        let more = if others == 0 { String::new() } else { format!(" (and {others} more)") };
        (format!("{}:{}:{}: {}{more}", first.source, first.start.0, first.start.1, first.message), first.hint)
    })?;
    let entry = formula.entry().map_err(|why| (why, String::new()))?;
    let sha256 = sha256.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    Ok(PolicyFile { entry, sha256 })
}

impl Formula {
    /// The order as a policy of the registry; the same one each time for the same order. Entries stay for as
    /// long as the program runs: a search with many thousands of orders builds [`Ordered`] itself.
    ///
    /// # Errors
    /// A sentence: its parts do not fit together ([`Formula::check`]).
    pub fn entry(&self) -> Result<&'static Entry, String> {
        self.check()?;
        let key = (self.name.clone(), self.to_string());
        let mut entries = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get(&key) {
            return Ok(entry);
        }
        let entry: &'static Entry = Box::leak(Box::new(made(self)));
        entries.insert(key, entry);
        Ok(entry)
    }

    /// Its parameters as scenarios set them.
    #[must_use]
    pub fn declared(&self) -> Vec<parameter::Parameter> {
        self.parameters.iter().map(declared).collect()
    }
}

/// A parameter as the registry declares it. Those of the entry live as long as the program.
fn declared(parameter: &Parameter) -> parameter::Parameter {
    let held = |number: i64| if parameter.time { number.cast_unsigned() } else { Kind::signed(number) };
    let about = match parameter.about.as_str() {
        "" if parameter.time => "A time that the order reads in ns.".to_owned(),
        "" => "A number that the order reads.".to_owned(),
        about => format!("{}.", about.trim_end_matches('.')),
    };
    parameter::Parameter {
        name: String::leak(parameter.name.clone()),
        kind: if parameter.time { Kind::Duration } else { Kind::Signed },
        default: held(parameter.default),
        min: held(parameter.least),
        max: held(parameter.most),
        about: String::leak(about),
    }
}

/// What the order does, as a page of a policy has it.
fn page(formula: &Formula) -> String {
    let mut text = format!("# {}\n\n## How it works\n\n", formula.name);
    if !formula.about.is_empty() {
        let _ = writeln!(text, "{}\n", notation::neutral::markdown_paragraph(&formula.about));
    }
    let queues = match formula.queue.word() {
        "machine" => "one queue for the machine".to_owned(),
        word => format!("a queue for each {word}, and takes from the next one if its own is empty"),
    };
    let _ = write!(text, "A cpu that needs a task takes the first one of {queues}. ");
    match &formula.key {
        Some(key) => {
            let _ = write!(text, "The task with the least key runs first: `{key}`. ");
        }
        None => text.push_str("Tasks run first come, first served. "),
    }
    let _ = write!(text, "It runs for `{}` ns.", formula.slice);
    if let Some(preempts) = &formula.preempts {
        let _ =
            write!(text, " A task that wakes takes the cpu of the one with the largest key if `{preempts}`.");
    }
    for parameter in &formula.parameters {
        let shown = if parameter.time { time(parameter.default) } else { parameter.default.to_string() };
        let _ = write!(text, " `{}` is {shown} unless it is set.", parameter.name);
    }
    text.push('\n');
    text
}

/// The entry of an order. It lives as long as the program, as all entries do.
fn made(formula: &Formula) -> Entry {
    let order = Arc::new(formula.clone());
    Entry {
        name: String::leak(formula.name.clone()),
        summary: String::leak(format!("the order by formula `{}`", formula.name)),
        source: "an order by formula",
        level: Level::InKernel,
        task_groups: TaskGroups::Told,
        parameters: Vec::leak(formula.declared()),
        text: String::leak(page(formula)),
        wins: Showcase::NONE,
        loses: Showcase::NONE,
        build: Box::leak(Box::new(move |values: &Values, setting: &Setting<'_>| -> Box<dyn Policy> {
            built(&order, values, setting)
        })),
    }
}

#[expect(
    clippy::expect_used,
    reason = "an order is checked before it becomes an entry, and its name is legal"
)]
fn built(order: &Formula, values: &Values, setting: &Setting<'_>) -> Box<dyn Policy> {
    let number = |parameter: &Parameter| {
        let held = values.number(&parameter.name)?;
        Some(if parameter.time { held.cast_signed() } else { Kind::of_signed(held) })
    };
    let values: Vec<i64> =
        order.parameters.iter().map(|parameter| number(parameter).unwrap_or(parameter.default)).collect();
    let scheduler = Ordered::new(order, &values).expect("its parts fit together");
    Box::new(Ext::new(scheduler, setting.machine).expect("a name that `ops.name` can be"))
}
