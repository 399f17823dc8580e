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
                               public PendingMessages<ActiveMessageTransport>,
                               public MessageCollectives<ActiveMessageTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  using PendingMessages::wait;
  using ProgressingControl::gather;
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
        PendingMessages(waiting(), size()),
        endpoint_(exchanged(options), habits(options), waiting()),
        pieces_(endpoint_),
        regions_(endpoint_, chosen(options, "access", accesses) == 1) {}

  bool push(int peer, ConstBytes& remaining, bool& first) {
    return pieces_.push(peer, remaining, first);
  }
  bool pull(int peer, Bytes& remaining, bool& first) {
    return pieces_.pull(peer, remaining, first);
  }
  void ssend(int peer, ConstBytes data) {
    send(peer, data);
    endpoint_.until(peer, [&] { return pieces_.all_pulled(peer); });
  }

  active::Number enrol(active::Handler handler, void* context) {
    return endpoint_.enrol(handler, context);
  }
  void dismiss(active::Number number) { endpoint_.dismiss(number); }
  [[nodiscard]] std::size_t medium_bytes() const { return endpoint_.layout().medium_bytes; }
  Bytes region(std::size_t size_bytes) { return endpoint_.region(size_bytes); }
  void request_short(int peer, active::Number handler, active::Words words) {
    endpoint_.request_short(peer, handler, words);
  }
  void request_medium(int peer, active::Number handler, active::Words words, ConstBytes payload,
                      active::Method method) {
    endpoint_.request_medium(peer, handler, words, payload, method.medium);
  }
  void request_long(int peer, active::Number handler, active::Words words, active::Placed placed,
                    active::Method method) {
    endpoint_.request_long(peer, handler, words, placed, method.copying);
  }
  void reply_short(active::Token& token, active::Number handler, active::Words words) {
    endpoint_.reply_short(token, handler, words);
  }
  void reply_medium(active::Token& token, active::Number handler, active::Words words,
                    ConstBytes payload, active::Method method) {
    endpoint_.reply_medium(token, handler, words, payload, method.medium);
  }
  void reply_long(active::Token& token, active::Number handler, active::Words words,
                  active::Placed placed, active::Method method) {
    endpoint_.reply_long(token, handler, words, placed, method.copying);
  }
  void poll() { endpoint_.poll(); }
  template <class Done>
  void until(int peer, Done is_complete) {
    endpoint_.until(peer, is_complete);
  }
  template <class Holds>
  void until(Holds holds) {
    endpoint_.until(holds);
  }
  void settle(int peer) { endpoint_.settle(peer); }
  void polling(active::Polling polling) { endpoint_.polling(polling); }
  void forget(int peer) { endpoint_.forget(peer); }

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
    for (int peer = 0; peer < size(); ++peer) endpoint_.settle(peer);
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
    if (regions_.by_messages()) endpoint_.poll();
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
  [[nodiscard]] am::Layout layout(const Options& options) const {
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
    am::Peers peers(layout(options), rank());
    peers.learn(everybodys(peers.exported()));
    return peers;
  }

  am::Endpoint endpoint_;
  am::Pieces pieces_;
  am::Regions regions_;
};

static_assert(ActiveMessages<ActiveMessageTransport> && MappedMemory<ActiveMessageTransport>);
static_assert(SegmentLife<ActiveMessageTransport>);
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::ActiveMessageTransport);
