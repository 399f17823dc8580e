// nhalf-needs: MPI
// Messages by postboxes in shared memory.
#pragma once

#include <iterator>

#include "contract/pattern.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/progressing_control.hpp"
#include "transports/shm/shared_segments.hpp"
#include "transports/shmq/messages.hpp"

namespace nhalf {
/// Short messages in postboxes of one cache line, longer ones in buffers that postboxes announce,
/// and the longest fetched by the receiver.
class PostboxTransport : public MpiControl,
                         public StartedByMpi<PostboxTransport>,
                         public MessageCollectives<PostboxTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  using MpiControl::gather;
  using Request = shmq::Messages::Request;
  static constexpr auto described = [] {
    std::array<OptionInfo, shmq::Settings::described.size() + std::size(ClockError::described)> all;
    const auto end = std::ranges::copy(shmq::Settings::described, all.begin()).out;
    std::ranges::copy(ClockError::described, end);
    return all;
  }();
  static constexpr TransportInfo info{"shmq", "messages by postboxes in shared memory", described};

  explicit PostboxTransport(const Options& options)
      : MpiControl(options),
        settings_(options),
        waiting_(*this),
        mailboxes_(settings_, size()),
        memory_(*this, mailboxes_.size_bytes()) {
    settings_.pulls = settings_.pulls && all_can_pull();
    messages_.emplace(settings_, waiting_, size());
    std::vector<std::byte*> starts;
    for (int peer = 0; peer < size(); ++peer) starts.push_back(memory_.of(peer).data());
    const auto processes = everybodys(getpid());
    for (int peer = 0; peer < size(); ++peer)
      messages_->add_line(mailboxes_.lane(starts, rank(), peer),
                          mailboxes_.lane(starts, peer, rank()),
                          processes[static_cast<std::size_t>(peer)]);
  }

  void send(int peer, ConstBytes data) { messages_->send(peer, data); }
  void ssend(int peer, ConstBytes data) { messages_->send(peer, data, true); }
  void rsend(int peer, ConstBytes data) { messages_->send(peer, data); }
  void recv(int peer, Bytes data) { messages_->recv(peer, data); }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    messages_->exchange(to, out, from, in);
  }
  Request isend(int peer, ConstBytes data) { return messages_->isend(peer, data); }
  Request irecv(int peer, Bytes data) { return messages_->irecv(peer, data); }
  void wait(Request& request) { messages_->wait(request); }
  std::size_t wait_any(std::span<Request> requests) { return messages_->wait_any(requests); }

  [[nodiscard]] std::string library() const {
    return settings_.pulls ? "POSIX shared memory, long messages copied once by the kernel"
                           : "POSIX shared memory, every message copied twice";
  }

 private:
  /// Whether every rank may read the memory of all others.
  bool all_can_pull() {
    shmq::SingleCopy::permit();
    struct Sample {
      pid_t process;
      std::uint64_t address;
    };
    const std::uint64_t mark = 0x6e68616c66;
    barrier();
    bool mine = true;
    for (const auto& [process, address] :
         everybodys(Sample{getpid(), reinterpret_cast<std::uint64_t>(&mark)})) {
      std::uint64_t read = 0;
      auto* to = reinterpret_cast<std::byte*>(&read);
      mine = mine && shmq::SingleCopy(process).reads(to, address, sizeof read) && read == mark;
    }
    return all(mine);
  }

  shmq::Settings settings_;
  Waiting waiting_;
  shmq::Mailboxes mailboxes_;
  SharedSegments memory_;
  std::optional<shmq::Messages> messages_;
};
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::PostboxTransport);
