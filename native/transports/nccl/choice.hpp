// What NCCL chooses for an operation, as it tells a profiler plug-in. The program is its own
// plug-in, for which NCCL looks in the program where NCCL_PROFILER_PLUGIN is STATIC_PLUGIN.
//
// Source: NCCL's headers, src/include/plugin/profiler/profiler_v2.h, _v4.h, _v5.h. NCCL takes the
// newest version that it knows: 2 since NCCL 2.24, 4 since 2.27, 5 since 2.28; versions 6 and 7 are
// extensions of 5. Version 1, of NCCL 2.23, has numbers in place of names and is left out.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cctype>

#include "contract/pattern.hpp"

namespace nhalf::nccl {
/// The choice for the first operation since it was asked for, which is before the timing: NCCL's
/// events are off from then on.
class Choice {
 public:
  /// Kinds of events, as bits of a mask: ncclProfileColl, ncclProfileP2p.
  enum Event : int { collective = 1 << 1, message = 1 << 2 };

  /// Called before NCCL starts. A plug-in of the user's own stays, and then nothing is known.
  static void offer() {
    if (dlsym(RTLD_DEFAULT, "ncclProfiler_v5") != nullptr)
      setenv("NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN", 0);
  }
  /// NCCL looks at `events` before each operation.
  void attach(int* events) {
    events_ = events;
    set(collective | message);
  }
  void keep(const char* algorithm, const char* protocol, int channels) {
    name_ = "nccl_" + std::string(algorithm) + "_" + protocol + "_channels";
    std::ranges::transform(name_, name_.begin(), [](unsigned char c) { return std::tolower(c); });
    channels_ = channels;
  }
  void rest() { set(0); }

  /// The channels of the choice, by a name such as `nccl_ring_ll128_channels`; none of messages, of
  /// one rank and of older NCCL. The next operation will be asked about.
  std::vector<Value> take() {
    std::vector<Value> values;
    if (!name_.empty())
      values.push_back({std::exchange(name_, {}), static_cast<double>(channels_)});
    set(collective | message);
    return values;
  }

 private:
  void set(int events) {
    if (events_ != nullptr) std::atomic_ref(*events_).store(events, std::memory_order_relaxed);
  }

  int* events_ = nullptr;
  std::string name_;
  int channels_ = 0;
};
inline Choice choice;

/// A collective operation, the beginning of ncclProfilerEventDescr_v2_t.
struct EventV2 {
  std::uint8_t kind;
  void* parent;
  int rank;
  const char* communicator;
  std::uint64_t communicator_hash, number;
  const char* function;
  const void* in;
  void* out;
  std::size_t count;
  int root;
  const char* type;
  std::size_t traffic_bytes;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
};
/// A collective operation since version 4; its kind has 64 bits since version 5.
template <class Kind>
struct EventV4 {
  Kind kind;
  void* parent;
  int rank;
  std::uint64_t number;
  const char* function;
  const void* in;
  void* out;
  std::size_t count;
  int root;
  const char* type;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
};

template <class Event>
int start_event(void*, void** handle, const Event* event) {
  *handle = nullptr;
  if (event->kind == Choice::collective && event->algorithm != nullptr &&
      event->protocol != nullptr)
    choice.keep(event->algorithm, event->protocol, event->channels);
  if (event->kind == Choice::collective || event->kind == Choice::message) choice.rest();
  return 0;
}

/// ncclProfiler_v*_t: what NCCL calls. `Described` is what it says of the communicator.
template <class Event, class... Described>
struct Plugin {
  const char* name = "nhalf";
  int (*initialise)(void** context, Described...);
  int (*start)(void*, void**, const Event*) = start_event<Event>;
  int (*stop)(void*) = [](void*) { return 0; };
  int (*record)(void*, int, void*) = [](void*, int, void*) { return 0; };
  int (*finalise)(void*) = [](void*) { return 0; };
};
inline int initialise(void** context, int* events) {
  *context = &choice;
  choice.attach(events);
  return 0;
}
}  // namespace nhalf::nccl

#define NHALF_NCCL_PLUGIN extern "C" [[gnu::used, gnu::visibility("default")]] inline constexpr
NHALF_NCCL_PLUGIN nhalf::nccl::Plugin<nhalf::nccl::EventV2, int*> ncclProfiler_v2{
    .initialise = nhalf::nccl::initialise};
NHALF_NCCL_PLUGIN nhalf::nccl::Plugin<nhalf::nccl::EventV4<std::uint8_t>, int*, const char*,
                                      std::uint64_t, int, int, int, void*>
    ncclProfiler_v4{.initialise = [](void** context, int* events, const char*, std::uint64_t, int,
                                     int, int,
                                     void*) { return nhalf::nccl::initialise(context, events); }};
NHALF_NCCL_PLUGIN nhalf::nccl::Plugin<nhalf::nccl::EventV4<std::uint64_t>, std::uint64_t, int*,
                                      const char*, int, int, int, void*>
    ncclProfiler_v5{.initialise = [](void** context, std::uint64_t, int* events, const char*, int,
                                     int, int,
                                     void*) { return nhalf::nccl::initialise(context, events); }};
#undef NHALF_NCCL_PLUGIN
