// What the harness adds to one message: ping-pong of calls that do nothing, in a plain loop and
// under the sampler. Prints both in seconds per message.
#include <cstdio>
#include <string>
#include <vector>

#include "patterns/pairs/pingpong.hpp"
#include "timing/sampler.hpp"

namespace {

/// A transport whose calls the compiler must make and that do nothing.
class Nothing {
 public:
  static constexpr nhalf::TransportInfo info{"nothing", "calls that do nothing", {}};
  static constexpr std::string_view clock_name = nhalf::SteadyClock::name;

  [[nodiscard]] int rank() const { return 0; }
  [[nodiscard]] int size() const { return 2; }
  [[nodiscard]] double now_s() const { return clock_.now_s(); }
  void send(int peer, nhalf::ConstBytes data) { call(peer, data.data(), data.size()); }
  void recv(int peer, nhalf::Bytes data) { call(peer, data.data(), data.size()); }
  void barrier() {}
  void broadcast(nhalf::Bytes) {}
  bool all(bool mine) { return mine; }
  std::vector<std::string> gather(const std::string& text) { return {text}; }
  [[nodiscard]] std::string library() const { return "none"; }

  [[gnu::noinline]] static void call(int peer, const std::byte* data, std::size_t size) {
    asm volatile("" : : "r"(peer), "r"(data), "r"(size) : "memory");
  }

 private:
  nhalf::SteadyClock clock_;
};

static_assert(nhalf::Transport<Nothing>);

double plain_s() {
  nhalf::SteadyClock clock;
  constexpr int messages = 20'000'000;
  std::byte byte{};
  const double began_s = clock.now_s();
  for (int i = 0; i < messages / 2; ++i) {
    Nothing::call(1, &byte, 0);
    Nothing::call(1, &byte, 0);
  }
  // A round trip is two sends and two receives, of which each side makes half.
  return (clock.now_s() - began_s) / messages;
}

double sampled_s() {
  Nothing transport;
  nhalf::PingPong<Nothing> pattern(transport, nhalf::Case{0});
  const nhalf::Effort effort{.slice_s = 1.0, .precision = 1e-6, .samples_min = 200};
  nhalf::Sampler sampler(transport, nhalf::calibrate(transport), effort);
  auto measured = sampler.measure(pattern, nhalf::pingpong);
  return nhalf::median(measured.samples_s);
}

}  // namespace

int main() {
  const double plain = plain_s();
  std::printf("%.6e %.6e\n", plain, sampled_s());
}
