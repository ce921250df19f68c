// SPDX-License-Identifier: Apache-2.0
// Writes to an address that is not mapped, so that the GPU raises XID 31. Prints the process id and
// the boottime nanoseconds before the launch and after the error came back.
#include <cstdio>
#include <ctime>
#include <unistd.h>

__global__ void write_nowhere(int* where) { *where = 1; }

static long long boottime_ns() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main() {
  cudaFree(nullptr);
  const long long before = boottime_ns();
  write_nowhere<<<1, 1>>>(reinterpret_cast<int*>(0x7000'0000'0000ULL));
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("{\"pid\": %d, \"before_ns\": %lld, \"after_ns\": %lld, \"error\": \"%s\"}\n",
              static_cast<int>(getpid()), before, boottime_ns(), cudaGetErrorName(error));
  return 0;
}
