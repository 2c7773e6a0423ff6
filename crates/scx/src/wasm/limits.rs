//! What a policy file may use.

/// Largest policy file, bytes. A scheduler with its runtime has some tens of KiB; the rest is for tables.
pub(super) const FILE: u64 = 16 << 20;

/// Most instructions of WebAssembly in one operation. `bpf_loop` goes round at most 2^23 times
/// (`BPF_MAX_LOOPS` of Linux), here with 32 instructions each; a loop without end reaches this in about a
/// second.
pub(super) const FUEL: u64 = 1 << 28;

/// Largest memory of a scheduler with its maps, bytes: room for a task storage of 16 KiB for each of 16,384
/// tasks.
pub(super) const MEMORY: usize = 256 << 20;

/// Most calls within one another. BPF allows eight functions and 33 tail calls (`MAX_BPF_STACK`,
/// `MAX_TAIL_CALL_CNT`); the runtime adds its own.
pub(super) const DEPTH: usize = 256;

/// Most bytes of values on the interpreter's stack: 4 KiB for each of the nested calls.
pub(super) const STACK: usize = DEPTH * 4_096;

/// Most cpus of a machine that the masks of the headers have room for (`NR_CPUS`).
pub(super) const CPUS: u32 = 4_096;
