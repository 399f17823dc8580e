#pragma once

#include "patterns/bases/links.hpp"

namespace nhalf {

inline constexpr PatternInfo many_to_many{
    .name = "many-to-many",
    .what =
        "every rank sends a message of its own to each other one and gets one from each, all "
        "started at once; the time until the slowest rank has all of a round",
    .needs = "non-blocking",
    .timing = Timing::slowest_rank};

/// Nobody is more than a round ahead, because every round needs a message from everybody.
template <NonBlocking T>
class ManyToMany : public Links<T> {
 public:
  ManyToMany(T& transport, const Case& point)
      : ManyToMany(transport, point, all_but(transport.rank(), transport.size())) {}

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    for (auto i = rounds; i > 0; --i) {
      // Receives come first, to start and to wait for: a transport may need them to end the sends.
      auto next = requests_.begin();
      for (const auto& link : this->in_) *next++ = transport.irecv(link.peer, link.data);
      for (const auto& link : this->out_) *next++ = transport.isend(link.peer, link.data);
      wait_all(transport, std::span(requests_));
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return moved_bytes_; }

 private:
  ManyToMany(T& transport, const Case& point, const std::vector<int>& partners)
      // Whom this rank serves k-th, that rank hears k-th: sends go up in rank, receives down.
      : Links<T>(transport, point, partners, {partners.rbegin(), partners.rend()}),
        requests_(2 * partners.size()),
        moved_bytes_(static_cast<std::uint64_t>(transport.size()) * partners.size() *
                     point.size_bytes) {}

  std::vector<typename T::Request> requests_;
  std::uint64_t moved_bytes_;
};
NHALF_PATTERN(many_to_many, ManyToMany);

}  // namespace nhalf
