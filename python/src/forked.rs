//! Forked: lets a forked process end if the database was opened before the fork.
//!
//! The engine registers an exit handler that joins its threads. A forked process does not have these threads,
//! and would crash in the handler.

/// Registers an exit handler that ends a forked process at once, with its status, and does nothing in this
/// process. Handlers run in reverse order, so call this after the engine has registered its handler. Python
/// has run its own handlers before that.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn skip_exit_handlers() {
    use std::ffi::{c_int, c_void};
    use std::process;
    use std::sync::Once;

    unsafe extern "C" {
        fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
        fn fflush(stream: *mut c_void) -> c_int;
        fn _exit(status: c_int) -> !;
    }

    extern "C" fn leave(status: c_int, opener: *mut c_void) {
        if process::id() as usize != opener.addr() {
            // SAFETY: a null pointer stands for all streams, and the process was about to end with this
            // status.
            unsafe {
                fflush(std::ptr::null_mut());
                _exit(status);
            }
        }
    }

    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let opener = std::ptr::without_provenance_mut(process::id() as usize);
        // SAFETY: Python never unloads this library, and the handler does not use its argument as a pointer.
        // If the system lacks the memory for the handler, nothing is registered.
        unsafe { on_exit(leave, opener) };
    });
}

/// On other systems, exit handlers do not get the status.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn skip_exit_handlers() {}
