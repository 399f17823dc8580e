// Messages that name the function which handles them: what a transport with such messages can do.
#pragma once

#include "contract/transport.hpp"

namespace nhalf {
/// What active messages are made of, whoever carries them.
namespace active {
/// Arguments of a message. Every kind of message has room for `words_max`, short ones for more.
using Word = std::uint64_t;
using Words = std::span<const Word>;
inline constexpr std::size_t words_max = 5;
inline constexpr std::size_t words_short_max = 7;

/// The place of a handler in the table, the same at every rank.
using Number = std::uint8_t;

/// Who sent a message, and what its handler may do: answer a request, at most once.
struct Token {
  int source = 0;
  bool may_reply = false;
};

/// Runs while its rank polls. It may reply to a request, and send nothing else. The payload of a
/// medium message is there until the handler returns, that of a long one stays where it was put.
using Handler = void (*)(void* context, Token& token, Words words, Bytes payload);

/// Where a rank that waits for one other looks: mostly at what that one writes; at the ready flags
/// of all; or at one flag that every sender raises, and at the ready flags when it is up.
enum class Polling : std::uint8_t { directed, general, flag };
inline constexpr std::string_view polling_names[] = {"directed", "general", "flag"};

/// How header and payload of a medium message get to the other rank: the payload from where it
/// lies, then the header; or both by one transfer, from where the payload was copied behind a
/// header.
enum class Medium : std::uint8_t { two_transfers, one_transfer };
inline constexpr std::string_view medium_names[] = {"two-transfers", "one-transfer"};

/// How the payload of a long message gets to the other rank: by stores of the program up to the
/// threshold and by a bulk copy above; or by one of both, where a bulk copy goes to memory that was
/// connected once, is connected for this transfer, or is connected for it by what was opened once,
/// from a buffer that was set up once (a copy more).
enum class Copying : std::uint8_t { threshold, stores, bulk, bulk_each, bulk_hybrid };
inline constexpr std::string_view copying_names[] = {"threshold", "stores", "bulk", "bulk-each",
                                                     "bulk-hybrid"};

/// How one message is carried, where there is a choice.
struct Method {
  Medium medium = Medium::two_transfers;
  Copying copying = Copying::threshold;
};

/// Where the payload of a long message goes: bytes from the begin of the receiver's region.
struct Placed {
  ConstBytes payload;
  std::size_t offset = 0;
};
}  // namespace active

/// Short messages carry words; medium ones a payload of at most `medium_bytes()` too, which the
/// handler is given; long ones put theirs into the receiver's `region`. A request returns when its
/// payload may be overwritten, and waits where too many to the same rank are under way. Nothing is
/// handled but in `poll` and `until`, which looks for what `peer` sends until `done()` holds; and,
/// by a transport that puts by messages, while ranks wait for all others.
///
/// `enrol` and `dismiss` are called by all ranks in the same order. `region` is the first bytes of
/// this rank's payload region, set aside; it throws std::bad_alloc where there are not so many.
/// `settle` waits until every request of this rank to `peer` was handled. `polling` changes where
/// this rank looks and what its messages raise: all ranks call it, with nothing under way. `forget`
/// undoes the import of a peer, which the next message to it repeats.
template <class T>
concept ActiveMessages =
    Transport<T> &&
    requires(T& transport, int peer, active::Number number, active::Handler handler, void* context,
             bool (*done)()) {
      { transport.enrol(handler, context) } -> std::same_as<active::Number>;
      transport.dismiss(number);
      { transport.medium_bytes() } -> std::same_as<std::size_t>;
      { transport.region(std::size_t{}) } -> std::same_as<Bytes>;
      transport.poll();
      transport.until(peer, done);
      transport.settle(peer);
      transport.polling(active::Polling{});
      transport.forget(peer);
    } &&
    requires(T& transport, int peer, active::Number number, active::Token& token,
             active::Words words, active::Placed placed, active::Method method) {
      transport.request_short(peer, number, words);
      transport.request_medium(peer, number, words, placed.payload, method);
      transport.request_long(peer, number, words, placed, method);
      transport.reply_short(token, number, words);
      transport.reply_medium(token, number, words, placed.payload, method);
      transport.reply_long(token, number, words, placed, method);
    };
}  // namespace nhalf
