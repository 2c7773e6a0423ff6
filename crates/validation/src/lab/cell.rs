//! A cell of a study: its scenario with some settings, under one policy.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use hmac_sha256::Hash;

use super::setting::Setting;
use super::study::Study;

/// A cell. Two cells with the same key are the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    study: String,
    own: Option<Arc<Study>>,
    policy: String,
    settings: BTreeMap<String, Setting>,
}

impl Cell {
    /// The cell of a study as its file says, under one of its policies (or any of the registry, or
    /// `UPPER/BENEATH`).
    #[must_use]
    pub fn new(study: &str, policy: &str) -> Self {
        Self { study: study.to_owned(), own: None, policy: policy.to_owned(), settings: BTreeMap::new() }
    }

    /// The same of a study that is not built in. Its key holds a checksum of the scenario.
    #[must_use]
    pub fn of(study: &Arc<Study>, policy: &str) -> Self {
        let sum = Hash::hash(study.text.as_bytes());
        let name = format!("{}@{:02x}{:02x}{:02x}{:02x}", study.name, sum[0], sum[1], sum[2], sum[3]);
        Self { own: Some(study.clone()), ..Self::new(&name, policy) }
    }

    /// The same with one more setting, by the paths of a sweep.
    #[must_use]
    pub fn set(mut self, path: &str, value: impl Into<Setting>) -> Self {
        self.settings.insert(path.to_owned(), value.into());
        self
    }

    /// The same under another policy.
    #[must_use]
    pub fn under(mut self, policy: &str) -> Self {
        policy.clone_into(&mut self.policy);
        self
    }

    /// Name of the study.
    #[must_use]
    pub fn study(&self) -> &str {
        &self.study
    }

    /// Its study if that is not built in.
    #[must_use]
    pub fn own(&self) -> Option<&Study> {
        self.own.as_deref()
    }

    /// Label of the policy.
    #[must_use]
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// Paths and values, by path: what a path belongs to comes before it.
    #[must_use]
    pub const fn settings(&self) -> &BTreeMap<String, Setting> {
        &self.settings
    }

    /// What tells it from all others.
    #[must_use]
    pub fn key(&self) -> String {
        let mut key = format!("{} {}", self.study, self.policy);
        for (path, value) in &self.settings {
            key.push_str(&format!(" {path}={value}"));
        }
        key
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key())
    }
}
