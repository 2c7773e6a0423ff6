//! `oversim-bind MODULE KIND FOLDER`: the JavaScript of a module for `web` or `nodejs`, with the module
//! itself.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [module, kind, folder] = &words[..] else {
        eprintln!("error: oversim-bind takes a module, `web` or `nodejs`, and a folder");
        return ExitCode::from(2);
    };
    let mut bind = Bindgen::new();
    // The names of functions are a tenth of the module.
    bind.remove_name_section(true);
    let written = match kind.as_str() {
        "web" => bind.web(true),
        "nodejs" => bind.nodejs(true),
        other => {
            eprintln!("error: {other} is neither `web` nor `nodejs`");
            return ExitCode::from(2);
        }
    };
    match written.and_then(|bind| bind.input_path(module).typescript(true).generate(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {module}: {error:#}");
            ExitCode::from(1)
        }
    }
}
