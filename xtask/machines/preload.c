// What a machine has, as a program that starts there sees it: loaded before libc.
//
//   MACHINE_CORES  how many cores the system tells of
//   MACHINE_START  MiB that the program has in memory before its first line
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static long number(const char *name) {
    const char *value = getenv(name);
    return value ? atol(value) : 0;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    long cores = number("MACHINE_CORES");
    if (cores <= 0) {
        __typeof__(&sched_getaffinity) real = dlsym(RTLD_NEXT, "sched_getaffinity");
        return real(pid, size, set);
    }
    CPU_ZERO_S(size, set);
    for (long core = 0; core < cores; core++) CPU_SET_S(core, size, set);
    return 0;
}

// Never given back, and written to, so that it is there; volatile, or a compiler leaves it out.
static char *volatile held;

__attribute__((constructor)) static void start(void) {
    size_t bytes = (size_t)number("MACHINE_START") << 20;
    held = bytes ? malloc(bytes) : NULL;
    if (held) memset(held, 1, bytes);
}
