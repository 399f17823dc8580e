// Accesses of ranks to each other's memory as messages: asks for them, serves those of others, and
// takes the answers.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <utility>

#include "fabric/accesses.hpp"
#include "fabric/endpoint.hpp"
#include "fabric/sender.hpp"

namespace nhalf::fabric {

class Serving {
 public:
  Serving(Accesses& accesses, Sender& sender, Endpoints& endpoints)
      : accesses_(accesses), sender_(sender), endpoints_(endpoints) {}

  /// Asks for an access, with which `parts` go.
  void ask(const Endpoint& from, Address to, const Access& access, std::span<const iovec> parts,
           Asked pending) {
    auto& message = sender_.access(from.number, to, access, bytes_in(parts));
    Access::in(message).number = accesses_.ask(std::move(pending));
    gather(parts, Access::data_in(message));
    sender_.send(message, nullptr, nullptr);
  }
  /// Does what another rank asks, or takes its answer.
  void serve(Message& message) {
    const bool is_answer = Access::in(message).kind == Access::Kind::answer;
    is_answer ? take_answer(message) : answer(message);
    sender_.release(message);
  }

 private:
  void answer(Message& request) {
    const auto& access = Access::in(request);
    const auto size_bytes = Accesses::answer_bytes(access);
    auto& message = sender_.access(request.endpoint, request.source, access, size_bytes);
    Access& head = Access::in(message);
    head.kind = Access::Kind::answer;
    head.size_bytes = size_bytes;
    head.has_failed = !accesses_.serve(access, Access::data_in(request), Access::data_in(message));
    sender_.send_at(message, request.arrival);
  }
  void take_answer(Message& message) {
    const auto& access = Access::in(message);
    const auto pending = accesses_.answered(access.number);
    scatter(pending.parts, 0, Access::data_in(message),
            static_cast<std::size_t>(access.size_bytes));
    if (pending.counter != nullptr) ++*pending.counter;
    auto* const queue = endpoints_.queue_of_sends(message.endpoint);
    if (queue == nullptr || !(pending.is_reported || access.has_failed)) return;
    queue->add(pending.completion(message));
  }

  Accesses& accesses_;
  Sender& sender_;
  Endpoints& endpoints_;
};

}  // namespace nhalf::fabric
