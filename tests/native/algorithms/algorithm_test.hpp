// What tests of algorithms have in common: ranks of a simulated machine, and costs measured there.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "contract/algorithm.hpp"
#include "contract/buffer.hpp"
#include "transports/model.hpp"

namespace nhalf::algorithm_test {

inline constexpr int ranks_max = 17;
inline constexpr LogGP machine{.o_s = 1.5e-6, .o_r = 2.5e-6, .g = 6e-6, .L = 5e-6, .G = 1e-9};
inline constexpr const char* machine_options = "o_s=1.5e-6,o_r=2.5e-6,g=6e-6,L=5e-6,G=1e-9";

/// Runs body(transport, scratch) on every rank; whether it was true on all.
template <class Body>
bool everywhere(int ranks, Body body) {
  bool good = true;
  ModelTransport::launch(0, nullptr, ranks, Options::parse(machine_options, ','),
                         [&](ModelTransport& transport) {
                           Scratch scratch;
                           good = body(transport, scratch) && good;
                         });
  return good;
}

/// Bytes that look random, for data of up to `length` bytes.
class Paint {
 public:
  static const std::byte* of(std::uint32_t seed) {
    static const Paint paint;
    return paint.bytes_.data() + std::size_t{seed} * 13;
  }

 private:
  static constexpr std::size_t length = 32768;
  Paint() : bytes_(2 * length) {
    std::mt19937 random;
    for (auto& byte : bytes_) byte = static_cast<std::byte>(random() >> 8);
  }
  std::vector<std::byte> bytes_;
};

/// Writes bytes that differ by seed and by place; cheaper than `fill`, for tests have many blocks.
inline void paint(Bytes data, std::uint32_t seed) {
  if (!data.empty()) std::memcpy(data.data(), Paint::of(seed), data.size());
}

inline bool is_painted(ConstBytes data, std::uint32_t seed) {
  return data.empty() || std::memcmp(data.data(), Paint::of(seed), data.size()) == 0;
}

struct Cost {
  std::int64_t messages = 0;
  double time_s = 0;
};

/// What one operation costs, from a common start to the last end, after a while in which nothing
/// happens.
template <class Run>
Cost cost_of(ModelTransport& transport, Run run) {
  transport.barrier();
  transport.idle_until(transport.now_s() + 1e-3);
  const auto before = transport.messages_sent();
  const double began_s = transport.now_s();
  transport.barrier();
  run();
  transport.barrier();
  const Cost cost{static_cast<std::int64_t>(transport.messages_sent() - before),
                  transport.now_s() - began_s};
  transport.barrier();
  return cost;
}

/// Compares the costs of every algorithm of a list with what it says; `run` runs one of them with
/// messages, vectors or blocks of n bytes.
template <class List, class Run>
void check_costs(const List& list, const std::vector<std::size_t>& sizes, Run run) {
  std::set<std::string_view> exact;
  for (int p = 1; p <= ranks_max; ++p)
    for (const auto n : sizes)
      for (const auto& algorithm : list) {
        CAPTURE(algorithm.info.name);
        CAPTURE(p);
        CAPTURE(n);
        Cost cost;
        everywhere(p, [&](ModelTransport& t, Scratch& scratch) {
          cost = cost_of(t, [&] { run(algorithm, t, scratch, n); });
          return true;
        });
        CHECK(cost.messages == algorithm.info.messages(p, n));
        if (algorithm.info.time_at_most_s && p > 1)
          CHECK(cost.time_s <=
                *algorithm.info.time_at_most_s(machine, p, static_cast<double>(n)) * (1 + 1e-9));
        const auto time_s = algorithm.info.time_s && p > 1
                                ? algorithm.info.time_s(machine, p, static_cast<double>(n))
                                : std::nullopt;
        if (!time_s) continue;
        exact.insert(algorithm.info.name);
        CHECK(cost.time_s == doctest::Approx(*time_s).epsilon(1e-9));
      }
  for (const auto& algorithm : list)
    CHECK((algorithm.info.time_s != nullptr) == exact.contains(algorithm.info.name));
}

/// Every algorithm says who it is, and no two have one name.
template <class List>
void check_names(const List& list, const std::set<std::string_view>& expected) {
  std::set<std::string_view> names;
  for (const auto& algorithm : list) {
    CAPTURE(algorithm.info.name);
    CHECK((algorithm.run != nullptr));
    CHECK(!algorithm.info.what.empty());
    CHECK(!algorithm.info.source.empty());
    CHECK(algorithm.info.name.find('_') == std::string_view::npos);
    CHECK(names.insert(algorithm.info.name).second);
  }
  for (const auto name : expected) {
    CAPTURE(name);
    CHECK(names.contains(name));
  }
}

}  // namespace nhalf::algorithm_test
