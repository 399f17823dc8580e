// What the driver's management library (NVML) says of a GPU: whether something holds its clock
// down, and who else is on it. No rights are needed and nothing is set. NHALF_NVML_LIBRARY names
// another file than libnvidia-ml.so.1; without it nothing is known.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

#include "contract/vocabulary.hpp"

namespace nhalf::gpu {
/// The condition of a GPU in this moment. Source: NVML API reference 13.0.
struct Condition {
  bool is_known = false;
  bool is_persistent = false;
  /// Bits of nvmlClocksEventReasons.
  unsigned long long clock_reasons = 0;
  /// Processes that compute on it, this one included; 0 where it does not tell.
  std::size_t processes = 0;

  /// What holds the clock down, in words; empty if nothing does.
  [[nodiscard]] std::vector<std::string> held_back_by() const {
    constexpr std::pair<unsigned long long, const char*> reasons[] = {{0x04, "power limit"},
                                                                      {0x08, "hardware slowdown"},
                                                                      {0x20 | 0x40, "temperature"},
                                                                      {0x80, "power brake"}};
    std::vector<std::string> words;
    for (const auto& [bits, word] : reasons)
      if ((clock_reasons & bits) != 0) words.emplace_back(word);
    return words;
  }
};

/// Whether a server lets processes share GPUs without time slices (MPS): its pipe is there.
inline bool has_mps() {
  const char* folder = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  const std::string chosen = folder != nullptr && *folder != '\0' ? folder : P_tmpdir "/nvidia-mps";
  return access((chosen + "/control").c_str(), F_OK) == 0;
}

/// Looks at the GPU of one PCI address as often as it is asked.
class ConditionWitness {
 public:
  explicit ConditionWitness(const std::string& pci_address) {
    const char* chosen = std::getenv("NHALF_NVML_LIBRARY");
    const char* file = chosen != nullptr && *chosen != '\0' ? chosen : "libnvidia-ml.so.1";
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    const auto start = find<int()>(library, "nvmlInit_v2");
    const auto device = find<int(const char*, void**)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
    reasons_ =
        find<int(void*, unsigned long long*)>(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
    persistence_ = find<int(void*, int*)>(library, "nvmlDeviceGetPersistenceMode");
    processes_ =
        find<int(void*, unsigned*, Process*)>(library, "nvmlDeviceGetComputeRunningProcesses_v3");
    is_ready_ = start != nullptr && device != nullptr && start() == success &&
                device(pci_address.c_str(), &device_) == success;
  }

  [[nodiscard]] Condition look() const {
    Condition condition;
    if (!is_ready_) return condition;
    std::array<Process, 64> list{};
    unsigned count = list.size();
    int persistence = 0;
    condition.is_known =
        reasons_ != nullptr && reasons_(device_, &condition.clock_reasons) == success;
    if (persistence_ != nullptr && persistence_(device_, &persistence) == success)
      condition.is_persistent = persistence == 1;
    if (processes_ != nullptr && processes_(device_, &count, list.data()) == success)
      condition.processes = count;
    return condition;
  }

 private:
  static constexpr int success = 0;
  /// nvmlProcessInfo_v2_t.
  struct Process {
    unsigned number;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
  };
  template <class Call>
  static Call* find(void* library, const char* symbol) {
    return library == nullptr ? nullptr : reinterpret_cast<Call*>(dlsym(library, symbol));
  }

  int (*reasons_)(void*, unsigned long long*) = nullptr;
  int (*persistence_)(void*, int*) = nullptr;
  int (*processes_)(void*, unsigned*, Process*) = nullptr;
  void* device_ = nullptr;
  bool is_ready_ = false;
};
}  // namespace nhalf::gpu
