//! The fair share: every runnable task gets its part of the machine at every instant, and sharing has no cost.
//!
//! Generalised processor sharing (Kleinrock, 1967; Parekh and Gallager, 1993) with a ceiling per task: of N tasks that all
//! want a cpu, each runs at M / N. It is what proportional-share schedulers aim at.

use sim_core::outcome::Admission;

/// When a job arrives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Arrival {
    /// At this time, seconds.
    At(f64),
    /// This many seconds after the end of an earlier job.
    After(usize, f64),
}

/// An application in the model of the fair share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Job {
    pub(crate) arrival: Arrival,
    /// Its tasks.
    pub(crate) tasks: u32,
    /// Weight of a task; only ratios matter.
    pub(crate) weight: f64,
    /// Most cpu a task can use, above 0.
    pub(crate) want: f64,
    /// Cpu time it needs in all, seconds; infinite for a background job.
    pub(crate) demand: f64,
}

impl Job {
    fn foreground(&self) -> bool {
        self.demand.is_finite()
    }
}

/// Start and end of a job, seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Stay {
    pub(crate) start: f64,
    pub(crate) end: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    /// Arrives at this time; never, as long as that is infinite.
    Due(f64),
    /// Has arrived and is not admitted yet.
    Queued,
    /// Runs since the first time; the second number is the cpu time it still needs.
    Runs(f64, f64),
    Ended(Stay),
}

/// The stay of each job on a machine of `capacity` cpus; `None` for background jobs and those that never end.
pub(crate) fn stays(jobs: &[Job], capacity: f64, admission: Admission) -> Vec<Option<Stay>> {
    let due = |job: &Job| match job.arrival {
        Arrival::At(at) => State::Due(at),
        Arrival::After(..) => State::Due(f64::INFINITY),
    };
    let mut states: Vec<State> = jobs.iter().map(due).collect();
    let mut queue: Vec<usize> = Vec::new();
    let mut now = 0.0;
    // Each step ends a job, starts one or lets one arrive.
    for _ in 0..=3 * jobs.len() {
        arrive(jobs, &mut states, &mut queue, now);
        admit(jobs, &mut states, &mut queue, now, admission);
        let rates = rates(jobs, &states, capacity);
        let next = states.iter().zip(&rates).map(|(state, rate)| match state {
            State::Due(at) => *at,
            State::Runs(_, left) if *rate > 0.0 => now + left / rate,
            _ => f64::INFINITY,
        });
        let next = next.fold(f64::INFINITY, f64::min);
        if !next.is_finite() {
            break;
        }
        advance(jobs, &mut states, &rates, (now, next));
        now = next;
    }
    let ended = |state| if let State::Ended(stay) = state { Some(stay) } else { None };
    states.into_iter().map(ended).collect()
}

fn arrive(jobs: &[Job], states: &mut [State], queue: &mut Vec<usize>, now: f64) {
    for (at, job) in jobs.iter().enumerate() {
        if matches!(states[at], State::Due(due) if due <= now) {
            if job.foreground() {
                states[at] = State::Queued;
                queue.push(at);
            } else {
                states[at] = State::Runs(now, f64::INFINITY);
            }
        }
    }
}

/// First come, first served, without overtaking.
fn admit(jobs: &[Job], states: &mut [State], queue: &mut Vec<usize>, now: f64, admission: Admission) {
    while let Some(head) = queue.first().copied() {
        let running = |at: &usize| jobs[*at].foreground() && matches!(states[*at], State::Runs(..));
        let inside: Vec<usize> = (0..jobs.len()).filter(running).collect();
        let tasks: u64 = inside.iter().chain([&head]).map(|at| u64::from(jobs[*at].tasks)).sum();
        if inside.len() as u64 >= u64::from(admission.jobs) || tasks > admission.tasks {
            return;
        }
        queue.remove(0);
        states[head] = State::Runs(now, jobs[head].demand);
    }
}

/// The cpus that each job gets: equal shares by weight, up to what its tasks can use.
fn rates(jobs: &[Job], states: &[State], capacity: f64) -> Vec<f64> {
    let mut rates = vec![0.0; jobs.len()];
    let mut open: Vec<usize> = (0..jobs.len()).filter(|at| matches!(states[*at], State::Runs(..))).collect();
    // Who is satisfied first gets what it wants; what it leaves is shared by the others.
    open.sort_by(|a, b| (jobs[*a].want / jobs[*a].weight).total_cmp(&(jobs[*b].want / jobs[*b].weight)));
    let mut left = capacity;
    for (i, at) in open.iter().enumerate() {
        let weight: f64 = open[i..].iter().map(|at| f64::from(jobs[*at].tasks) * jobs[*at].weight).sum();
        let job = &jobs[*at];
        let share = (left * job.weight / weight).min(job.want);
        rates[*at] = share * f64::from(job.tasks);
        left = (left - rates[*at]).max(0.0);
    }
    rates
}

/// Work is done from one instant to the next; the jobs that end then release those that follow them.
fn advance(jobs: &[Job], states: &mut [State], rates: &[f64], (now, next): (f64, f64)) {
    for at in 0..jobs.len() {
        let State::Runs(start, left) = states[at] else { continue };
        // The job that sets the pace ends exactly, whatever rounding leaves.
        let ends = rates[at] > 0.0 && now + left / rates[at] <= next;
        states[at] = if ends {
            State::Ended(Stay { start, end: next })
        } else {
            State::Runs(start, left - rates[at] * (next - now))
        };
        if ends {
            for (follower, job) in jobs.iter().enumerate() {
                if let Arrival::After(before, delay) = job.arrival
                    && before == at
                {
                    states[follower] = State::Due(next + delay);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(tasks: u32, demand: f64) -> Job {
        Job { arrival: Arrival::At(0.0), tasks, weight: 1.0, want: 1.0, demand }
    }

    fn ends(jobs: &[Job], capacity: f64) -> Vec<Option<f64>> {
        stays(jobs, capacity, Admission::UNLIMITED).into_iter().map(|stay| Some(stay?.end)).collect()
    }

    #[test]
    fn three_tasks_on_two_cpus_run_at_two_thirds() {
        assert_eq!(ends(&[job(3, 3.0)], 2.0), [Some(1.5)]);
        assert_eq!(ends(&[job(2, 3.0)], 4.0), [Some(1.5)]);
    }

    #[test]
    fn the_survivor_gets_the_machine() {
        // Two cpus, two jobs of two tasks: half speed each until the first has done its 2 cpu-seconds at t = 2.
        assert_eq!(ends(&[job(2, 2.0), job(2, 6.0)], 2.0), [Some(2.0), Some(4.0)]);
    }

    #[test]
    fn what_one_cannot_use_is_shared_by_the_others() {
        let sleeper = Job { want: 0.25, demand: f64::INFINITY, ..job(1, 0.0) };
        assert_eq!(ends(&[sleeper, job(3, 7.0)], 2.0), [None, Some(4.0)]);
        let heavy = Job { weight: 3.0, ..job(1, 3.0) };
        assert_eq!(ends(&[heavy, job(1, 1.0)], 1.0), [Some(4.0), Some(4.0)]);
    }

    #[test]
    fn arrivals_chains_and_admission() {
        let late = Job { arrival: Arrival::At(1.0), ..job(1, 1.0) };
        assert_eq!(ends(&[job(1, 2.0), late], 1.0), [Some(3.0), Some(3.0)]);
        let next = Job { arrival: Arrival::After(0, 0.5), ..job(1, 1.0) };
        assert_eq!(ends(&[job(1, 2.0), next], 1.0), [Some(2.0), Some(3.5)]);
        let one = Admission { jobs: 1, ..Admission::UNLIMITED };
        let both = stays(&[job(1, 2.0), job(1, 1.0)], 4.0, one);
        assert_eq!(both[1], Some(Stay { start: 2.0, end: 3.0 }));
    }

    #[test]
    fn a_job_behind_one_that_never_ends_never_starts() {
        let never = Job { want: 1.0, ..job(1, 1.0) };
        let follower = Job { arrival: Arrival::After(1, 0.0), ..job(1, 1.0) };
        let endless = Job { arrival: Arrival::After(2, 0.0), ..job(1, 1.0) };
        assert_eq!(ends(&[never, endless, follower], 1.0), [Some(1.0), None, None]);
    }
}
