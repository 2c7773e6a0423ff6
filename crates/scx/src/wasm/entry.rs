//! Policy files as entries of the registry of policies.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use notation::parameter::Values;
use policies::{Entry, Level, PolicyFile, Setting, Showcase, TaskGroups, file_label};
use sim_core::policy::Policy;

use crate::ext::Ext;

use super::failing::Failing;
use super::globals;
use super::host::Host;
use super::limits::FILE;
use super::loaded::{Loaded, Refused};

/// The entries so far, by the label and the contents of their files: each is made once.
static ENTRIES: Mutex<BTreeMap<(String, [u8; 32]), &'static Entry>> = Mutex::new(BTreeMap::new());

/// Reads the policy file at a path, for [`policies::PolicyRegistry::reading_files`].
///
/// # Errors
/// A half-sentence about the file, and what would be right.
pub fn read(path: &Path) -> Result<PolicyFile, (String, String)> {
    let absent = |error: std::io::Error| (error.to_string(), String::new());
    let file = File::open(path).map_err(absent)?;
    let mut bytes = Vec::new();
    file.take(FILE + 1).read_to_end(&mut bytes).map_err(absent)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    entry_of(&name, &bytes)
}

/// The policy of a file with this name and these contents.
///
/// # Errors
/// As [`read`].
pub fn entry_of(name: &str, bytes: &[u8]) -> Result<PolicyFile, Refused> {
    fits(bytes)?;
    let name = notation::neutral::line(name).into_owned();
    let key = (name.clone(), hmac_sha256::Hash::hash(bytes));
    let mut entries = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(entry) = entries.get(&key) {
        return Ok(PolicyFile { entry, sha256: super::loaded::hex(&key.1) });
    }
    let loaded = Arc::new(Loaded::new(&name, bytes)?);
    let sha256 = loaded.sha256.clone();
    let entry: &'static Entry = Box::leak(Box::new(made(&loaded)));
    entries.insert(key, entry);
    Ok(PolicyFile { entry, sha256 })
}

fn fits(bytes: &[u8]) -> Result<(), Refused> {
    let hint = || format!("a policy file has at most {} MiB", FILE >> 20);
    let fits = bytes.len() as u64 <= FILE;
    fits.then_some(()).ok_or_else(|| ("it is too long for a policy file".to_owned(), hint()))
}

/// Whether this program can run a policy file with these contents.
///
/// # Errors
/// As [`read`].
pub fn check(bytes: &[u8]) -> Result<(), Refused> {
    fits(bytes)?;
    Loaded::new("", bytes).map(|_| ())
}

/// The entry of a file. It lives as long as the program, as all entries do.
fn made(loaded: &Arc<Loaded>) -> Entry {
    let about = &loaded.about;
    let label = file_label(&loaded.file);
    let scheduler = notation::neutral::line(&about.name);
    let given: Vec<_> = about.ops.given.iter().map(|op| notation::neutral::line(op)).collect();
    let text = format!(
        "# {label}\n\n## How it works\n\nThe scheduler `{scheduler}` of the policy file {}, built by {} \
         from {}. It gives the operations {} of `struct sched_ext_ops`.\n",
        loaded.file,
        notation::neutral::line(&about.compiler),
        notation::neutral::line(&about.sources.join(", ")),
        given.join(", "),
    );
    let run = Arc::clone(loaded);
    Entry {
        name: String::leak(label.to_owned()),
        summary: String::leak(format!("the sched_ext scheduler `{scheduler}` of the file {}", loaded.file)),
        source: String::leak(format!("policy file, SHA-256 {}", loaded.sha256)),
        level: Level::InKernel,
        task_groups: TaskGroups::Told,
        parameters: Vec::leak(globals::parameters(about)),
        text: String::leak(text),
        wins: Showcase::NONE,
        loses: Showcase::NONE,
        build: Box::leak(Box::new(move |values: &Values, setting: &Setting<'_>| -> Box<dyn Policy> {
            let started = Host::new(&run, values, setting);
            match started.and_then(|host| Ext::new(host, setting.machine)) {
                Ok(policy) => Box::new(policy),
                Err(message) => Box::new(Failing(message)),
            }
        })),
    }
}
