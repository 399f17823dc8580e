// SPDX-License-Identifier: Apache-2.0
// What a pattern is, and the list of patterns that a probe knows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/transport.hpp"

namespace nhalf {

/// What `--describe` says about a pattern, whether or not the transport can run it.
struct PatternInfo {
  std::string_view name;
  std::string_view what;
  std::string_view needs = "";
  /// A sample's time is the batch's time divided by rounds and by this.
  int messages_per_round = 1;
  int ranks_min = 2;
  /// Rate = bytes * bytes_factor / time.
  int bytes_factor = 1;
  /// A batch holds at least this many rounds.
  std::uint64_t rounds_min = 1;
};

/// One point's coordinates, as far as a pattern cares.
struct Case {
  std::size_t size_bytes = 0;
};

/// A pattern made ready for one point on one rank. The one indirect call is per batch.
class Pattern {
 public:
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  virtual ~Pattern() = default;

  /// Runs the traffic `rounds` times; timed, so neither allocation nor output.
  virtual void run(std::uint64_t rounds) = 0;

  /// Runs one round and checks what arrived at this rank.
  virtual bool verify() = 0;
};

/// A pattern as a probe for transport T knows it; `make` is null where T lacks what it needs.
template <class T>
struct PatternEntry {
  PatternInfo info;
  std::unique_ptr<Pattern> (*make)(T& transport, const Case& point) = nullptr;
};

/// Every pattern compiled into this probe, by name.
template <class T>
std::vector<PatternEntry<T>>& patterns() {
  static std::vector<PatternEntry<T>> all;
  return all;
}

/// Adds a pattern to the list, keeping it sorted by name.
template <class T>
bool enroll(const PatternInfo& info, std::unique_ptr<Pattern> (*make)(T&, const Case&)) {
  auto& all = patterns<T>();
  const auto at =
      std::ranges::lower_bound(all, info.name, {}, [](const auto& e) { return e.info.name; });
  all.insert(at, PatternEntry<T>{info, make});
  return true;
}

}  // namespace nhalf

/// Puts a pattern into the probe. Where the transport does not satisfy the template's constraint,
/// the pattern is enrolled as absent: decided by the compiler, shown by `--describe`.
#ifdef NHALF_PROBE
#define NHALF_PATTERN(information, Template)                                                      \
  template <class T>                                                                              \
  auto maker_of_##Template() -> std::unique_ptr<::nhalf::Pattern> (*)(T&, const ::nhalf::Case&) { \
    if constexpr (requires { typename Template<T>; }) {                                           \
      return +[](T& transport, const ::nhalf::Case& point) -> std::unique_ptr<::nhalf::Pattern> { \
        return std::make_unique<Template<T>>(transport, point);                                   \
      };                                                                                          \
    } else {                                                                                      \
      return nullptr;                                                                             \
    }                                                                                             \
  }                                                                                               \
  inline const bool enrolled_##Template = ::nhalf::enroll<::nhalf::ProbeTransport>(               \
      information, maker_of_##Template<::nhalf::ProbeTransport>())
#else
#define NHALF_PATTERN(information, Template) static_assert(true)
#endif

/// Names the transport that this probe is built for; ends every file in transports/.
#ifdef NHALF_PROBE
#define NHALF_TRANSPORT(Class)  \
  namespace nhalf {             \
  using ProbeTransport = Class; \
  }                             \
  static_assert(::nhalf::Transport<Class>)
#else
#define NHALF_TRANSPORT(Class) static_assert(::nhalf::Transport<Class>)
#endif
