#include "transports/shmq/incoming.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "contract/buffer.hpp"

namespace {

using nhalf::shmq::Head;
using nhalf::shmq::Incoming;
using nhalf::shmq::Kind;
using nhalf::shmq::Lane;
using nhalf::shmq::Layout;
using nhalf::shmq::Look;
using nhalf::shmq::Operation;
using nhalf::shmq::Postbox;
using nhalf::shmq::Settings;

#ifdef NHALF_FULL_TESTS
constexpr int headers_tried = 1'000'000;
#else
constexpr int headers_tried = 20'000;
#endif

/// What was asked for, written: the sanitizer sees what lies outside.
struct Fetched {
  void operator()(std::byte* to, std::uint64_t, std::size_t bytes) const {
    std::memset(to, 1, bytes);
  }
};

/// Random boxes, most of them of a kind that there is, with sizes and places that are nearly right.
class Noise {
 public:
  void write(Postbox& box, std::uint64_t number, bool back) {
    for (auto& byte : box.data) byte = static_cast<std::byte>(random_());
    const std::uint64_t first[] = {below(8) == 0 ? random_() : below(8192), below(70)};
    if (below(8) != 0) std::memcpy(box.data, first, sizeof first);
    auto word = random_();
    if (below(8) != 0)
      word = Head{.number = 0,
                  .kind = Kind{static_cast<std::uint8_t>(1 + below(6))},
                  .count = static_cast<std::uint8_t>(below(below(4) == 0 ? 256 : 60)),
                  .back = back,
                  .answer = below(2) != 0}
                 .word();
    box.head.store((word & ~0xffffffffULL) | static_cast<std::uint32_t>(number));
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

 private:
  std::mt19937_64 random_{7};
};

}  // namespace

TEST_CASE("no header makes a receiver read or write where it must not") {
  Settings settings;
  settings.postboxes = 16;
  settings.buffers = 4;
  settings.buffer_bytes = 64;
  const Layout layout(settings);
  nhalf::Buffer memory(layout.size_bytes);
  const auto shared = std::make_unique<Postbox>();
  const Lane lane(memory.bytes().data(), settings, shared.get(), true);
  Noise noise;
  int refused = 0;
  int taken = 0;
  for (int tried = 0; tried < headers_tried;) {
    Incoming incoming(lane, settings, Fetched());
    const auto turn = 1 + noise.below(3);
    lane.box(turn).head.store(0);
    for (std::uint64_t number = 1; number <= layout.postboxes; ++number)
      noise.write(number == turn ? *shared : lane.box(number), number, true);
    tried += static_cast<int>(layout.postboxes);
    try {
      for (bool whole = true; whole;) {
        std::vector<std::byte> room(noise.below(2048));
        Operation received;
        received.data = room.data();
        received.size_bytes = room.size();
        whole = noise.below(4) == 0 ? incoming.take_whole(room) == Look::taken
                                    : incoming.go_on(received);
        taken += whole ? 1 : 0;
      }
    } catch (const nhalf::shmq::BadMessage&) {
      ++refused;
    }
  }
  CHECK(refused > 0);
  CHECK(taken > 0);
}
