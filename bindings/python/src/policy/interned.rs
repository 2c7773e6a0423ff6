//! Texts of Python programs that have to live as long as the process: rules, names of facts, of policies and
//! of parameters.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use pyo3::PyResult;
use pyo3::exceptions::PyValueError;

static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// More than any program needs that does not put numbers into its rules.
const MOST: usize = 10_000;

/// The text, kept once for the whole process.
///
/// # Errors
/// There are too many different ones.
pub(super) fn interned(text: &str) -> PyResult<&'static str> {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = texts.get(text) {
        return Ok(kept);
    }
    if texts.len() >= MOST {
        return Err(PyValueError::new_err(format!(
            "there are over {MOST} different rules: a rule is a constant text; give numbers beside it, as \
             `why=(\"rule\", {{\"tasks\": 3}})`"
        )));
    }
    let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
    texts.insert(kept);
    Ok(kept)
}

static LISTS: Mutex<BTreeSet<&'static [&'static str]>> = Mutex::new(BTreeSet::new());

/// The texts as a list, kept once for the whole process.
///
/// # Errors
/// As [`interned`].
pub(super) fn interned_words(words: &[String]) -> PyResult<&'static [&'static str]> {
    let words: Vec<&'static str> = words.iter().map(|word| interned(word)).collect::<PyResult<_>>()?;
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = lists.get(words.as_slice()) {
        return Ok(kept);
    }
    let kept: &'static [&'static str] = Box::leak(words.into_boxed_slice());
    lists.insert(kept);
    Ok(kept)
}
