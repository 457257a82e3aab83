//! Jobs: work that may take longer than a request is allowed to. A job that only reads has its own handle, so
//! it delays no change. `compact` and `backup` run on the writer's thread, and changes wait for them. A
//! result is a temporary file, which is gone when the job is dropped or the service ends.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

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
}

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

    pub(crate) fn view(&self) -> JobView {
        let (step, done, total) = *self.step.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Progressing { state, rows, problem, .. } = &*self.progressing();
        // A step reports its progress from time to time, and not at its end.
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
        let progressing = self.progressing();
        progressing.result.clone().ok_or_else(|| Problem::no_result(progressing.state.name()))
    }

    /// Waits for `wait`, until the job is dropped.
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
        Ok(Self { file: BufWriter::new(tempfile::tempfile().map_err(failed)?), rows: 0 })
    }

    /// Adds a line.
    pub(crate) fn write(&mut self, row: &impl Serialize) -> Answer<()> {
        self.rows += 1;
        let written = serde_json::to_writer(&mut self.file, row).map_err(std::io::Error::from);
        written.and_then(|()| self.file.write_all(b"\n")).map_err(failed)
    }

    fn finish(self) -> Answer<(File, u64)> {
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok((file, self.rows))
    }
}

fn failed(error: std::io::Error) -> Problem {
    Problem::internal(error.to_string())
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

    /// Adds a new job. If there is no room, drops the oldest finished job. If no job is finished, refuses the
    /// new job.
    pub(crate) fn add(&self, kind: JobKind, owner: &Identity) -> Answer<Arc<Job>> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| Problem::internal(error.to_string()))?;
        let id = format!("{:032x}", u128::from_be_bytes(bytes));
        let asked_at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let progressing = Progressing { state: JobState::Queued, rows: 0, problem: None, result: None };
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
            let over = jobs.iter().position(|job| job.state().is_over()).ok_or_else(Problem::busy)?;
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
            // The work of a job that is dropped while it waits is dropped with it.
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
