//! Examples and exit statuses in the help of `oversim duel`.

pub(crate) const DUEL: &str = "\
Examples:
  oversim duel LOAD PIN --runs 60
  oversim duel SPEED LOAD --kernel linux-6.18 --runs 60 -o lost.yaml --timeline lost.svg
  oversim duel VTIME LOAD --objective response_p99 --runs 60 --format json

Scenarios have 1 to 16 cpus and 1 to 3 programs. The same flags give the same answer. The ratio is measured on
seeds that the search did not see, because the largest of many measured ratios is too large.

Exit status: 0 done, also where no loss was found; 1 output failed; 2 wrong usage.";
