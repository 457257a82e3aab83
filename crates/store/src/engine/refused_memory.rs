//! Refused memory: ends the process when the system refuses memory to RocksDB.
//!
//! The C++ code of RocksDB then throws an exception that RocksDB does not handle. In one case, while it
//! opened a store, RocksDB kept a lock and then waited for it for ever. In other cases the exception passes
//! through Rust code, which is undefined behaviour. Ending the process is always safe, like a kill.

/// From now on the process ends at once (`SIGABRT`) when the system refuses memory to C++ code. Nothing
/// committed is lost.
///
/// Without this call, RocksDB can then wait for ever. This setting concerns all C++ code of the process, so
/// only the host can choose it: call the function at the start of a program.
pub fn abort_on_refused_memory() {
    // SAFETY: this is `std::set_new_handler`, with the type it has on all Unix systems. The handler is a
    // function without arguments that never returns, as the standard of C++ allows.
    unsafe {
        set_new_handler(abort);
    }
}

extern "C" fn abort() {
    std::process::abort()
}

unsafe extern "C" {
    /// `std::set_new_handler(void (*)())`, under the name that compilers give it. RocksDB links the library
    /// that has it.
    #[link_name = "_ZSt15set_new_handlerPFvvE"]
    fn set_new_handler(handler: extern "C" fn()) -> Option<extern "C" fn()>;
}
