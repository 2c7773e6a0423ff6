//! Programs bound to a part of the machine.

use crate::support::{mean, results};

#[test]
fn bound_threads_of_a_team_have_a_cpu_each() {
    let found = results("g01-mask-part-of-a-package.yaml", &["policies=[PIN]", "repeat=1"]);
    let seconds = mean(&found, "", "PIN", "team", "run_time");
    assert!((9.9..10.2).contains(&seconds), "{seconds} s");
}
