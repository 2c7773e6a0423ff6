//! Help of `oversim twin`.

pub(crate) const TWIN: &str = "\
Examples:
  oversim twin latency run.txt
  oversim twin timehist run.txt --only cc1 --summary
  oversim twin split run.txt --by process
  oversim twin idle spec_pair --policy LOAD

A recording is made with `perf sched record` and printed with `perf script --ns -F \
comm,pid,tid,cpu,time,event,trace`, or taken from tracefs or `trace-cmd`. Of a scenario one run is simulated \
and gives the same columns.

Exit status: 0 done; 1 output failed; 2 wrong usage, recording or scenario.";

pub(crate) const RECORD: &str = "\
Examples:
  oversim twin record -o run.trace.gz -- ./program
  oversim twin record --marks --cpus 0-3 -- mpirun -np 4 ./program
  oversim twin record --for 5s -- ./server

Needs root for tracefs; how to do without, and what a recording costs, is in docs/how-to/record.md.

Exit status: 0 the recording was written, whatever the status of the command; 1 it could not be written or \
lost too many events; 2 wrong usage, or this host cannot record.";

pub(crate) const IMPORT: &str = "\
Examples:
  oversim twin import run.txt -o twin.yaml
  oversim twin import run.txt --task make --machine core:2 --kernel debian-12
  oversim twin import run.txt --runtime '{ libgomp: { spin_count: 0 } }'

The comments of the scenario say what was read and where each number comes from, and its `about` how far its \
replay is off.

Exit status: 0 done; 1 output failed, or the replay is off by more than 10 %; 2 wrong usage or recording.";

pub(crate) const CHECK: &str = "\
Examples:
  oversim twin check twin.yaml run.txt
  oversim twin check twin.yaml run.txt --set kernel=linux-6.6

The second form compares a change of the twin with a recording under that change.

Exit status: 0 done; 1 output failed, or the replay is off by more than 10 %; 2 wrong usage, recording or \
scenario.";

pub(crate) const LATENCY: &str = "\
Examples:
  oversim twin latency run.txt
  oversim twin latency run.txt --merge --sort max
  oversim twin latency spec_pair --policy LOAD --format json

A delay lasts from when a thread can run (woken, forked, pre-empted) until it has a cpu. p50 and p99 are of \
those after a wait. Delays whose beginning or end was not recorded are counted and left out.

Exit status: 0 done; 1 output failed; 2 wrong usage, recording or scenario.";

pub(crate) const TIMEHIST: &str = "\
Examples:
  oversim twin timehist run.txt
  oversim twin timehist run.txt --only cc1 --only 812 --summary
  oversim twin timehist spec_pair --policy LOAD --from 10ms --to 20ms --format ndjson

Times of --from and --to count from the first event; the first column shows the recording's clock. The wait \
time ends with the wake-up; that of `perf sched timehist` includes the delay.

Exit status: 0 done; 1 output failed; 2 wrong usage, recording or scenario.";

pub(crate) const SPLIT: &str = "\
Examples:
  oversim twin split run.txt
  oversim twin split run.txt --by thread
  oversim twin split spec_pair --policy LOAD --format json

Looked at is the cpu on which the thread then ran. If nobody had it, a quota or the balancer held the thread \
back, or the cpu was on its way out of idle.

Exit status: 0 done; 1 output failed; 2 wrong usage, recording or scenario.";

pub(crate) const IDLE: &str = "\
Examples:
  oversim twin idle run.txt
  oversim twin idle run.txt --min 100us
  oversim twin idle spec_pair --policy LOAD --format json

A recording has neither masks nor quotas: a thread may wait beside an idle cpu because it may not run there.

Exit status: 0 done; 1 output failed; 2 wrong usage, recording or scenario.";
