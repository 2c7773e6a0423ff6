//! Questions of one shape: a wait policy, a pod, a shared node, nested pools.

mod page;
pub mod pod;
pub mod pools;
pub mod share;
pub mod wait;
mod words;

pub use page::Form;
