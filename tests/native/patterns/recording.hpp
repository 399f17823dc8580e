// A transport that writes down who sends to whom, and what a pattern takes on the simulated
// machine.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "roster.hpp"
#include "timing/sampler.hpp"

namespace nhalf {

/// Messages by sender and receiver; those that only say something without data lie apart.
struct Traffic {
  std::map<std::pair<int, int>, int> data;
  std::map<std::pair<int, int>, int> empty;
  bool verified = true;
  std::uint64_t moved_bytes = 0;
  std::mutex mutex;

  [[nodiscard]] int messages() const {
    int sum = 0;
    for (const auto& [who, count] : data) sum += count;
    return sum;
  }
};

/// Counts what leaves each rank; may turn around one bit of each message that arrives with data.
class Recording : public ProbeTransport {
 public:
  Recording(ProbeTransport&& good, Traffic& traffic, bool spoils)
      : ProbeTransport(std::move(good)), traffic_(traffic), spoils_(spoils) {}

  void send(int peer, ConstBytes data) {
    note(peer, data);
    ProbeTransport::send(peer, data);
  }
  void recv(int peer, Bytes data) {
    ProbeTransport::recv(peer, data);
    spoil(data);
  }
  auto isend(int peer, ConstBytes data) {
    note(peer, data);
    return ProbeTransport::isend(peer, data);
  }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    note(to, out);
    ProbeTransport::exchange(to, out, from, in);
    spoil(in);
  }
  void stop_noting() { notes_ = false; }
  void start_noting() { notes_ = true; }

 private:
  void note(int to, ConstBytes data) {
    if (!notes_) return;
    const std::lock_guard lock(traffic_.mutex);
    ++(data.empty() ? traffic_.empty : traffic_.data)[{rank(), to}];
  }
  void spoil(Bytes data) const {
    if (spoils_ && !data.empty()) data.back() ^= std::byte{1};
  }

  Traffic& traffic_;
  bool spoils_;
  bool notes_ = false;
};

inline Case case_of(std::size_t size_bytes, const std::string& axes) {
  return {.size_bytes = size_bytes, .axes = Options::parse(axes, ',')};
}

/// What the ranks send to each other in some rounds of a pattern at one point.
template <template <class> class SomePattern>
void record(Traffic& traffic, int ranks, std::size_t size_bytes, const std::string& axes,
            std::uint64_t rounds = 1, bool spoils = false) {
  ProbeTransport::launch(0, nullptr, ranks, Options{}, [&](ProbeTransport& transport) {
    Recording recording(std::move(transport), traffic, spoils);
    SomePattern<Recording> pattern(recording, case_of(size_bytes, axes));
    const bool verified = recording.all(pattern.verify());
    recording.start_noting();
    pattern.run(rounds);
    recording.stop_noting();
    const std::lock_guard lock(traffic.mutex);
    traffic.verified = traffic.verified && verified;
    traffic.moved_bytes = pattern.moved_bytes().value_or(0);
  });
}

/// Whether times on this transport are exact.
inline constexpr bool exact_times = ProbeTransport::clock_name == "virtual";

constexpr double o_s = 1.5e-6, o_r = 2.5e-6, g = 6e-6, L = 5e-6, G = 1e-9;
inline constexpr std::string_view machine = "o_s=1.5e-6,o_r=2.5e-6,g=6e-6,L=5e-6,G=1e-9";

/// The time of a pattern on the simulated machine, seconds.
inline double time_of(const std::string& name, int ranks, std::size_t size_bytes,
                      const std::string& axes, const std::string& more = "") {
  double time_s = -1;
  const auto options = Options::parse(std::string(machine) + "," + more, ',');
  ProbeTransport::launch(0, nullptr, ranks, options, [&](ProbeTransport& transport) {
    for (const auto& entry : patterns<ProbeTransport>()) {
      if (entry.info.name != name) continue;
      const auto pattern = entry.make(transport, case_of(size_bytes, axes));
      auto found = Sampler(transport, calibrate(transport), Effort{}).measure(*pattern, entry.info);
      if (transport.rank() == 0 && found.verified) time_s = median(found.samples_s);
    }
  });
  return time_s;
}

/// The time of one message on the way between two ranks that both wait for it.
inline double one_way_s(std::size_t size_bytes) {
  return o_s + L + o_r + static_cast<double>(size_bytes) * G;
}

}  // namespace nhalf
