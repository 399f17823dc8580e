// Some of the ranks, numbered among themselves, as a transport of their own.
#pragma once

#include "contract/transport.hpp"

namespace nhalf {
/// Messages go between the members only. Control is that of all ranks, which is not for one group
/// alone to ask.
template <Duplex T>
class Group {
 public:
  static constexpr const TransportInfo& info = T::info;

  /// The members in their order here; a rank that is none of them has number -1.
  Group(T& transport, std::vector<int> members)
      : transport_(&transport), members_(std::move(members)) {
    const auto place = std::ranges::find(members_, transport.rank());
    if (place != members_.end()) rank_ = static_cast<int>(place - members_.begin());
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] bool has_me() const { return rank_ >= 0; }
  /// The rank among all of a member.
  [[nodiscard]] int member(int number) const { return members_[static_cast<std::size_t>(number)]; }
  /// Who is so many members after this one, around the end.
  [[nodiscard]] int after(int steps) const { return (rank_ + steps + size()) % size(); }

  [[nodiscard]] double now_s() const { return transport_->now_s(); }
  void barrier() { transport_->barrier(); }
  void broadcast(Bytes data) { transport_->broadcast(data); }
  bool all(bool mine) { return transport_->all(mine); }
  std::vector<std::string> gather(const std::string& text) { return transport_->gather(text); }
  [[nodiscard]] std::string library() const { return transport_->library(); }

  void send(int peer, ConstBytes data) { transport_->send(member(peer), data); }
  void recv(int peer, Bytes data) { transport_->recv(member(peer), data); }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    transport_->exchange(member(to), out, member(from), in);
  }

  /// The first member's answer at all of them, once all have come.
  bool agreed(bool mine) {
    std::byte answer{mine ? std::uint8_t{1} : std::uint8_t{0}};
    const std::span word(&answer, 1);
    if (rank_ > 0) {
      send(0, ConstBytes{});
      recv(0, word);
      return answer != std::byte{0};
    }
    for (int from = 1; from < size(); ++from) recv(from, Bytes{});
    for (int to = 1; to < size(); ++to) send(to, word);
    return mine;
  }

 private:
  T* transport_;
  std::vector<int> members_;
  int rank_ = -1;
};
}  // namespace nhalf
