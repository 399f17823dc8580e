#include "patterns/one_sided/rma.hpp"

#include <doctest/doctest.h>

#include "transports/model.hpp"

namespace nhalf::test_passive_target {

namespace {
/// The memory of all ranks' windows, and whether the library puts without help of the target.
struct PassiveLibrary {
  bool is_passive = true;
  bool loses_puts = false;
  std::array<std::vector<std::byte>, 2> memory{};
};

/// Two ranks of the model whose puts take 2 us, as does a barrier: a word to rank 1 and one back.
/// Where the library is not passive, that word is the put, which rank 1 answers within a barrier.
class WindowsModel : public ModelTransport {
 public:
  struct Window {
    std::vector<std::byte>* memory = nullptr;
    [[nodiscard]] Bytes local() const { return *memory; }
  };

  WindowsModel(ModelTransport&& model, PassiveLibrary& library)
      : ModelTransport(std::move(model)), library_(library) {}
  static void check_size(std::size_t) {}

  Window open_window(std::size_t size_bytes, WindowKind, WindowAccess, std::span<const int>,
                     std::span<const int>) {
    own().assign(size_bytes, std::byte{0});
    barrier();
    return {&own()};
  }
  void close_window(Window&) {}
  void begin(Window&) {}
  void complete(Window&) {}
  void end(Window&) {
    if (library_.is_passive)
      idle_until(now_s() + 2e-6);
    else
      ask(put_word);
  }
  void put(Window&, int peer, std::size_t offset, ConstBytes data) {
    auto& there = library_.memory[static_cast<std::size_t>(peer)];
    if (!library_.loses_puts)
      std::ranges::copy(data, there.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  void barrier() {
    if (rank() == 0) return ask(barrier_word);
    std::byte word{};
    do {
      recv(0, std::span(&word, 1));
      send(0, std::span(&word, 1));
    } while (word != barrier_word);
  }

  void get(Window&, int, std::size_t, Bytes) {}
  void accumulate(Window&, int, std::size_t, ConstBytes) {}
  void get_accumulate(Window&, int, std::size_t, ConstBytes, Bytes) {}
  void fetch_and_add(Window&, int, std::size_t, std::int64_t, std::int64_t&) {}
  void compare_and_swap(Window&, int, std::size_t, std::int64_t, std::int64_t, std::int64_t&) {}

 private:
  static constexpr std::byte put_word{1};
  static constexpr std::byte barrier_word{2};

  std::vector<std::byte>& own() { return library_.memory[static_cast<std::size_t>(rank())]; }
  void ask(std::byte word) {
    send(1, std::span(&word, 1));
    recv(1, std::span(&word, 1));
  }

  PassiveLibrary& library_;
};
static_assert(Windows<WindowsModel>);

struct Outcome {
  bool is_right = false;
  double round_us = 0;
  std::map<std::string, double> values{};
  std::string refusal{};
};

/// What rank 0 has of a point on such a machine; `round_us` is the mean of three timed rounds.
Outcome measured(const std::string& axes, PassiveLibrary library) {
  const auto network = Options::parse("o_s=0,o_r=0,g=0,G=0,L=1e-6", ',');
  Outcome outcome;
  ModelTransport::launch(0, nullptr, 2, network, [&](ModelTransport& model) {
    WindowsModel transport(std::move(model), library);
    const int rank = transport.rank();
    try {
      RmaPutBesideTarget<WindowsModel> pattern(
          transport, {.size_bytes = 64, .axes = Options::parse(axes, ',')});
      const bool is_right = pattern.verify();
      pattern.prepare();
      transport.barrier();
      const double start_s = transport.now_s();
      pattern.run(3);
      if (rank == 0) outcome.round_us = (transport.now_s() - start_s) / 3 * 1e6;
      if (rank == 1) outcome.is_right = is_right;
      const auto values = pattern.values();
      if (rank == 0)
        for (const auto& [name, value] : values) outcome.values[name] = value * 1e6;
    } catch (const InputError& error) {
      outcome.refusal = error.what();
    }
  });
  return outcome;
}
}  // namespace

TEST_CASE("a put alone is timed without its target, one with a barrier as long as both") {
  for (const bool is_passive : {true, false}) {
    const auto waits = measured("target=waits", {.is_passive = is_passive});
    CHECK(waits.is_right);
    CHECK(waits.round_us == doctest::Approx(4));
    CHECK(waits.values.empty());
  }
  CHECK(measured("", {}).round_us == doctest::Approx(2));
}

TEST_CASE("beside a target that computes, puts of a passive library are hidden, others wait") {
  const auto passive = measured("target=computes", {.is_passive = true});
  CHECK(passive.is_right);
  CHECK(passive.values.at("pure_s") == doctest::Approx(4));
  CHECK(passive.values.at("work_s") == doctest::Approx(4));
  CHECK(passive.values.at("total_s") == doctest::Approx(4));
  CHECK(passive.values.at("overlap") == doctest::Approx(1e6));
  const auto helped = measured("target=computes", {.is_passive = false});
  CHECK(helped.is_right);
  CHECK(helped.values.at("pure_s") == doctest::Approx(4));
  // The put comes 1 us after rank 1 has begun to compute, and waits until it ends.
  CHECK(helped.values.at("total_s") == doctest::Approx(6));
  CHECK(helped.values.at("overlap") == doctest::Approx(0.5e6));
  CHECK(helped.round_us - passive.round_us == doctest::Approx(2));
}

TEST_CASE("a put that does not arrive is found, whatever its target does") {
  for (const char* axes : {"", "target=waits", "target=computes"})
    CHECK_FALSE(measured(axes, {.loses_puts = true}).is_right);
}

TEST_CASE("a target that has a part in the access, or puts itself, cannot compute") {
  for (const char* axes :
       {"target=computes,access=fence", "target=waits,access=pscw", "target=computes,ways=both"})
    CHECK(measured(axes, {}).refusal.find("one way") != std::string::npos);
  CHECK(measured("target=sleeps", {}).refusal.find("no value 'sleeps'") != std::string::npos);
}
}  // namespace nhalf::test_passive_target
