//! Examples and exit statuses in the help of `oversim artifact`.

pub(crate) const ARTIFACT: &str = "\
Examples:
  oversim artifact pack study -o study.tar.gz
  oversim artifact show study.tar.gz
  oversim artifact verify study.tar.gz

Exit status: that of the command. docs/how-to/artifact.md is for authors and for artifact reviewers.";

pub(crate) const PACK: &str = "\
Examples:
  oversim artifact pack study -o study.tar.gz --force
  oversim artifact pack results regions figures claims.yaml -o study.tar.gz

A sweep must have all of its runs. A figure is packed with the result that it was drawn from, if one of the \
packed results gives the same bytes. Claims are simulated. The same files give the same bytes.

Exit status: 0 done; 1 the archive could not be written; 2 wrong usage, or a path that is missing, \
incomplete or of another version, and nothing was written.";

pub(crate) const VERIFY: &str = "\
Examples:
  oversim artifact verify study.tar.gz
  oversim artifact verify study.tar.gz --sample 100 --seed 7
  oversim artifact verify study.tar.gz --checksums

Results of `oversim run` and claims are calculated again, sweeps in full or in part. Figures are drawn \
again. Nothing but the archive is read. Temporary files take twice the size of the largest sweep, in the \
directory that TMPDIR names.

Exit status: 0 everything that was calculated again is equal; 1 something differs, or output failed; 2 wrong \
usage, or the archive is damaged, not one of `oversim artifact pack`, or of another version: then all \
differences are listed, and nothing was calculated.";

pub(crate) const SHOW: &str = "\
Examples:
  oversim artifact show study.tar.gz
  oversim artifact show study.tar.gz --manifest

Exit status: 0 done; 1 output failed; 2 wrong usage, or the file is no archive of this version.";
