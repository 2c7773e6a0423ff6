//! Help of the commands that hold the model against measurements.

pub(crate) const CALIBRATE: &str = "\
Examples:
  oversim calibrate
  oversim calibrate --check

Exit status: 0 done; 1 the profiles differ from those that the measurements give, or output failed; 2 \
wrong usage.";

pub(crate) const CALIBRATE_HOST: &str = "\
Examples:
  oversim calibrate host
  oversim calibrate host -o mine.yaml
  oversim calibrate host --check mine.yaml

The measurement needs a quiet host and no privileges. It waits for one (--wait), and refuses to go on if \
other programs keep the cpus busy. With --force it goes on, and marks what they disturbed. A cost counts \
with a low quantile of the rounds, a rate with a high one: others only make the host slower.

Exit status: 0 done; 1 the host is busy, --check found a value that has changed, or output failed; 2 wrong \
usage, a wrong machine file, or another system than Linux.";

pub(crate) const MEASURE: &str = "\
Examples:
  oversim measure spin_yield_block --machine mine.yaml --set apps.code.runtime=block
  oversim measure two_hogs_one_core --machine mine.yaml --tolerance 10
  oversim measure --suite --machine mine.yaml -o suite.json
  oversim measure my_scenario.yaml --machine mine.yaml --real
  oversim measure --suite real --machine mine.yaml --kind libgomp

Each application becomes a process and its tasks become threads, which do counted work and wait as the \
runtime defines. PIN \
binds the threads, LOAD leaves them to the kernel. Everything that has no counterpart on this host is \
refused by name: other \
policies, kernels and sizes, workloads with exchanges, transfers or locks. With --real, applications of the \
runtimes libgomp, libomp and openmpi are executed by these.

Exit status: 0 done; 1 the host is busy, an error is larger than --tolerance, or a run failed; 2 wrong \
usage or scenario, or \
another system than \
Linux.";

pub(crate) const REPRODUCE: &str = "\
Examples:
  oversim reproduce --quick --group imbalanced
  oversim reproduce --quick
  oversim reproduce --claims mine.yaml --quick --format json
  oversim reproduce --quick --held-out hide

Exit status: 0 done, whatever the verdicts; 1 the report could not be written; 2 wrong usage or claims.";
