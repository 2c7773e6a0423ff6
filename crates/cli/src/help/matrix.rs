//! Examples and exit statuses in the help of `oversim matrix`.

pub(crate) const MATRIX: &str = "\
Examples:
  oversim matrix spec_pair
  oversim matrix spec_pair --policy LOAD --format csv > slowdowns.csv
  oversim matrix spec_pair -k 3 --repeat 1 --format markdown
  oversim matrix spec_pair --machine package:2 --repeat 3 -o figures --force

Exit status: 0 done; 1 output failed; 2 wrong usage or scenario, or a program that does not end.";
