//! Examples and exit statuses in the help of `oversim scx`.

pub(crate) const SCX: &str = "\
Examples:
  oversim scx build examples/scx/vtime.bpf.c
  oversim scx compare LOAD VTIME --on waiting_on_a_modern_kernel
  oversim scx build --help
  oversim scx export examples/scx/short_bursts.order

Exit status: that of the command.";

pub(crate) const BUILD: &str = "\
Examples:
  oversim scx build examples/scx/vtime.bpf.c
  oversim scx build examples/scx/per_llc.bpf.c -o per_llc.wasm --format json
  oversim scx build main.bpf.c util.bpf.c -I include -D DEBUG=0

The scheduler is the one that sched_ext of Linux loads: it includes <scx/common.bpf.h>, which oversim \
has. It takes clang and wasm-ld (packages clang and lld). A scenario names the file: \
`policies: [LOAD, ./vtime.wasm]`.

Exit status: 0 done; 1 output failed; 2 wrong usage, clang or wasm-ld are missing or refuse the sources, or \
the scheduler uses what oversim does not have: then all of that is listed, and nothing was written.";

pub(crate) const COMPARE: &str = "\
Examples:
  oversim scx compare LOAD VTIME --on two_hogs_one_core locks --repeat 2
  oversim scx compare LOAD ./vtime.wasm --on general --timeline worst.svg

Both policies run each scenario with the same seeds. The parts of the time of a cpu sum to the difference. A \
`?` stands behind a difference whose 95 % interval contains zero. A scenario that a policy refuses, or in \
which a run does not complete, is named and not compared.

Exit status: 0 done; 1 output failed or interrupted; 2 wrong usage, or no scenario can be compared.";

pub(crate) const EXPORT: &str = "\
Examples:
  oversim scx export examples/scx/short_bursts.order
  oversim scx export examples/scx/interactive.order -o interactive.bpf.c
  oversim scx export examples/scx/interactive.order --name mine -o mine.bpf.c

An order is a key, a slice and a rule of preemption, each a formula; a scenario names its file: \
`policies: [LOAD, ./mine.order]`. The program keeps only what its formulas read, and includes \
<scx/common.bpf.h>. `oversim scx build` makes a policy file of it, which decides as the order does; the \
comment at its beginning says how to build and load it on Linux 6.12 or later.

Exit status: 0 done; 1 output failed; 2 wrong usage, or the order cannot be read or is wrong: then file, \
line and column are named, and nothing was written.";
