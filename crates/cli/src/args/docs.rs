//! The arguments of `oversim docs`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter as Completer;

use crate::complete;

#[derive(Args, Debug)]
pub(crate) struct Docs {
    /// A page such as `model/memory`, or a section of one such as `model/memory#pages`, is printed. Other
    /// words are searched for: what is found has all of them, each at the beginning of a word, in upper or
    /// lower case.
    #[arg(value_name = "PAGE|WORD", add = Completer::new(complete::manual), allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}
