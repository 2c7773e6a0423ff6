//! Examples and exit statuses as the help of each command shows them; a test runs every example.

pub(crate) const OVERSIM: &str = "\
Examples:
  oversim run scenarios/cg_ft_share.yaml --repeat 1
  oversim run scenarios/seventeen_on_sixteen.yaml --set kernel.yield=posix --format json
  oversim compare scenarios/seventeen_on_sixteen.yaml --policy LOAD,SPEED
  oversim check scenarios/*.yaml
  oversim explain SPEED
  oversim machine show barcelona

Exit status: 0 done; 1 the answer is bad (a run did not complete, a comparison found a slowdown, output failed); 2 wrong usage, \
scenario or file, and nothing was written. `oversim help COMMAND` says more about each command.

Results go to standard output, everything else to standard error. A reader that goes away (`| head`) is no error. NO_COLOR \
and CLICOLOR_FORCE are respected. Documents: docs/command-line.md, docs/scenario-files.md, docs/results.md.";

pub(crate) const RUN: &str = "\
Examples:
  oversim run scenarios/two_hogs_one_core.yaml
  oversim run scenarios/seventeen_on_sixteen.yaml --policy LOAD --policy SPEED --repeat 3
  oversim run scenarios/seventeen_on_sixteen.yaml --set kernel.yield=posix --format json
  oversim run scenarios/spec_pair.yaml --policy SPEED/ULE --record-schedule schedule.ndjson
  oversim run scenarios/spec_pair.yaml --policy LOAD --explain-decisions - | grep migrate
  oversim run scenarios/spec_pair.yaml --policy LOAD --repeat 1 --trace load.pftrace
  oversim run - --seed 7 -o results < scenarios/spec_pair.yaml

Exit status: 0 done; 1 a run did not complete (deadlock, livelock, horizon) or output failed; 2 wrong usage or scenario.";

pub(crate) const COMPARE: &str = "\
Examples:
  oversim compare scenarios/seventeen_on_sixteen.yaml --policy LOAD,SPEED --repeat 5
  oversim compare scenarios/spec_pair.yaml --metric timed_run_time --format markdown
  oversim compare old.json new.json --threshold 2

Exit status: 0 nothing is significantly slower beyond the threshold; 1 something is, or output failed; 2 wrong usage, scenario or \
result.";

pub(crate) const PLOT: &str = "\
Examples:
  oversim plot scenarios/spin_yield_block.yaml --repeat 3
  oversim plot new.json -o pictures --format png
  oversim plot scenarios/seventeen_on_sixteen.yaml --policy LOAD,SPEED --figure slowdown -o ep

Exit status: 0 done; 1 a run did not complete or the figures could not be written; 2 wrong usage, scenario or result.";

pub(crate) const REPORT: &str = "\
Examples:
  oversim report scenarios/two_hogs_one_core.yaml -o report.html
  oversim report scenarios/seventeen_on_sixteen.yaml --policy LOAD,SPEED --repeat 5 -o ep.html

Exit status: 0 done; 1 a run did not complete or the page could not be written; 2 wrong usage or scenario.";

pub(crate) const CHECK: &str = "\
Examples:
  oversim check scenarios/*.yaml
  oversim check scenarios/spec_pair.yaml --set machine.migration=50us

Exit status: 0 all are scenarios; 2 one is not.";

pub(crate) const SCHEMA: &str = "\
Examples:
  oversim schema
  oversim schema result > oversim.result.schema.json

Exit status: 0 done; 1 output failed; 2 wrong usage.";

pub(crate) const LIST: &str = "\
Examples:
  oversim list policies
  oversim list machines barcelona
  oversim list metrics --format json

Exit status: 0 done; 1 output failed; 2 wrong usage or an unknown name.";

pub(crate) const EXPLAIN: &str = "\
Examples:
  oversim explain SPEED
  oversim explain slowdown --format markdown
  oversim explain SPEED.interval

Exit status: 0 done; 1 output failed; 2 an unknown name.";

pub(crate) const CALIBRATE: &str = "\
Examples:
  oversim calibrate
  oversim calibrate --check

Exit status: 0 done; 1 the profiles are not what the measurements give, or output failed; 2 wrong usage.";

pub(crate) const REPRODUCE: &str = "\
Examples:
  oversim reproduce --quick --group imbalanced
  oversim reproduce --quick
  oversim reproduce --claims mine.yaml --quick --format json

Exit status: 0 done, whatever the verdicts; 1 the report could not be written; 2 wrong usage or claims.";

pub(crate) const MACHINE: &str = "\
Examples:
  oversim machine show barcelona

Exit status: 0 done; 1 output failed; 2 an unknown machine or kernel.";

pub(crate) const MACHINE_SHOW: &str = "\
Examples:
  oversim machine show barcelona
  oversim machine show 'package:2 numa:1 core:8' --kernel linux-6.18 --format json

Exit status: 0 done; 1 output failed; 2 an unknown machine or kernel.";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  oversim completions bash > ~/.local/share/bash-completion/completions/oversim
  oversim completions zsh > ~/.zfunc/_oversim
  oversim completions fish > ~/.config/fish/completions/oversim.fish

Exit status: 0 done; 1 output failed; 2 an unknown shell.";

pub(crate) const MAN: &str = "\
Examples:
  oversim man | man -l -
  oversim man run
  oversim man -o man1

Exit status: 0 done; 1 output failed; 2 an unknown command, or files that exist.";
