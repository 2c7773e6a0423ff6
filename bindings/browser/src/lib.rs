//! The simulator for a browser: JSON text in, JSON text out.
//!
//! [`answer`] does the work and can be called from Rust; the functions of this module are its WebAssembly
//! form.

pub mod answer;
mod panels;
pub mod request;
mod words;

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// What a page or a test defines before it calls [`run`]: receives the finished and all runs.
    #[wasm_bindgen(js_namespace = globalThis, js_name = oversimProgress)]
    fn progress(done: u32, all: u32);
}

/// Called once when the module is loaded: a defect of the program is thrown as an error with its message.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| wasm_bindgen::throw_str(&format!("defect in oversim: {info}"))));
}

/// The version of oversim.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// The built-in scenarios: `[{"name", "path", "text", "question"}]`.
#[wasm_bindgen]
#[must_use]
pub fn scenarios() -> String {
    answer::scenarios()
}

/// The JSON Schema of scenarios.
#[wasm_bindgen]
#[must_use]
pub fn schema() -> String {
    answer::schema()
}

/// What a scenario contains and what can be set in it: see [`answer::describe`].
#[wasm_bindgen]
#[must_use]
pub fn describe(text: &str, request: &str) -> String {
    answer::describe(text, request)
}

/// The results of a scenario: see [`answer::run`]. After each run it calls `globalThis.oversimProgress` with
/// the finished and all runs.
#[wasm_bindgen]
#[must_use]
pub fn run(text: &str, request: &str) -> String {
    answer::run(text, request, &|done, all| progress(done as u32, all as u32))
}

/// What a name or a term means: see [`answer::explained`].
#[wasm_bindgen]
#[must_use]
pub fn explain(name: &str) -> String {
    answer::explained(name)
}

/// The names that a page explains, with a line for each: see [`answer::names`].
#[wasm_bindgen]
#[must_use]
pub fn names() -> String {
    answer::names()
}

/// The timeline that [`run`] answers as a picture: see [`answer::picture`].
#[wasm_bindgen]
#[must_use]
pub fn picture(text: &str, request: &str) -> String {
    answer::picture(text, request)
}

/// The decisions of a run: see [`answer::steps`].
#[wasm_bindgen]
#[must_use]
pub fn steps(text: &str, request: &str) -> String {
    answer::steps(text, request)
}

/// The result as `oversim run --format json` prints it; empty if the scenario is wrong.
#[wasm_bindgen]
#[must_use]
pub fn json(text: &str, request: &str) -> String {
    answer::json(text, request)
}
