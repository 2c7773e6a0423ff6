//! What a page asks for in the browser: JSON with changes of a scenario.

#[expect(dead_code, unreachable_pub, reason = "a file of the page, which uses all of it")]
#[path = "../../../../bindings/browser/src/request.rs"]
mod source;

use source::Request;

use crate::{promise, scenarios};

/// Any text.
pub(crate) fn request(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Request::read(text) {
        Ok(request) => scenarios::check("fuzz.yaml", scenarios::SMALL, &request.overrides()),
        Err(why) => promise::worded_refusal(&why),
    }
}
