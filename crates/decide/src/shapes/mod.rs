//! Questions of one shape: a wait policy, a pod, a shared node, nested pools.

pub mod pod;
pub mod pools;
pub mod share;
pub mod wait;
