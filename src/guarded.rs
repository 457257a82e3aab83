//! Guarded: work with the libraries that read other people's formats, which are not meant to panic on damaged or hostile
//! data, and at times do. Then one document is lost, not the run.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Calls of [`guarded`] that this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Where the last panic within one of them happened.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Leaves the guard, whichever way its work ends.
struct Within;

impl Within {
    fn enter() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// What `work` returns; or, should it panic, what the panic said and where, in one line, with nothing printed. What
/// `work` has changed half is not to be used any more then.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if DEPTH.get() == 0 {
                print(info);
            } else {
                let place = info.location().map(|place| format!(" ({}:{})", short(place.file()), place.line()));
                PLACE.set(place);
            }
        }));
    });
    let within = Within::enter();
    let done = catch_unwind(AssertUnwindSafe(work));
    drop(within);
    done.map_err(|panic| format!("{}{}", words_of(&*panic), PLACE.take().unwrap_or_default()))
}

/// The end of a source file's path, which begins with a folder of the machine that built the program.
fn short(path: &str) -> &str {
    path.rmatch_indices('/').nth(2).map_or(path, |(at, _)| &path[at + 1..])
}

/// What a panic says of itself, in one line.
fn words_of(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    words.unwrap_or("it panicked").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_words() {
        assert_eq!(guarded(|| 7), Ok(7));
        let words = guarded(|| assert_eq!(1 + 1, 3, "not\nso")).unwrap_err();
        assert!(words.contains("not so") && words.contains("src/guarded.rs:"), "{words}");
        assert_eq!(guarded(|| guarded(|| panic!("inner")).is_err()), Ok(true));
        assert_eq!(DEPTH.get(), 0);
    }

    #[test]
    fn places_are_shown_without_the_folders_above() {
        assert_eq!(short("/home/x/.cargo/parquet-1.0/src/record/api.rs"), "src/record/api.rs");
        assert_eq!(short("src/guarded.rs"), "src/guarded.rs");
    }
}
