//! Ranks by the marks of their calls.

use super::*;
use crate::samples::{ranks, team_of_pollers};
use crate::stream::{Stream, US};

fn found(stream: &Stream) -> Option<Ranks> {
    let (followed, _) = stream.follow();
    let threads = &followed.follower.threads;
    let program = threads.iter().map(|(id, _)| id).collect();
    find(threads, &followed.courses, &followed.follower.marks, &program, (0, followed.follower.last))
}

#[test]
fn work_lies_between_the_return_of_a_call_and_the_entry_of_the_next() {
    let ranks = found(&ranks()).unwrap();
    assert_eq!((ranks.members.len(), ranks.calls), (2, 20));
    // In each call the first rank polls for 110 us, the other one for 10 us.
    assert_eq!(ranks.inside, 20 * 120 * US);
    assert_eq!(ranks.edges, (1_050 * US, 10 * US));
    assert_eq!(ranks.before, 10 * US);
    // The first call has the start of the program before it: its work is in `edges`.
    let [Part::One(first), Part::Loop(19, block)] = &ranks.parts[..] else { panic!("{:?}", ranks.parts) };
    assert_eq!(*first, Called { statement: "allreduce 8B", work: 0 });
    assert_eq!(block[0].0.statement, "allreduce 8B");
    assert_eq!(block[0].1, [vec![1_000 * US; 19], vec![1_100 * US; 19]].concat());
}

#[test]
fn marks_that_are_no_calls_make_no_ranks() {
    assert_eq!(statement("w_in"), None);
    assert_eq!(statement("MPI_Allreduce"), Some("allreduce 8B"));
    assert_eq!(statement("m_bar"), Some("barrier"));
    assert!(found(&team_of_pollers()).is_none());
}
