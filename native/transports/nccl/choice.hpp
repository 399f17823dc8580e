// What NCCL chooses for an operation, as it tells a profiler plug-in. The program is its own
// plug-in, for which NCCL looks in the program where NCCL_PROFILER_PLUGIN is STATIC_PLUGIN.
//
// Source: NCCL's headers, src/include/plugin/profiler/profiler_v2.h, _v4.h, _v5.h. NCCL takes the
// newest version that it knows: 2 since NCCL 2.24, 4 since 2.27, 5 since 2.28; versions 6 and 7 are
// extensions of 5. Version 1, of NCCL 2.23, has numbers in place of names and is left out.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <tuple>

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

/// A collective operation as NCCL tells of it, the beginning of ncclProfilerEventDescr_v*_t:
/// between the rank and the channels are members of a word each that are not read.
template <class Kind, std::size_t unread_words>
struct ToldEvent {
  Kind kind;
  void* parent;
  int rank;
  std::array<std::uint64_t, unread_words> unread;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
};
using EventV2 = ToldEvent<std::uint8_t, 10>;
using EventV4 = ToldEvent<std::uint8_t, 7>;
using EventV5 = ToldEvent<std::uint64_t, 7>;

template <class Event>
int start_event(void*, void** handle, const Event* event) {
  *handle = nullptr;
  if (event->kind != Choice::collective && event->kind != Choice::message) return 0;
  if (event->kind == Choice::collective && event->algorithm != nullptr &&
      event->protocol != nullptr)
    choice.keep(event->algorithm, event->protocol, event->channels);
  choice.rest();
  return 0;
}
/// One thing that every version says of a communicator is where its events are chosen.
template <class... Described>
int initialise(void** context, Described... described) {
  *context = &choice;
  choice.attach(std::get<int*>(std::tuple(described...)));
  return 0;
}

/// ncclProfiler_v*_t: what NCCL calls. `Described` is what it says of the communicator.
template <class Event, class... Described>
struct Plugin {
  const char* name = "nhalf";
  int (*initialise)(void** context, Described...) = nccl::initialise<Described...>;
  int (*start)(void*, void**, const Event*) = start_event<Event>;
  int (*stop)(void*) = [](void*) { return 0; };
  int (*record)(void*, int, void*) = [](void*, int, void*) { return 0; };
  int (*finalise)(void*) = [](void*) { return 0; };
};
using PluginV2 = Plugin<EventV2, int*>;
using PluginV4 = Plugin<EventV4, int*, const char*, std::uint64_t, int, int, int, void*>;
using PluginV5 = Plugin<EventV5, std::uint64_t, int*, const char*, int, int, int, void*>;
}  // namespace nhalf::nccl

extern "C" {
[[gnu::used, gnu::visibility("default")]] inline constexpr nhalf::nccl::PluginV2 ncclProfiler_v2;
[[gnu::used, gnu::visibility("default")]] inline constexpr nhalf::nccl::PluginV4 ncclProfiler_v4;
[[gnu::used, gnu::visibility("default")]] inline constexpr nhalf::nccl::PluginV5 ncclProfiler_v5;
}
