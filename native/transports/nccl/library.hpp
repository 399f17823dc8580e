// NCCL, loaded when it is first asked for: nothing of it is needed to build nhalf.
// NHALF_NCCL_LIBRARY names another file than libnccl.so.2.
#pragma once

#include "contract/reduction.hpp"
#include "host/gpu_driver.hpp"

namespace nhalf::nccl {
using Communicator = struct CommunicatorState*;
/// By which ranks find each other.
struct UniqueId {
  std::array<char, 128> bytes{};
};

/// Results of NCCL (ncclResult_t) that are told apart here.
enum Result : int { success = 0, in_progress = 7 };

/// Types of elements (ncclDataType_t).
enum Type : int { int8 = 0, uint8 = 1, int32 = 2, int64 = 4, float32 = 7, float64 = 8 };

/// A reduction in NCCL's numbers: ncclDataType_t and ncclRedOp_t.
struct Combination {
  int type = float32;
  int operation = 0;
  std::size_t element_bytes = sizeof(float);

  /// Throws InputError for what NCCL does not combine.
  static Combination of(const Reduction& reduction) {
    constexpr std::array types{int{float32}, int{uint8}, int{int32}, int{int64}, int{float64}};
    constexpr std::array operations{0, 3, 2};
    const auto type = static_cast<std::size_t>(reduction.type);
    const auto operation = static_cast<std::size_t>(reduction.operation);
    if (type >= types.size() || operation >= operations.size())
      throw InputError(
          "NCCL combines type=float, char, int, long or double by op=sum, min or max here");
    return {types[type], operations[operation], reduction.element_bytes()};
  }
};

/// NCCL's calls. `library()` loads them.
struct Library {
#define NHALF_NCCL_CALL(Result, name, symbol, ...) Result (*name)(__VA_ARGS__) = nullptr;
#include "transports/nccl/calls.inc"

  /// Throws std::runtime_error where there is no NCCL, or one that lacks a call.
  Library() {
    const char* chosen = std::getenv("NHALF_NCCL_LIBRARY");
    const std::string file = chosen != nullptr && *chosen != '\0' ? chosen : "libnccl.so.2";
    void* const loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr)
      throw std::runtime_error("no NCCL: " + std::string(dlerror()) +
                               "; pip install nvidia-nccl-cu13, or name its file in "
                               "NHALF_NCCL_LIBRARY");
#define NHALF_NCCL_CALL(Result, name, symbol, ...)                      \
  name = reinterpret_cast<decltype(name)>(dlsym(loaded, symbol));       \
  if (name == nullptr)                                                  \
    throw std::runtime_error(file + " has no " symbol                   \
                                    "; it is too old or not NCCL: pip " \
                                    "install nvidia-nccl-cu13");
#include "transports/nccl/calls.inc"
    check(version(&number_), "its version");
    if (number_ < oldest)
      throw std::runtime_error(file + " is NCCL before 2.9: pip install nvidia-nccl-cu13");
  }

  /// Throws std::runtime_error that says which `request` failed, unless the result is success.
  void check(int result, std::string_view request) const {
    if (result != success) throw std::runtime_error(failure(result, request));
  }
  [[nodiscard]] std::string failure(int result, std::string_view request) const {
    return "NCCL failed (" + std::string(request) + ": " + error_text(result) + ", " +
           std::to_string(result) + "); NCCL_DEBUG=WARN says more";
  }

  /// Whether it has a switch that lets ranks share a GPU.
  [[nodiscard]] bool has_shared_gpus() const { return number_ >= 23000; }
  [[nodiscard]] std::string title() const {
    return "NCCL " + std::to_string(number_ / 10000) + "." + std::to_string(number_ / 100 % 100) +
           "." + std::to_string(number_ % 100);
  }

 private:
  /// The first whose numbers have this form: 2.9.0.
  static constexpr int oldest = 20900;
  int number_ = 0;
};

/// NCCL in this process. Throws std::runtime_error, at every call, if there is none that works.
inline const Library& library() {
  static const Library loaded;
  return loaded;
}
}  // namespace nhalf::nccl
