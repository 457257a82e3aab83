//! Jobs: work that may take longer than a request is allowed to. A job that only reads has its own handle, so
//! it delays no change. `compact` and `backup` run on the writer's thread, and changes wait for them. A
//! result is a temporary file, which is gone when the job is dropped or the service ends.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fpdb::{Error, Progress, StopToken, Task};
use serde::Serialize;
use tokio::sync::{Notify, Semaphore};
use utoipa::ToSchema;

use crate::keys::{Identity, Rights};
use crate::log::{self, JobLine};
use crate::metrics::JobFigures;
use crate::problem::{Answer, Problem};

/// The work of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobKind {
    Pairs,
    Dedup,
    Repeats,
    Compact,
    Backup,
}

impl JobKind {
    pub(crate) const ALL: [Self; 5] = [Self::Pairs, Self::Dedup, Self::Repeats, Self::Compact, Self::Backup];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pairs => "pairs",
            Self::Dedup => "dedup",
            Self::Repeats => "repeats",
            Self::Compact => "compact",
            Self::Backup => "backup",
        }
    }
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobState {
    Queued,
    Running,
    Done,
    Failed,
    Stopped,
}

impl JobState {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }

    fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Stopped)
    }
}

/// A job, as a client sees it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct JobView {
    /// `fpdb.job/1`.
    schema: &'static str,
    /// Names the job in paths.
    pub(crate) id: String,
    /// The work of the job.
    pub(crate) kind: JobKind,
    /// The state of the job.
    pub(crate) state: JobState,
    /// The current step; empty before the first step.
    step: &'static str,
    /// Number of items of the step that are done.
    done: u64,
    /// Number of items in the step; 0 if unknown.
    total: u64,
    /// Lines of the result.
    rows: u64,
    /// Time of the request for the job, in seconds since 1970.
    asked_at: u64,
    /// The reason why the job failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
}

/// The step that work has reached, the items done, and the total.
#[derive(Default)]
pub(crate) struct Step(Mutex<(&'static str, u64, u64)>);

impl Progress for Step {
    fn step(&self, step: &'static str, done: u64, total: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (step, done, total);
    }
}

/// The changing part of a job.
struct Progressing {
    state: JobState,
    rows: u64,
    problem: Option<Problem>,
    result: Option<Arc<File>>,
    /// The time at which the job ended.
    ended: Option<Instant>,
    /// True if a client has asked for the result, or has seen that there is none.
    is_fetched: bool,
}

/// Time for which a result that no client has fetched is kept, even if other jobs need room.
const PATIENCE: Duration = Duration::from_secs(60);

/// A job.
pub(crate) struct Job {
    id: String,
    kind: JobKind,
    owner: Arc<str>,
    asked_at: u64,
    pub(crate) stop: StopToken,
    pub(crate) step: Arc<Step>,
    /// Notified when the job is dropped.
    dropped: Notify,
    progressing: Mutex<Progressing>,
    figures: JobFigures,
}

impl Job {
    fn progressing(&self) -> std::sync::MutexGuard<'_, Progressing> {
        self.progressing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the job is of this kind, and this key may see it.
    fn is_seen(&self, kind: JobKind, who: &Identity) -> bool {
        self.kind == kind && (self.owner == who.name || who.rights == Rights::Admin)
    }

    pub(crate) fn state(&self) -> JobState {
        self.progressing().state
    }

    /// Returns the job for its client. If the job has ended without a result, records that the client has
    /// seen that.
    pub(crate) fn show(&self) -> JobView {
        let mut progressing = self.progressing();
        progressing.is_fetched |= progressing.state.is_over() && progressing.result.is_none();
        drop(progressing);
        self.view()
    }

    pub(crate) fn view(&self) -> JobView {
        let (step, done, total) = *self.step.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Progressing { state, rows, problem, .. } = &*self.progressing();
        // A step does not report its end, so a finished job shows all items as done.
        let done = if *state == JobState::Done { total.max(done) } else { done };
        JobView {
            schema: "fpdb.job/1",
            id: self.id.clone(),
            kind: self.kind,
            state: *state,
            step,
            done,
            total,
            rows: *rows,
            asked_at: self.asked_at,
            problem: problem.clone(),
        }
    }

    /// The file with the lines of the job's result.
    pub(crate) fn result(&self) -> Answer<Arc<File>> {
        let mut progressing = self.progressing();
        progressing.is_fetched |= progressing.state.is_over();
        progressing.result.clone().ok_or_else(|| Problem::no_result(progressing.state.name()))
    }

    /// Waits for `wait`. Returns an error if the job is dropped first.
    pub(crate) async fn unless_dropped<T>(&self, wait: impl Future<Output = T>) -> Answer<T> {
        tokio::select! {
            outcome = wait => Ok(outcome),
            () = self.dropped.notified() => Err(Error::Stopped.into()),
        }
    }

    /// Marks the job as running. Returns false if it was stopped before.
    fn begin(&self) -> bool {
        let mut progressing = self.progressing();
        if progressing.state == JobState::Queued {
            progressing.state = JobState::Running;
        }
        progressing.state == JobState::Running
    }

    fn end(&self, outcome: Answer<(File, u64)>) {
        let mut progressing = self.progressing();
        progressing.ended = Some(Instant::now());
        match outcome {
            Ok((result, rows)) => {
                self.figures.succeeded(self.kind);
                progressing.state = JobState::Done;
                progressing.rows = rows;
                progressing.result = Some(Arc::new(result));
            }
            Err(_) if self.stop.is_stopped() => progressing.state = JobState::Stopped,
            Err(problem) => {
                self.figures.failed(self.kind);
                log::job(&JobLine { job: &self.id, kind: self.kind, key: &self.owner, failed: problem.whole() });
                progressing.state = JobState::Failed;
                progressing.problem = Some(problem);
            }
        }
    }
}

/// The result of a running job: lines of JSON in a temporary file.
pub(crate) struct Lines {
    file: BufWriter<File>,
    rows: u64,
}

impl Lines {
    fn begin() -> Answer<Self> {
        Ok(Self { file: BufWriter::new(tempfile::tempfile().map_err(Problem::of_temporary_file)?), rows: 0 })
    }

    /// Adds a line.
    pub(crate) fn write(&mut self, row: &impl Serialize) -> Answer<()> {
        self.rows += 1;
        let written = serde_json::to_writer(&mut self.file, row).map_err(std::io::Error::from);
        written.and_then(|()| self.file.write_all(b"\n")).map_err(Problem::of_temporary_file)
    }

    fn finish(self) -> Answer<(File, u64)> {
        let file = self.file.into_inner().map_err(|error| Problem::of_temporary_file(error.into_error()))?;
        Ok((file, self.rows))
    }
}

/// The index of the finished job that makes room for a new job of the key `owner`. This is the oldest job
/// whose result was fetched, or else the oldest whose result nobody fetched in time. Jobs of this key are
/// dropped before jobs of other keys. A key takes room only from keys with more jobs, so that it cannot drop
/// the results of all other keys.
fn makes_room(jobs: &VecDeque<Arc<Job>>, owner: &str) -> Option<usize> {
    let count = |owner: &str| jobs.iter().filter(|job| &*job.owner == owner).count();
    let own = count(owner);
    let places = jobs.iter().enumerate().filter_map(|(place, job)| {
        let Progressing { ended, is_fetched, .. } = *job.progressing();
        let is_of_another = &*job.owner != owner;
        let is_over = ended.is_some_and(|ended| is_fetched || ended.elapsed() >= PATIENCE);
        let goes = is_over && (!is_of_another || count(&job.owner) > own);
        goes.then_some((is_of_another, !is_fetched, place))
    });
    places.min().map(|(_, _, place)| place)
}

/// All jobs.
pub(crate) struct Jobs {
    running: Arc<Semaphore>,
    kept: usize,
    jobs: Mutex<VecDeque<Arc<Job>>>,
    stop: StopToken,
    figures: JobFigures,
}

impl Jobs {
    pub(crate) fn new(at_a_time: usize, kept: usize, stop: StopToken, figures: JobFigures) -> Self {
        let at_a_time = at_a_time.min(Semaphore::MAX_PERMITS);
        Self { running: Arc::new(Semaphore::new(at_a_time)), kept, jobs: Mutex::default(), stop, figures }
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, VecDeque<Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a new job. If there is no room, drops a finished job that nobody waits for. If there is no such
    /// job, refuses the new job.
    pub(crate) fn add(&self, kind: JobKind, owner: &Identity) -> Answer<Arc<Job>> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| Problem::internal(error.to_string()))?;
        let id = format!("{:032x}", u128::from_be_bytes(bytes));
        let asked_at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let progressing = Progressing {
            state: JobState::Queued,
            rows: 0,
            problem: None,
            result: None,
            ended: None,
            is_fetched: false,
        };
        let job = Arc::new(Job {
            id,
            kind,
            owner: Arc::clone(&owner.name),
            asked_at,
            stop: self.stop.child(),
            step: Arc::default(),
            dropped: Notify::new(),
            progressing: Mutex::new(progressing),
            figures: self.figures.clone(),
        });
        let mut jobs = self.jobs();
        if jobs.len() >= self.kept {
            let over = makes_room(&jobs, &owner.name).ok_or_else(Problem::busy)?;
            jobs.remove(over);
        }
        jobs.push_back(Arc::clone(&job));
        Ok(job)
    }

    /// The job with this id and kind, if this key may see it.
    pub(crate) fn find(&self, kind: JobKind, id: &str, who: &Identity) -> Answer<Arc<Job>> {
        let jobs = self.jobs();
        let found = jobs.iter().find(|job| job.id == id && job.is_seen(kind, who));
        found.cloned().ok_or_else(Problem::no_job)
    }

    /// The jobs of a kind that this key may see, oldest first.
    pub(crate) fn list(&self, kind: JobKind, who: &Identity) -> Vec<JobView> {
        self.jobs().iter().filter(|job| job.is_seen(kind, who)).map(|job| job.view()).collect()
    }

    /// Stops a job and drops its result.
    pub(crate) fn drop_job(&self, job: &Arc<Job>) {
        job.stop.stop();
        {
            let mut progressing = job.progressing();
            if progressing.state == JobState::Queued {
                progressing.state = JobState::Stopped;
            }
        }
        job.dropped.notify_one();
        self.jobs().retain(|other| !Arc::ptr_eq(other, job));
    }

    /// Number of jobs in this state.
    pub(crate) fn count(&self, state: JobState) -> usize {
        self.jobs().iter().filter(|job| job.state() == state).count()
    }

    /// Runs a job once there is room for it. `work` writes its result.
    pub(crate) fn start(
        &self,
        job: &Arc<Job>,
        work: impl FnOnce(&Task<'_>, &mut Lines) -> Answer<()> + Send + 'static,
    ) {
        let (running, job) = (Arc::clone(&self.running), Arc::clone(job));
        tokio::spawn(async move {
            // If a job is dropped while it waits, its work is dropped too.
            let room = job.unless_dropped(running.acquire_owned()).await;
            if !matches!(room, Ok(Ok(_))) || !job.begin() {
                return;
            }
            let worker = Arc::clone(&job);
            let run = move || -> Answer<(File, u64)> {
                let mut lines = Lines::begin()?;
                work(&Task::new().progress(&*worker.step).stop(&worker.stop), &mut lines)?;
                lines.finish()
            };
            let ended = tokio::task::spawn_blocking(run).await;
            job.end(ended.unwrap_or_else(|failed| Err(Problem::internal(failed.to_string()))));
        });
    }

    /// Runs a job whose work another thread does: waits for `work`, and ends the job with its answer.
    pub(crate) fn follow(&self, job: &Arc<Job>, work: impl Future<Output = Answer<impl Serialize>> + Send + 'static) {
        let job = Arc::clone(job);
        tokio::spawn(async move {
            if !job.begin() {
                return;
            }
            let outcome = work.await.and_then(|row| {
                let mut lines = Lines::begin()?;
                lines.write(&row)?;
                lines.finish()
            });
            job.end(outcome);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(name: &str) -> Identity {
        Identity { name: name.into(), rights: Rights::Read, room: None, bodies: None, rate: None }
    }

    #[test]
    fn results_stay_until_they_are_fetched_and_those_of_other_keys_longer() {
        let jobs = Jobs::new(1, 3, StopToken::new(), JobFigures::default());
        let add = |name: &str| jobs.add(JobKind::Pairs, &who(name));
        let ended = |name: &str| {
            let job = add(name).unwrap_or_else(|problem| panic!("{}", problem.whole()));
            job.end(Lines::begin().and_then(Lines::finish));
            job
        };
        let is_there = |job: &Job| jobs.find(job.kind, &job.id, &who(&job.owner)).is_ok();
        let [first, second, of_other] = ["ann", "ann", "ben"].map(ended);
        // Nobody has fetched a result.
        let refused = add("ann").err().unwrap();
        assert_eq!(refused.status().as_u16(), 503);
        // The result of another key stays, although it was fetched.
        assert!(of_other.result().is_ok());
        assert!(add("ann").is_err());
        assert!(second.result().is_ok());
        let third = ended("ann");
        assert!(is_there(&first) && !is_there(&second) && is_there(&of_other));
        // A key with fewer jobs takes room from a key with more jobs, and first the room of a fetched result.
        let of_third = ended("cy");
        assert!(!is_there(&of_other) && is_there(&first) && is_there(&third));
        // A failure is kept until it is seen.
        of_third.progressing().result = None;
        assert!(add("cy").is_err());
        assert_eq!(of_third.show().id, of_third.id);
        assert!(add("cy").is_ok() && !is_there(&of_third));
        // A result that nobody fetches is dropped in the end.
        first.progressing().ended = Instant::now().checked_sub(PATIENCE);
        assert!(add("cy").is_ok() && !is_there(&first) && is_there(&third));
    }

    #[test]
    fn a_failed_job_makes_room_once_a_client_has_asked_for_its_result() {
        let jobs = Jobs::new(1, 1, StopToken::new(), JobFigures::default());
        let job = jobs.add(JobKind::Pairs, &who("ann")).ok().unwrap();
        assert!(job.result().is_err());
        job.end(Err(Problem::busy()));
        assert!(jobs.add(JobKind::Pairs, &who("ann")).is_err());
        assert!(job.result().is_err());
        assert!(jobs.add(JobKind::Pairs, &who("ann")).is_ok());
    }

    #[test]
    fn a_full_disk_is_told_as_such() {
        let mut lines = Lines { file: BufWriter::new(File::options().write(true).open("/dev/full").unwrap()), rows: 0 };
        let outcome = lines.write(&"x").and_then(|()| lines.finish());
        assert_eq!(outcome.err().unwrap().status().as_u16(), 507);
    }
}
