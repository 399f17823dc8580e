// When a rank was kept from its processor: what looks like a long reading of the clock.
#pragma once

#include <iterator>
#include <numeric>

#include "contract/pattern.hpp"
#include "timing/statistics.hpp"

namespace nhalf {
/// Watches the clock in a loop: P. Beckman, K. Iskra, K. Yoshii, S. Coghlan, "The Influence of
/// Operating Systems on the Performance of Collective Operations at Extreme Scale", CLUSTER 2006.
template <class Clock>
class Interruptions {
 public:
  /// Further ones are left out, and so is the time in which they came.
  static constexpr std::size_t kept_most = 65536;
  /// An interruption takes as long as this many readings at least, and longer than a missed cache.
  static constexpr double readings_least = 10;
  static constexpr double length_least_s = 1e-6;

  /// Interruptions from this length on, to the next one: a class of the spectrum.
  struct Length {
    std::string_view name;
    double from_s;
  };
  static constexpr Length lengths[] = {
      {"1us", 0}, {"10us", 1e-5}, {"100us", 1e-4}, {"1ms", 1e-3}, {"10ms", 1e-2}};

  explicit Interruptions(Clock& clock) : clock_(clock), kept_s_(kept_most) {
    std::array<double, 1001> readings_s{};
    double last_s = clock_.now_s();
    for (double& reading_s : readings_s) {
      const double now_s = clock_.now_s();
      reading_s = now_s - last_s;
      last_s = now_s;
    }
    reading_s_ = median(readings_s);
  }

  void reset() {
    count_ = 0;
    watched_s_ = 0;
  }

  /// Reads the clock so many times.
  void watch(std::uint64_t readings) {
    const double least_s = std::max(length_least_s, readings_least * reading_s_);
    double counted_s = clock_.now_s();
    double last_s = counted_s;
    for (; readings > 0; --readings) {
      const double now_s = clock_.now_s();
      if (now_s - last_s >= least_s && count_ < kept_most) {
        kept_s_[count_++] = now_s - last_s - reading_s_;
        watched_s_ += now_s - counted_s;
        counted_s = now_s;
      }
      last_s = now_s;
    }
    if (count_ < kept_most) watched_s_ += last_s - counted_s;
  }

  /// How long was watched and, of every class that there is, how many interruptions there were, the
  /// median of their lengths and their sum.
  [[nodiscard]] std::vector<Value> values() const {
    std::vector<Value> columns{{"watched_s", watched_s_}};
    for (const auto& length : lengths) {
      const double to_s = &length == std::prev(std::end(lengths)) ? 1e9 : (&length + 1)->from_s;
      std::vector<double> lengths_s;
      for (const double length_s : std::span(kept_s_).first(count_))
        if (length_s >= length.from_s && length_s < to_s) lengths_s.push_back(length_s);
      if (lengths_s.empty()) continue;
      const std::string name(length.name);
      const double lost_s = std::accumulate(lengths_s.begin(), lengths_s.end(), 0.0);
      columns.push_back({"count_" + name, static_cast<double>(lengths_s.size())});
      columns.push_back({"length_" + name + "_s", median(lengths_s)});
      columns.push_back({"lost_" + name + "_s", lost_s});
    }
    return columns;
  }

 private:
  Clock& clock_;
  std::vector<double> kept_s_;
  std::size_t count_ = 0;
  double reading_s_ = 0;
  double watched_s_ = 0;
};
}  // namespace nhalf
