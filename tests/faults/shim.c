/* Fails, shortens or kills at the n-th call of a class of system calls. Loaded into the program with LD_PRELOAD.
 *
 * FAULT_CLASS  write, sync, rename, unlink, open, mkdir, link, truncate, close, read, list, map or allocate
 * FAULT_AT     the number of the call that fails, from 1; 0 fails none
 * FAULT_LAST   the number of the last call that fails
 * FAULT_WITH   an errno; 0: half of what is to be written or read is; -1: SIGKILL before the call; -2: after it;
 *              -3: another program, which has had the file FAULT_APPEND open from the start, appends to it before the call
 * FAULT_PATH   only calls on paths that contain this count (for memory maps and allocations: all do)
 * FAULT_BYTES  only allocations of at least this size count
 * FAULT_COUNT  a file into which the number of calls is written when the program ends
 * FAULT_DISK   a folder that gets what a loss of power would leave: of each file that is synced its bytes, of each folder its
 *              entries, under the number of the inode; files have the time of modification that they had. What loses its last
 *              name is held until the program ends, so that nothing new gets its number: files by a name in this folder.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 65536

static char class[16], wanted[256], count_path[4096], disk[2048];
static long first, last, with;
static size_t least_bytes;
static int appended = -1;
static atomic_long calls;
/* The open files whose paths count. */
static atomic_char counts[FILES];

static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_open)(const char *, int, ...);

__attribute__((constructor)) static void begin(void) {
    const char *value;
    real_write = dlsym(RTLD_NEXT, "write");
    real_open = dlsym(RTLD_NEXT, "open");
    if ((value = getenv("FAULT_CLASS"))) strncpy(class, value, sizeof class - 1);
    if ((value = getenv("FAULT_PATH"))) strncpy(wanted, value, sizeof wanted - 1);
    if ((value = getenv("FAULT_DISK"))) strncpy(disk, value, sizeof disk - 1);
    if ((value = getenv("FAULT_COUNT"))) strncpy(count_path, value, sizeof count_path - 1);
    least_bytes = (value = getenv("FAULT_BYTES")) ? (size_t)atol(value) : 0;
    first = (value = getenv("FAULT_AT")) ? atol(value) : 0;
    last = (value = getenv("FAULT_LAST")) ? atol(value) : first;
    with = (value = getenv("FAULT_WITH")) ? atol(value) : EIO;
    if ((value = getenv("FAULT_APPEND"))) appended = real_open(value, O_WRONLY | O_APPEND | O_CLOEXEC);
}

__attribute__((destructor)) static void end(void) {
    char text[32];
    if (!count_path[0]) return;
    int file = real_open(count_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) return;
    int length = snprintf(text, sizeof text, "%ld", atomic_load(&calls));
    if (real_write(file, text, (size_t)length) < 0) abort();
}

static int named(const char *path) { return path && strstr(path, wanted) != NULL; }

static int opened(int file) { return file >= 0 && file < FILES && atomic_load(&counts[file]); }

static int at_folder(int folder, const char *path) {
    char link[64], target[4096];
    if (named(path)) return 1;
    if (folder == AT_FDCWD || !path || path[0] == '/') return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0) return 0;
    target[length] = 0;
    return named(target);
}

/* What happens to a call: 0 goes on, 1 fails with errno set, 2 is cut short, 3 is the last of the program. */
static int fate(const char *of, int concerned) {
    if (!concerned || strcmp(of, class) != 0) return 0;
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (!first || number < first || number > last) return 0;
    if (with == -1) kill(getpid(), SIGKILL);
    if (with == -2) return 3;
    if (with == -3) {
        if (real_write(appended, "appended\n", 9) != 9) abort();
        return 0;
    }
    if (with == 0) return 2;
    errno = (int)with;
    return 1;
}

static long done(int what, long result) {
    int said = errno;
    if (what == 3) kill(getpid(), SIGKILL);
    errno = said;
    return result;
}

static atomic_long kept;

/* Notes what a file or folder is that has just been synced. The time of a file is synced with it. */
static void note_synced(int file) {
    char source[64], part[4096], path[4096], target[4096];
    struct stat of;
    if (!disk[0] || fstat(file, &of) != 0) return;
    struct timespec times[2] = {of.st_atim, of.st_mtim};
    snprintf(source, sizeof source, "/proc/self/fd/%d", file);
    snprintf(part, sizeof part, "%s/part-%ld", disk, atomic_fetch_add(&kept, 1));
    snprintf(path, sizeof path, "%s/%lu", disk, (unsigned long)of.st_ino);
    FILE *into = fopen(part, "w");
    if (!into) abort();
    if (S_ISDIR(of.st_mode)) {
        DIR *folder = opendir(source);
        if (!folder) abort();
        for (struct dirent *entry; (entry = readdir(folder));) {
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
            if (fstatat(dirfd(folder), entry->d_name, &of, AT_SYMLINK_NOFOLLOW) != 0) continue;
            ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
            target[length < 0 ? 0 : length] = 0;
            const char *kind = S_ISDIR(of.st_mode) ? "folder" : length < 0 ? "file" : "link";
            fprintf(into, "%s\t%lu\t%s\t%s\n", kind, (unsigned long)of.st_ino, entry->d_name, target);
        }
        closedir(folder);
    } else {
        char bytes[65536];
        FILE *from = fopen(source, "r");
        if (!from) abort();
        for (size_t size; (size = fread(bytes, 1, sizeof bytes, from)) > 0;) fwrite(bytes, 1, size, into);
        fclose(from);
    }
    if (fflush(into) != 0 || futimens(fileno(into), times) != 0) abort();
    if (fclose(into) != 0 || syscall(SYS_renameat, AT_FDCWD, part, AT_FDCWD, path) != 0) abort();
}

/* Holds what may lose its last name, so that nothing new gets its number: a file by another name, a folder by leaving it open. */
static void keep(int folder, const char *path) {
    char name[4096];
    if (!disk[0]) return;
    int said = errno;
    snprintf(name, sizeof name, "%s/kept-%d-%ld", disk, getpid(), atomic_fetch_add(&kept, 1));
    if (syscall(SYS_linkat, folder, path, AT_FDCWD, name, 0) != 0) syscall(SYS_openat, folder, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    errno = said;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = dlsym(RTLD_NEXT, #name)

#define AROUND(type, name, parameters, arguments, of, concerned, before) \
    type name parameters { \
        REAL(name); \
        int what = fate(of, concerned); \
        if (what == 1) return -1; \
        before; \
        type result = real arguments; \
        return (type)done(what, (long)result); \
    }

#define PLAIN(type, name, parameters, arguments, of, concerned) \
    AROUND(type, name, parameters, arguments, of, concerned, (void)0)

/* Cut short, it transfers half. */
#define TRANSFER(type, name, parameters, whole, half, of) \
    type name parameters { \
        REAL(name); \
        int what = fate(of, opened(file)); \
        if (what == 1) return -1; \
        if (what == 2 && size > 1) return real half; \
        return (type)done(what, (long)real whole); \
    }

TRANSFER(ssize_t, write, (int file, const void *from, size_t size), (file, from, size), (file, from, size / 2), "write")
TRANSFER(ssize_t, pwrite, (int file, const void *from, size_t size, off_t at), (file, from, size, at), (file, from, size / 2, at), "write")
TRANSFER(ssize_t, pwrite64, (int file, const void *from, size_t size, off64_t at), (file, from, size, at), (file, from, size / 2, at), "write")
TRANSFER(ssize_t, read, (int file, void *to, size_t size), (file, to, size), (file, to, size / 2), "read")
TRANSFER(ssize_t, pread, (int file, void *to, size_t size, off_t at), (file, to, size, at), (file, to, size / 2, at), "read")
TRANSFER(ssize_t, pread64, (int file, void *to, size_t size, off64_t at), (file, to, size, at), (file, to, size / 2, at), "read")
PLAIN(ssize_t, writev, (int file, const struct iovec *from, int parts), (file, from, parts), "write", opened(file))

#define SYNC(name) \
    int name(int file) { \
        REAL(name); \
        int concerned = opened(file), what = fate("sync", concerned); \
        if (what == 1) return -1; \
        int result = real(file); \
        if (result == 0 && concerned) note_synced(file); \
        return (int)done(what, result); \
    }

SYNC(fsync)
SYNC(fdatasync)
PLAIN(int, ftruncate, (int file, off_t size), (file, size), "truncate", opened(file))
PLAIN(int, ftruncate64, (int file, off64_t size), (file, size), "truncate", opened(file))
PLAIN(int, fallocate, (int file, int mode, off_t at, off_t size), (file, mode, at, size), "truncate", opened(file))
PLAIN(int, fallocate64, (int file, int mode, off64_t at, off64_t size), (file, mode, at, size), "truncate", opened(file))

AROUND(int, rename, (const char *from, const char *to), (from, to), "rename", named(from) || named(to), keep(AT_FDCWD, to))
AROUND(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), "rename", at_folder(a, from) || at_folder(b, to), keep(b, to))
AROUND(int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags), "rename", at_folder(a, from) || at_folder(b, to), keep(b, to))
AROUND(int, unlink, (const char *path), (path), "unlink", named(path), keep(AT_FDCWD, path))
AROUND(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags), "unlink", at_folder(folder, path), keep(folder, path))
AROUND(int, rmdir, (const char *path), (path), "unlink", named(path), keep(AT_FDCWD, path))
PLAIN(int, mkdir, (const char *path, mode_t mode), (path, mode), "mkdir", named(path))
PLAIN(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), "mkdir", at_folder(folder, path))
PLAIN(int, link, (const char *from, const char *to), (from, to), "link", named(from) || named(to))
PLAIN(int, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), "link", at_folder(a, from) || at_folder(b, to))

int close(int file) {
    REAL(close);
    int concerned = opened(file), what = fate("close", concerned);
    if (file >= 0 && file < FILES) atomic_store(&counts[file], 0);
    int result = real(file);
    /* The file is closed also where the call fails. */
    if (what == 1) {
        errno = (int)with;
        return -1;
    }
    return (int)done(what, result);
}

#define OPEN(name, parameters, arguments, concerned_by) \
    int name parameters { \
        REAL(name); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | __O_TMPFILE)) { \
            va_list list; \
            va_start(list, flags); \
            mode = va_arg(list, mode_t); \
            va_end(list); \
        } \
        int concerned = concerned_by, what = fate("open", concerned); \
        if (what == 1) return -1; \
        int file = real arguments; \
        if (file >= 0 && file < FILES) atomic_store(&counts[file], (char)concerned); \
        return (int)done(what, file); \
    }

OPEN(open, (const char *path, int flags, ...), (path, flags, mode), named(path))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), named(path))
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), at_folder(folder, path))
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), at_folder(folder, path))

FILE *fopen(const char *path, const char *mode) {
    REAL(fopen);
    int concerned = named(path), what = fate("open", concerned);
    if (what == 1) return NULL;
    FILE *file = real(path, mode);
    if (file && fileno(file) < FILES) atomic_store(&counts[fileno(file)], (char)concerned);
    done(what, 0);
    return file;
}

static int open_folder_named(DIR *folder) {
    char link[64], target[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd(folder));
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0) return 0;
    target[length] = 0;
    return named(target);
}

struct dirent64 *readdir64(DIR *folder) {
    REAL(readdir64);
    int what = strcmp(class, "list") == 0 ? fate("list", open_folder_named(folder)) : 0;
    if (what == 1) return NULL;
    struct dirent64 *entry = real(folder);
    done(what, 0);
    return entry;
}

void *mmap(void *place, size_t size, int protection, int flags, int file, off_t at) {
    REAL(mmap);
    return fate("map", 1) == 1 ? MAP_FAILED : real(place, size, protection, flags, file, at);
}

void *mmap64(void *place, size_t size, int protection, int flags, int file, off64_t at) {
    REAL(mmap64);
    return fate("map", 1) == 1 ? MAP_FAILED : real(place, size, protection, flags, file, at);
}

/* The C library's own names of its allocator: it allocates before `dlsym` could find the others. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static int refused(size_t size) { return size >= least_bytes && fate("allocate", 1) == 1; }

void *malloc(size_t size) { return refused(size) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return refused(count * size) ? NULL : __libc_calloc(count, size); }

void *realloc(void *place, size_t size) { return refused(size) ? NULL : __libc_realloc(place, size); }

void *aligned_alloc(size_t alignment, size_t size) { return refused(size) ? NULL : __libc_memalign(alignment, size); }

void *memalign(size_t alignment, size_t size) { return refused(size) ? NULL : __libc_memalign(alignment, size); }

int posix_memalign(void **place, size_t alignment, size_t size) {
    void *made = refused(size) ? NULL : __libc_memalign(alignment, size);
    if (!made) return ENOMEM;
    *place = made;
    return 0;
}
