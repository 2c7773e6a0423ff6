//! `oversim-bind MODULE FOLDER`: the JavaScript of a module as a module of the web, with the WebAssembly
//! itself.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = &words[..] else {
        eprintln!("error: oversim-bind takes a module and a folder");
        return ExitCode::from(2);
    };
    let mut bind = Bindgen::new();
    // The names of functions are a tenth of the module.
    bind.remove_name_section(true);
    let written = bind.web(true).and_then(|bind| bind.input_path(module).typescript(true).generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {module}: {error:#}");
            ExitCode::from(1)
        }
    }
}
