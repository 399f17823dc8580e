// nhalf-needs: MPI
// Active messages through shared memory: short, medium and long ones, and what stands on them.
#pragma once

#include "contract/pattern.hpp"
#include "transports/am/pieces.hpp"
#include "transports/am/regions.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/pending_messages.hpp"
#include "transports/bases/stepwise_segment.hpp"

namespace nhalf {
/// Ranks of one host that write headers and payloads into each other's memory.
class ActiveMessageTransport : public ProgressingControl<ActiveMessageTransport>,
                               public am::Endpoint,
                               public PendingMessages<ActiveMessageTransport>,
                               public MessageCollectives<ActiveMessageTransport> {
 public:
  using Endpoint::forget;
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  using PendingMessages::wait;
  using ProgressingControl::gather;
  using ProgressingControl::rank;
  static constexpr OptionInfo described[] = {
      {"polling", "directed", "", "where a waiting rank looks: directed, general or flag"},
      {"import", "start", "", "start: segments of all ranks are mapped at once; demand: when used"},
      {"slots", "16", "", "requests to one rank that can be under way"},
      {"medium", "4096", "B", "largest payload of a medium message"},
      {"stores", "8192", "B", "largest payload that is moved by stores, not by a bulk copy"},
      {"region", "67108864", "B", "room for payloads of long messages"},
      {"access", "copy", "",
       "puts and gets: copy: to and from mapped memory; messages: by messages"},
      ClockError::described[0],
      ClockError::described[1]};
  static constexpr TransportInfo info{"am", "active messages through shared memory", described};

  explicit ActiveMessageTransport(const Options& options)
      : ProgressingControl(options),
        Endpoint(exchanged(options), habits(options), waiting()),
        PendingMessages(waiting(), size()),
        pieces_(*this),
        regions_(*this, chosen(options, "access", accesses) == 1) {}

  bool push(int peer, ConstBytes& remaining, bool& first) {
    return pieces_.push(peer, remaining, first);
  }
  bool pull(int peer, Bytes& remaining, bool& first) {
    return pieces_.pull(peer, remaining, first);
  }
  void ssend(int peer, ConstBytes data) {
    send(peer, data);
    until(peer, [&] { return pieces_.all_pulled(peer); });
  }

  using Region = am::Exposed;
  Region expose(std::size_t size_bytes) {
    std::optional<Region> shared;
    try {
      shared = regions_.expose(size_bytes);
    } catch (const std::bad_alloc&) {
      // The vote of all ranks below reports it.
    }
    if (!all(shared.has_value()))
      throw InputError("no room for " + std::to_string(size_bytes) +
                       " bytes in the payload regions: raise the option region");
    return *shared;
  }
  void put(Region& region, int peer, std::size_t offset, ConstBytes data) {
    regions_.put(region, peer, offset, data);
  }
  void get(Region& region, int peer, std::size_t offset, Bytes data) {
    regions_.get(region, peer, offset, data);
  }
  void complete(Region&, int peer) { regions_.complete(peer); }
  [[nodiscard]] Bytes mapped(const Region& region, int peer) {
    return regions_.mapped(region, peer);
  }
  void signal(Region& region, int peer, int slot) { regions_.signal(region, peer, slot); }
  void await_signal(Region& region, int slot) { regions_.await_signal(region, slot); }
  void withdraw(Region& region) {
    for (int peer = 0; peer < size(); ++peer) settle(peer);
    barrier();
    regions_.withdraw(region);
  }

  static constexpr std::string_view steps = all_steps;
  template <class Timed>
  void segment_life(ConstBytes out, Bytes in, Timed timed) {
    if (rank() == 0) {
      const auto publish = [&](const SegmentAddress& address) {
        send(1, std::as_bytes(std::span(&address, 1)));
      };
      expose_segment_once(out.size(), timed, publish, [&] { recv(1, Bytes{}); });
    }
    if (rank() != 1) return;
    const auto learn = [&] {
      SegmentAddress address;
      recv(0, std::as_writable_bytes(std::span(&address, 1)));
      return address;
    };
    use_segment_once(out, in, timed, learn, [&] { send(0, ConstBytes{}); });
  }

  /// Serves only accesses of other ranks to this rank's memory while it waits for all.
  void progress() {
    if (regions_.by_messages()) poll();
  }

  [[nodiscard]] std::string library() const { return "active messages on POSIX shared memory"; }

 private:
  static constexpr std::string_view imports[] = {"start", "demand"};
  static constexpr std::string_view accesses[] = {"copy", "messages"};

  /// Returns which of `words` an option has, by position; the first by default.
  static std::ptrdiff_t chosen(const Options& options, const char* name,
                               std::span<const std::string_view> words) {
    const auto text = options.text(name, std::string(words.front()));
    const auto word = std::ranges::find(words, text);
    if (word == words.end())
      throw InputError(std::string(name) + "=" + text + " is not known: choose another value");
    return word - words.begin();
  }
  static am::Habits habits(const Options& options) {
    const auto polling = chosen(options, "polling", active::polling_names);
    return {.polling = static_cast<active::Polling>(polling),
            .import_at_start = chosen(options, "import", imports) == 0,
            .stores_bytes = options.number("stores", std::size_t{8192})};
  }
  [[nodiscard]] am::Layout layout_of(const Options& options) const {
    constexpr std::size_t most_bytes = std::size_t{1} << 34;
    am::Layout layout{.ranks = static_cast<std::size_t>(size())};
    layout.slots = options.number("slots", layout.slots);
    layout.medium_bytes = options.number("medium", layout.medium_bytes);
    layout.region_bytes = options.number("region", layout.region_bytes);
    if (layout.medium_bytes % 64 != 0 || layout.medium_bytes > layout.chunk_bytes ||
        layout.region_bytes > most_bytes || layout.slots < 2 || layout.slots > 1024)
      throw InputError(
          "slots are 2 to 1024, medium a multiple of 64 up to 32768, region up to 2^34");
    return layout;
  }

  /// This rank's segments, and where those of all are.
  am::Peers exchanged(const Options& options) {
    if (!is_one_host()) throw InputError("active messages need all ranks on one host");
    am::Peers peers(layout_of(options), rank());
    peers.learn(everybodys(peers.exported()));
    return peers;
  }

  am::Pieces pieces_;
  am::Regions regions_;
};

static_assert(ActiveMessages<ActiveMessageTransport> && MappedMemory<ActiveMessageTransport>);
static_assert(SegmentLife<ActiveMessageTransport>);
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::ActiveMessageTransport);
