// SPDX-License-Identifier: Apache-2.0
// Loaded before the C library: the wall clock of a process stands off by what a file of 8 bytes says.
// The machine's own clock cannot be set in a test.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* offset_ns;
static int (*real)(clockid_t, struct timespec*);

__attribute__((constructor)) static void open_offset(void) {
  real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const char* path = getenv("EVERYWATT_TEST_WALL_CLOCK");
  const int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) offset_ns = mapped;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  if (real == NULL) open_offset();
  const int result = real(clock, time);
  if (result != 0 || clock != CLOCK_REALTIME || offset_ns == NULL) return result;
  const int64_t ns = time->tv_sec * 1000000000LL + time->tv_nsec + *offset_ns;
  time->tv_sec = ns / 1000000000LL;
  time->tv_nsec = ns % 1000000000LL;
  return 0;
}

int gettimeofday(struct timeval* time, void* zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}
