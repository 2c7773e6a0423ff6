//! The simulator for a browser.

use wasm_bindgen::prelude::wasm_bindgen;

/// The version of oversim.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
