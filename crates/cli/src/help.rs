//! Examples and exit statuses in the help of each command; a test runs every example.

pub(crate) mod advise;
#[cfg(feature = "artifact")]
pub(crate) mod artifact;
pub(crate) mod duel;
pub(crate) mod leaderboard;
pub(crate) mod matrix;
#[cfg(feature = "measured")]
pub(crate) mod measured;
pub(crate) mod profile;
#[cfg(feature = "scx")]
pub(crate) mod scx;
#[cfg(feature = "measured")]
pub(crate) mod twin;
pub(crate) mod why;

pub(crate) const OVERSIM: &str = "\
Examples:
  oversim list scenarios
  oversim run cg_ft_share --repeat 1
  oversim run seventeen_on_sixteen --set kernel.yield=posix --format json
  oversim compare seventeen_on_sixteen --policy LOAD,SPEED
  oversim explain oversubscription
  oversim docs lock
  oversim init

Exit status: 0 done; 1 the answer is negative (a run did not complete, a comparison found a slowdown) or \
output failed; 2 wrong \
usage, scenario or file, and nothing was written. `oversim help COMMAND` describes each command.

Results go to standard output, everything else to standard error. A reader that closes its pipe early (`| \
head`) is not an \
error. NO_COLOR and CLICOLOR_FORCE are respected. `oversim docs WORD` searches the manual.";

pub(crate) const RUN: &str = "\
Examples:
  oversim run two_hogs_one_core
  oversim run seventeen_on_sixteen --policy LOAD,SPEED --repeat 3
  oversim run seventeen_on_sixteen --set kernel.yield=posix --format json
  oversim run two_hogs_one_core --sweep apps.hogs.tasks=1,2,3,4 --table full
  oversim run two_hogs_one_core --uncertainty=10
  oversim run spec_pair --policy SPEED/ULE --record-schedule schedule.ndjson
  oversim run spec_pair --policy LOAD --explain-decisions - | grep migrate
  oversim run spec_pair --policy LOAD --repeat 1 --trace load.pftrace
  oversim run - --seed 7 -o results < scenarios/spec_pair.yaml

Exit status: 0 done; 1 a run did not complete (deadlock, livelock, horizon, ended by its policy) or output \
failed; 2 wrong usage or scenario.";

pub(crate) const COMPARE: &str = "\
Examples:
  oversim compare seventeen_on_sixteen --policy LOAD,SPEED --repeat 5
  oversim compare spec_pair --metric timed_run_time --format markdown
  oversim compare old.json new.json --threshold 2

Exit status: 0 no significant slowdown is larger than the threshold (1 % unless given); 1 at least one is, \
or output failed; \
2 wrong usage, scenario or result.";

pub(crate) const PLOT: &str = "\
Examples:
  oversim plot spin_yield_block --repeat 3
  oversim plot new.json -o pictures --format png
  oversim plot seventeen_on_sixteen --policy LOAD,SPEED --figure slowdown -o ep

Exit status: 0 done; 1 a run did not complete or the figures could not be written; 2 wrong usage, scenario \
or result.";

pub(crate) const REPORT: &str = "\
Examples:
  oversim report two_hogs_one_core -o report.html
  oversim report seventeen_on_sixteen --policy LOAD,SPEED --repeat 5 -o ep.html

Exit status: 0 done; 1 a run did not complete or the page could not be written; 2 wrong usage or scenario.";

pub(crate) const CHECK: &str = "\
Examples:
  oversim check scenarios/*.yaml
  oversim check spec_pair --set machine.migration=50us

Exit status: 0 all scenarios are valid; 2 at least one is not.";

pub(crate) const SELFTEST: &str = "\
Examples:
  oversim selftest

Exit status: 0 all results are as recorded; 1 at least one differs or could not be computed; 2 wrong usage.";

pub(crate) const IMPORT: &str = "\
Examples:
  oversim import video.json -o video.yaml
  oversim import log.swf --jobs 100 --cores-per-node 64
  oversim import pod.yaml --workload '{ spmd: { work: 10s } }' --cpu-manager static --cores 8
  oversim import groups -o groups.yaml
  oversim import - < pod.yaml

The form is recognised from the content: rt-app's JSON, the Standard Workload Format, workloads of Batsim, \
objects of \
Kubernetes, `docker run` lines and compose files, files of cgroup v2, job lists as in OSTEP. Comments of the \
scenario name \
the origin of each number. docs/import.md says what each form becomes.

Exit status: 0 all was taken; 1 output failed; 2 wrong usage, a file that is wrong or in none of the forms, \
and nothing was \
written; 3 the scenario was written without something that the list names.";

pub(crate) const EXPORT: &str = "\
Examples:
  oversim export two_hogs_one_core --form rt-app
  oversim export two_hogs_one_core --form rt-app -o hogs.json

Exit status: 0 all was taken; 1 output failed; 2 wrong usage or scenario, and nothing was written; 3 the \
file was written \
without something that the list names.";

pub(crate) const INIT: &str = "\
Examples:
  oversim init
  oversim init cg_ft_share -o mine.yaml
  oversim init odd_thread --force

Exit status: 0 done; 1 the file could not be written; 2 wrong usage, an unknown name, or a file that exists.";

pub(crate) const NEW: &str = "\
Examples:
  oversim new policy MY_POLICY

Exit status: 0 done; 1 the files could not be written; 2 wrong usage, a name that cannot be used, or a \
directory that exists.";

pub(crate) const NEW_POLICY: &str = "\
Examples:
  oversim new policy MY_POLICY
  oversim new policy MY_POLICY --directory policies/mine
  oversim new policy MY_POLICY --path oversim

The crate builds, runs and passes its tests before you change it: an idle cpu takes a waiting task from \
the longest queue. It is \
a workspace by itself. docs/writing-a-policy.md describes the interface between policies and the engine.

Exit status: 0 done; 1 the files could not be written; 2 wrong usage, a name that cannot be used, no \
checkout of oversim, or a \
directory that exists. With 1 and 2 nothing was written.";

pub(crate) const SCHEMA: &str = "\
Examples:
  oversim schema
  oversim schema result > oversim.result.schema.json

Exit status: 0 done; 1 output failed; 2 wrong usage.";

pub(crate) const DEADLINES: &str = "\
Examples:
  oversim deadlines periodic_tasks
  oversim deadlines periodic_tasks --policy EDF,FP
  oversim deadlines periodic_tasks --search 200

A periodic task is a loop of a program with `until` around its work. Theory counts no switches, ticks and \
memory, and every task at its longest; the simulation has all of these. With one cpu for all tasks, or one \
for each, the responses of theory are exact under EDF, FP and the real-time classes.

Exit status: 0 done; 1 output failed; 2 wrong usage or a bad scenario.";

pub(crate) const LESSON: &str = "\
Examples:
  oversim lesson
  oversim lesson 2
  oversim lesson 6 --slides gangs.html
  oversim lesson --grade ann.yaml ben.yaml

The same texts are in docs/lessons. Ten minutes each; docs/lessons/README.md shows how to use them in class.

Exit status: 0 done; 1 output failed; 2 wrong usage, an unknown number, or a file that exists.";

pub(crate) const LIST: &str = "\
Examples:
  oversim list policies
  oversim list scenarios
  oversim list scenarios cg_ft_share
  oversim list machines barcelona
  oversim list metrics --format json

Exit status: 0 done; 1 output failed; 2 wrong usage or an unknown name.";

pub(crate) const EXPLAIN: &str = "\
Examples:
  oversim explain SPEED
  oversim explain OMP_WAIT_POLICY
  oversim explain slowdown --format markdown
  oversim explain SPEED.interval

Exit status: 0 done; 1 output failed; 2 an unknown name.";

pub(crate) const DOCS: &str = "\
Examples:
  oversim docs
  oversim docs lock
  oversim docs idle cpu mask
  oversim docs model/memory
  oversim docs model/memory#pages

Exit status: 0 done; 1 output failed; 2 no page has the words, or an unknown page.";

pub(crate) const TIMELINE: &str = "\
Examples:
  oversim timeline odd_thread
  oversim timeline cg_ft_share --policy LOAD,SPEED -o cg_ft.svg
  oversim timeline spin_yield_block --vary threads_per_core=1,2
  oversim timeline cg_ft_share --from 1s --to 1.1s --cpus 0-3 -o part.png

--policy A,B stacks policies and --vary PATH=A,B stacks settings, up to four runs on one time axis. A \
timeline shows single \
configurations: --set PATH=VALUE chooses one of a sweep, and --sweep is refused.

Without --from and --to the command shows short runs whole, and a part behind the start of others. With \
--vary or a single policy that part is a few barriers long.

Exit status: 0 done; 1 the picture could not be written; 2 wrong usage or scenario.";

pub(crate) const SWEEP_PHASE: &str = "\
Examples:
  oversim sweep phase-diagram spin_yield_block --repeat 2 -o phase.svg
  oversim sweep phase-diagram spin_yield_block --at threads_per_core=2 -o two.png
  oversim sweep phase-diagram spin_yield_block --metric migrations --app all -o moves.svg

A parameter that is neither --x nor --y makes panels, at most 12; --at PATH=VALUE chooses one of its values.
Cells are darker where the second policy is worse by more, and hatched where the difference is not \
significant.

Exit status: 0 done; 1 a run did not complete or the files could not be written; 2 wrong usage, scenario \
or result.";

pub(crate) const MACHINE: &str = "\
Examples:
  oversim machine show barcelona
  oversim machine import --host
  oversim machine set epyc --from stream.txt
  oversim machine export epyc --synthetic

Exit status: 0 done; 1 output failed; 2 wrong usage or file, an unknown machine or kernel.";

pub(crate) const MACHINE_IMPORT: &str = "\
Examples:
  oversim machine import --host
  oversim machine import --synthetic 'pack:2 [numa] l3:1(size=32MB) core:8 pu:2'
  oversim machine import box.xml -o box.yaml

The machine file states the source of every value. What a topology does not state (speeds, bandwidths, \
costs) has the default \
of a present-day server, marked as uncertain. Next: `oversim machine show box.yaml`, and `machine: \
box.yaml` in a scenario.

Exit status: 0 done; 1 output failed; 2 wrong usage, a file that cannot be read, or a machine that the \
simulator cannot have, and \
nothing was written.";

pub(crate) const MACHINE_SET: &str = "\
Examples:
  oversim machine set epyc --from stream.txt -o measured.yaml
  oversim machine set epyc --from one.txt --from stream.txt
  oversim machine set epyc --value core_bandwidth=21GB/s --source 'likwid-bench of 3 May'

The form of an output is recognised by what it holds. It gives core_bandwidth (one thread), node_bandwidth \
(all cores of NUMA nodes), link_bandwidth, remote_factor and the list of distances (tables of mlc). \
Each value has its source with file and line, and is uncertain where a judgement is needed. What is \
not taken is listed.

Exit status: 0 done; 1 output failed; 2 wrong usage, an output of no form that is read, or one that \
does not fit the machine, and nothing was written.";

pub(crate) const MACHINE_EXPORT: &str = "\
Examples:
  oversim machine export epyc --synthetic
  oversim machine export 'package:2 numa:1 core:8' --synthetic

Exit status: 0 done; 1 output failed; 2 an unknown machine.";

pub(crate) const MACHINE_SHOW: &str = "\
Examples:
  oversim machine show barcelona
  oversim machine show 'package:2 numa:1 core:8' --kernel linux-6.18 --format json

Exit status: 0 done; 1 output failed; 2 an unknown machine or kernel.";

pub(crate) const KERNEL: &str = "\
Examples:
  oversim kernel list
  oversim kernel show linux-6.18
  oversim kernel diff linux-2.6.28 linux-2.6.30

Exit status: 0 done; 1 output failed; 2 wrong usage or file, an unknown kernel.";

pub(crate) const KERNEL_LIST: &str = "\
Examples:
  oversim kernel list
  oversim kernel list --format json

Exit status: 0 done; 1 output failed.";

pub(crate) const KERNEL_SHOW: &str = "\
Examples:
  oversim kernel show linux-6.18
  oversim kernel show 5.14.0-427.13.1.el9_4.x86_64

A scenario can change each rule: `kernel: { linux-6.18: { run_to_parity: false } }`.

Exit status: 0 done; 1 output failed; 2 an unknown kernel.";

pub(crate) const KERNEL_DIFF: &str = "\
Examples:
  oversim kernel diff linux-2.6.28 linux-2.6.30
  oversim kernel diff linux-2.6.28 linux-6.18 --on interactive_beside_hogs
  oversim kernel diff linux-2.6.28 linux-2.6.30 --format csv > effects.csv
  oversim kernel diff linux-6.12.0 linux-6.18 --output effects.svg

Without --on, six programs run on 24 machines of 4 to 252 cpus. Each variant has the same random work. A \
rule is changed alone where both kernels have it; `all rules` is the second kernel.

Exit status: 0 done; 1 output failed; 2 wrong usage or scenario, an unknown kernel.";

pub(crate) const CONFORMANCE: &str = "\
Examples:
  oversim conformance scenarios/conformance/three_hogs_6_12.table
  oversim conformance scenarios/conformance/three_hogs_6_12.table --write ticks.table

Nothing costs time, every tick is 1 ms after the one before, and nothing is random. A file states the \
machine, the kernel, tasks, what is done to them at which tick, and rows of ticks by cpus. \
docs/how-to/conformance.md has the format. A trace of kSTEP (`kstep.jsonl`) comes with --trace. The first \
difference is shown with the rules that decided.

Exit status: 0 all ticks are equal; 1 a tick differs, or output failed; 2 wrong usage or file, an operation \
that cannot be expressed.";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  oversim completions bash
  oversim completions zsh > ~/.oversim.zsh
  oversim completions fish > ~/.config/fish/completions/oversim.fish

For bash, add `eval \"$(oversim completions bash)\"` to ~/.bashrc. The script calls oversim for every \
    completion, so print it \
again after an update.

Exit status: 0 done; 1 output failed; 2 an unknown shell.";

#[cfg(feature = "formats")]
pub(crate) const MAN: &str = "\
Examples:
  oversim man | man -l -
  oversim man run
  oversim man -o man1

Exit status: 0 done; 1 output failed; 2 an unknown command, or files that exist.";

pub(crate) const SWEEP: &str = "\
Examples:
  oversim sweep two_hogs_one_core --sweep apps.hogs.tasks=1..8 --dry-run
  oversim sweep two_hogs_one_core --sweep apps.hogs.tasks=1..4 -o hogs
  oversim sweep two_hogs_one_core --sweep apps.hogs.tasks=1..4 -o parts --shard 0/2
  oversim sweep two_hogs_one_core --sweep apps.hogs.tasks=1..4 -o narrow --until-ci 1%

Exit status: 0 all runs of the shard are there (also those that did not complete, with how they ended); 1 \
the directory could \
not be written, and the same command continues; 2 wrong usage or scenario, or the directory holds another \
sweep; 75 SIGTERM: the \
runs in progress have ended, and the same command continues; 130 the same after SIGINT.";

pub(crate) const SWEEP_STATUS: &str = "\
Examples:
  oversim sweep status hogs
  oversim sweep status worker-1 worker-2

Exit status: 0 no run is missing; 1 runs are missing; 2 wrong usage or directory.";

pub(crate) const SWEEP_MERGE: &str = "\
Examples:
  oversim sweep merge hogs
  oversim sweep merge worker-1 worker-2

Exit status: 0 done; 1 runs are missing, or the file could not be written; 2 wrong usage or directory.";

pub(crate) const SWEEP_EXPORT: &str = "\
Examples:
  oversim sweep export hogs -o hogs.csv

Exit status: 0 done; 1 runs are missing, or the file could not be written; 2 wrong usage or directory.";

pub(crate) const SWEEP_SCRIPT: &str = "\
Examples:
  oversim sweep script seventeen_on_sixteen -o seventeen --engine slurm --shards 4
  oversim sweep script seventeen_on_sixteen -o seventeen --engine hyperqueue --shards 4 --jobs 8
  oversim sweep script seventeen_on_sixteen -o seventeen --engine parallel --repeat 50 --until-ci 1%
  oversim sweep script seventeen_on_sixteen -o /data/seventeen --engine kubernetes --shards 16

Each shard gets the cpus of --jobs (default 4). Its time limit is twice the estimate, at least 10 minutes.

Exit status: 0 done; 2 wrong usage or scenario.";
