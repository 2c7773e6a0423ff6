//! Examples and exit statuses in the help of `oversim leaderboard` and `oversim tune`.

pub(crate) const LEADERBOARD: &str = "\
Examples:
  oversim leaderboard -o board
  oversim leaderboard --policy LOAD,VTIME,./mine.wasm
  oversim leaderboard --scenarios two_hogs_one_core --policy LOAD,PIN --repeat 2
  oversim leaderboard --scenarios two_hogs_one_core --policy 'LOAD,{ VTIME: { slice: 2ms } }'

A policy that a scenario refuses, or that does not complete one, has no rank and is shown as such.

Exit status: 0 done; 1 output failed; 2 wrong usage, scenario or policy.";

pub(crate) const TUNE: &str = "\
Examples:
  oversim tune SPEED -o best.yaml
  oversim tune ./mine.wasm.slice_ns --scenarios my_suite
  oversim tune ./mine.order --expressions -o better.order
  oversim tune VTIME.slice --scenarios two_hogs_one_core --budget 20 --repeat 2
  oversim tune RUSTY.slice --scenarios two_hogs_one_core --budget 20 --format json

Without a second half (a folder `holdout`) the candidate is tried on other seeds of the same scenarios. The
answer is the default unless that try shows a gain.

Exit status: 0 done, also where the default is the answer; 1 output failed; 2 wrong usage, scenario or
policy.";
