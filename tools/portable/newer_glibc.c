/* Symbols that glibc 2.28 lacks, and that RocksDB and the C++ library of GCC need if compiled against a newer glibc. They stay inside the linked file. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

/* glibc 2.30 */
pid_t gettid(void) {
    return (pid_t)syscall(SYS_gettid);
}

/* glibc 2.32: not 0 if there is only one thread, so that atomic operations can be left out. 0 is always correct. */
char __libc_single_threaded = 0;

/* glibc 2.36: for std::random_device. */
uint32_t arc4random(void) {
    uint32_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
    return number;
}
