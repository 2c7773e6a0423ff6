//! Examples and exit statuses in the help of `oversim why`.

pub(crate) const WHY: &str = "\
Examples:
  oversim why numa_first_touch --vary apps.stencil.workload.pages=first-touch,node0
  oversim why two_hogs_one_core --vary kernel=linux-2.6.28,linux-6.18 -o why.svg
  oversim why spin_yield_block --policy LOAD,PIN --format markdown
  oversim why scenarios/ostep/convoy.yaml scenarios/ostep/late_arrivals.yaml

Each cost, latency and bandwidth of the machine, each rule of kernel and policy that can be switched off, the
way to wait, the work and the neighbours are moved alone on both sides, with the same seeds. What goes away of
the difference is the part of the mechanism. Without --repeat there are 5 replicates.

Exit status: 0 done; 1 output failed; 2 wrong usage or scenario.";
