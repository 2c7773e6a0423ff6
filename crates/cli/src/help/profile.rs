//! Examples and exit statuses in the help of `oversim profile`.

pub(crate) const PROFILE: &str = "\
Examples:
  oversim profile --threads 8 --interval 200us --bandwidth 3GB/s --wait libgomp
  oversim profile --ranks 4 --threads 2 --work 60s --name solver -o solver.yaml
  oversim profile perf.csv time.txt -o job.yaml
  oversim profile jobs.txt --machine core:64 --no-trials
  oversim profile --pid 4711 --for 10s -o job.yaml

Standard error lists what is missing and matters, in the order of its effect.

Exit status: 0 done; 1 output failed; 2 wrong usage, file or process.";
