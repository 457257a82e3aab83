//! Guarded: runs libraries that read foreign formats. Such a library should not panic on damaged or hostile
//! data, but sometimes does. A panic then costs one document, not the run.
//!
//! The panic is caught where it leaves the guarded work. Before that, the process calls its panic hook, which
//! usually writes to standard error. The hook belongs to the host and is not changed here. The program of
//! this package sets a silent hook.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use self::program::silence_guarded_panics;

thread_local! {
    /// The source location of the last panic in each nested call of [`guarded`] on this thread. It is `None`
    /// if the hook reported no panic.
    static PLACES: RefCell<Vec<Option<String>>> = const { RefCell::new(Vec::new()) };
}

/// Returns the result of `work`. If it panics, returns the message of the panic in one line, with its source
/// location if known. After a panic, do not use any values that `work` was changing.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    PLACES.with_borrow_mut(|places| places.push(None));
    let done = catch_unwind(AssertUnwindSafe(work));
    let place = PLACES.with_borrow_mut(Vec::pop).flatten();
    done.map_err(|panic| format!("{}{}", words_of(&*panic), place.unwrap_or_default()))
}

/// The message of a panic, in one line.
fn words_of(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    words.unwrap_or("it panicked").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The panic hook of the program.
mod program {
    use std::panic;

    use super::PLACES;

    /// Sets a process-wide panic hook. Panics in guarded work are then not written to standard error, and
    /// their messages include the source location. All other panics go to the previous hook.
    pub fn silence_guarded_panics() {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let place = || info.location().map(|place| format!(" ({}:{})", short(place.file()), place.line()));
            // A thread that is ending may already have dropped `PLACES`. Such a thread is not in guarded
            // work.
            let guarded =
                PLACES.try_with(|places| places.borrow_mut().last_mut().map(|last| *last = place()).is_some());
            if !guarded.unwrap_or(false) {
                print(info);
            }
        }));
    }

    /// The last three parts of a source file's path. The path begins with a folder of the machine that built
    /// the program.
    fn short(path: &str) -> &str {
        path.rmatch_indices('/').nth(2).map_or(path, |(at, _)| &path[at + 1..])
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn places_are_shown_without_the_folders_above() {
            assert_eq!(short("/home/x/.cargo/parquet-1.0/src/record/api.rs"), "src/record/api.rs");
            assert_eq!(short("src/guarded.rs"), "src/guarded.rs");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_words() {
        assert_eq!(guarded(|| 7), Ok(7));
        let words = guarded(|| assert_eq!(1 + 1, 3, "not\nso")).unwrap_err();
        assert!(words.contains("not so"), "{words}");
        assert_eq!(guarded(|| guarded(|| panic!("inner")).is_err()), Ok(true));
        assert!(PLACES.with_borrow(Vec::is_empty));
    }
}
