//! Examples and exit statuses in the help of `oversim advise`.

pub(crate) const ADVISE: &str = "\
Examples:
  oversim advise two_hogs_one_core
  oversim advise seventeen_on_sixteen --allow threads,pin --objective makespan
  oversim advise waiting_on_a_modern_kernel --syntax slurm,shell --format markdown

All settings meet the same seeds, and to leave everything as it is can be the answer. How sure it is: \
uncertain values are drawn from their ranges, each of them is moved alone to both ends, and other busy \
tasks are put beside the programs.

Exit status: 0 done; 1 output failed; 2 wrong usage or scenario.";

pub(crate) const WAIT: &str = "\
Examples:
  oversim advise wait --region 200us --machine 'package:1 core:4' --repeat 3
  oversim advise wait --region 50us,1ms --between 100us --runtime libomp --machine xeon-2vcpu
  oversim advise wait --region 200us --threads 4 --load 0,full --runtime openmpi --table full

Exit status: 0 done; 1 output failed; 2 wrong usage or machine.";

pub(crate) const POD: &str = "\
Examples:
  oversim advise pod --arrivals 200/s --service 5ms,exponential --limits 1500m,2 --repeat 3
  oversim advise pod pod.yaml --arrivals 100/s --service 5ms --target p99=50ms --limits 1,2
  oversim advise pod pod.yaml --arrivals 100/s --service 5ms --target p99=50ms --check

Exit status: 0 done, or the check passed; 1 the check did not pass, or output failed; 2 wrong usage, pod or \
machine.";

pub(crate) const SHARE: &str = "\
Examples:
  oversim advise share spec_pair
  oversim advise share spec_pair --policy LOAD --mix swim=3,apsi=1 --format markdown
  oversim advise share spec_pair --most-jobs 3 --repeat 1

Exit status: 0 done; 1 output failed; 2 wrong usage, scenario or log, or a program that does not end.";

pub(crate) const POOLS: &str = "\
Examples:
  oversim advise pools --region 500us --work 200ms --outer 1,4 --inner 1,4 --machine core:4
  oversim advise pools --region 5ms --serial 10 --cpus 2 --work 200ms --machine 'package:1 core:4'

Exit status: 0 done; 1 output failed; 2 wrong usage or machine.";
