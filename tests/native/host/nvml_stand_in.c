/* A libnvidia-ml.so.1 for hosts without a GPU. By environment: NHALF_STAND_IN_REASONS are bits of
   what holds the clock down, NHALF_STAND_IN_PROCESSES who computes on the GPU (1),
   NHALF_STAND_IN_PERSISTENCE whether its driver stays loaded (1), NHALF_STAND_IN_NVML_FAULT=lost
   that no call finds a GPU. */
#include <stdlib.h>

enum { success = 0, not_found = 6 };

struct process {
  unsigned number;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

static unsigned long long setting(const char* name, unsigned long long fallback) {
  const char* text = getenv(name);
  return text == NULL ? fallback : strtoull(text, NULL, 0);
}

int nvmlInit_v2(void) {
  return success;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  *device = (void*)address;
  return getenv("NHALF_STAND_IN_NVML_FAULT") == NULL ? success : not_found;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  (void)device;
  *reasons = setting("NHALF_STAND_IN_REASONS", 0);
  return success;
}
int nvmlDeviceGetPersistenceMode(void* device, int* mode) {
  (void)device;
  *mode = (int)setting("NHALF_STAND_IN_PERSISTENCE", 1);
  return success;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, struct process* list) {
  (void)device;
  *count = (unsigned)setting("NHALF_STAND_IN_PROCESSES", 1);
  for (unsigned i = 0; i < *count; ++i) list[i].number = i + 1;
  return success;
}
