// Faults of the system, one at a time, for tests of the command: loaded before libc, it counts the
// calls on files under FAULT_DIR that read or change them, and lets one of them fail.
//
//   FAULT_CALL  which calls count: "read", "write" (write, fsync, ftruncate, unlink) or "thread"
//               (pthread_create, of which FAULT_DIR says nothing)
//   FAULT_AT    the number of the call, from 1
//   FAULT_HOW   an errno that it fails with, as all later ones do; "kill" ends the process after it,
//               "stop" has it wait there for SIGCONT
//   FAULT_COUNT a file that gets the number of calls at the end
//   FAULT_HEARS if set, signals that whoever started the tests ignores end the process again, or are
//               heard by it, as at a terminal
//   FAULT_PEAK  a file that gets the most bytes that the process had in memory, at its end
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;

static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static int is_ours(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    const char *folder = setting("FAULT_DIR");
    return length > 0 && *folder && strlen(folder) <= (size_t)length
        && !strncmp(path, folder, strlen(folder));
}

// Whether the call, the next of its kind, is to fail; then with errno.
static int fails(const char *kind, int *last) {
    *last = 0;
    if (strcmp(kind, setting("FAULT_CALL"))) return 0;
    long call = ++calls, at = atol(setting("FAULT_AT"));
    int is_kill = !strcmp(setting("FAULT_HOW"), "kill");
    int is_stop = !strcmp(setting("FAULT_HOW"), "stop");
    *last = is_kill && call == at;
    if (is_stop && call == at) kill(getpid(), SIGSTOP);
    if (is_kill || is_stop || at == 0 || call < at) return 0;
    errno = atoi(setting("FAULT_HOW"));
    return 1;
}

static void after(int last) {
    if (last) kill(getpid(), SIGKILL);
}

__attribute__((constructor)) static void hear(void) {
    if (!*setting("FAULT_HEARS")) return;
    int heard[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++) signal(heard[i], SIG_DFL);
}

// What the system says in /proc, which is of this program alone: what it says to who waits for the
// process begins with that of who started it.
__attribute__((destructor)) static void tell_peak(void) {
    const char *path = setting("FAULT_PEAK");
    FILE *status = *path ? fopen("/proc/self/status", "r") : NULL;
    if (!status) return;
    char line[256];
    long kib = 0;
    while (fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &kib);
    fclose(status);
    FILE *file = fopen(path, "w");
    if (!file) return;
    fprintf(file, "%ld", 1024 * kib);
    fclose(file);
}

__attribute__((destructor)) static void tell(void) {
    const char *path = setting("FAULT_COUNT");
    if (!*path) return;
    FILE *file = fopen(path, "w");
    if (!file) return;
    fprintf(file, "%ld", atomic_load(&calls));
    fclose(file);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void *buffer, size_t count) {
    int last = 0, saved = errno;
    if (is_ours(fd) && fails("read", &last)) return -1;
    errno = saved;
    ssize_t done = REAL(read)(fd, buffer, count);
    after(last);
    return done;
}

ssize_t pread64(int fd, void *buffer, size_t count, off64_t at) {
    int last = 0, saved = errno;
    if (is_ours(fd) && fails("read", &last)) return -1;
    errno = saved;
    ssize_t done = REAL(pread64)(fd, buffer, count, at);
    after(last);
    return done;
}

ssize_t write(int fd, const void *buffer, size_t count) {
    int last = 0, saved = errno;
    if (is_ours(fd) && fails("write", &last)) return -1;
    errno = saved;
    // A disk that fills up, and a kill, may leave half of it.
    ssize_t done = REAL(write)(fd, buffer, last && count > 1 ? count / 2 : count);
    after(last);
    return done;
}

int fsync(int fd) {
    int last = 0, saved = errno;
    struct stat found;
    // That of a folder is a wish: not every system knows it.
    int is_wish = !fstat(fd, &found) && S_ISDIR(found.st_mode) && strcmp(setting("FAULT_HOW"), "kill");
    if (!is_wish && is_ours(fd) && fails("write", &last)) return -1;
    errno = saved;
    int done = REAL(fsync)(fd);
    after(last);
    return done;
}

int ftruncate64(int fd, off64_t length) {
    int last = 0, saved = errno;
    if (is_ours(fd) && fails("write", &last)) return -1;
    errno = saved;
    int done = REAL(ftruncate64)(fd, length);
    after(last);
    return done;
}

int unlink(const char *path) {
    int last = 0;
    // That a file cannot be removed is no fault that is tried; that a run ends then is.
    if (!strcmp(setting("FAULT_HOW"), "kill")) fails("write", &last);
    int done = REAL(unlink)(path);
    after(last);
    return done;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*start)(void *), void *with) {
    int last = 0;
    if (fails("thread", &last)) return errno;
    return REAL(pthread_create)(thread, how, start, with);
}
