// Ranks that load the network beside others that measure.
#pragma once

#include "contract/buffer.hpp"
#include "contract/pattern.hpp"

namespace nhalf {
/// Some of the ranks, numbered among themselves: messages go between these only. Control is that of
/// all ranks, which is not for one group alone to ask.
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

/// Which ranks are victims and which are not, evenly spaced; rank 0 is a victim.
struct VictimRanks {
  std::vector<int> victims;
  std::vector<int> congestors;

  /// Throws InputError where either would be fewer than two.
  static VictimRanks of(const Case& point, int ranks) {
    constexpr std::string_view kinds[] = {"shared", "apart"};
    const bool by_node = point.choice("nodes", kinds) == 1;
    const int victims_wanted = point.axis("victims", 2, ranks - 2);
    const int nodes = point.hosts.empty() ? 1 : 1 + *std::ranges::max_element(point.hosts);
    if (by_node && nodes < 2) throw InputError("nodes=apart needs ranks on two nodes or more");
    const int units = by_node ? nodes : ranks;
    const int chosen =
        by_node ? std::clamp(victims_wanted * nodes / ranks, 1, nodes - 1) : victims_wanted;
    VictimRanks result;
    for (int rank = 0; rank < ranks; ++rank) {
      const int unit = by_node ? point.hosts[static_cast<std::size_t>(rank)] : rank;
      const bool is_victim = std::int64_t{unit} * chosen % units < chosen;
      (is_victim ? result.victims : result.congestors).push_back(rank);
    }
    if (result.victims.size() < 2 || result.congestors.size() < 2)
      throw InputError("either group needs two ranks: give other victims or more ranks");
    return result;
  }
};

/// What a group of congestors does.
enum class Load { none, alltoall, incast, broadcast, put_incast, get_broadcast };

/// The ranks that are not victims, in a group for each kind of load: all of one kind, or, as
/// GPCNeT's network_load_test has them, of several at the same time. A group goes on in parts;
/// after each its ranks report to the first one, which says by its own clock whether there is
/// another. So nobody is ahead by more than a part.
template <Duplex T>
class Congestors {
 public:
  Congestors(T& transport, const Case& point, const std::vector<int>& ranks)
      : transport_(transport),
        size_bytes_(point.axes.number("load_bytes", std::size_t{4096})),
        kinds_(kinds_of(point, ranks.size())) {
    if constexpr (requires { T::check_size(size_bytes_); }) T::check_size(size_bytes_);
    const auto groups = std::max<std::size_t>(1, kinds_.size());
    for (std::size_t group = 0; group < groups; ++group) {
      std::vector<int> members;
      for (std::size_t i = group; i < ranks.size(); i += groups) members.push_back(ranks[i]);
      leaders_.push_back(members.front());
      if (std::ranges::find(members, transport.rank()) == members.end()) continue;
      group_.emplace(transport, members);
      if (are_any()) load_ = kinds_[group];
    }
    const auto blocks = group_ ? static_cast<std::size_t>(group_->size()) : 0;
    out_ = Buffer(group_ && are_any() ? size_bytes_ : 0);
    in_ = Buffer(are_any() ? size_bytes_ * blocks : 0);
    out_.fill(seed_of(transport.rank()));
    // All ranks expose as much: some transports want that.
    if constexpr (OneSided<T>)
      if (is_one_sided()) region_.emplace(transport.expose(size_bytes_ * ranks.size()));
  }
  ~Congestors() {
    if constexpr (OneSided<T>)
      if (region_) transport_.withdraw(*region_);
  }
  Congestors(const Congestors&) = delete;
  Congestors& operator=(const Congestors&) = delete;

  [[nodiscard]] bool are_any() const { return !kinds_.empty(); }

  /// Loads the network for this long, and tells `listener` when it has begun.
  void run(int listener, double lasts_s) {
    rate_Bps_ = 0;
    if (load_ == Load::none) return;
    part(1);
    if (leads()) transport_.send(listener, ConstBytes{});
    const double began_s = transport_.now_s();
    std::uint64_t rounds = 0;
    for (bool goes_on = true; goes_on; rounds += rounds_per_part) {
      part(rounds_per_part);
      goes_on = group_->agreed(transport_.now_s() - began_s < lasts_s);
    }
    const double took_s = transport_.now_s() - began_s;
    if (took_s > 0) rate_Bps_ = static_cast<double>(rounds * sent_bytes()) / took_s;
  }

  /// Waits, at the listener, until all groups have begun.
  void await() {
    if (!are_any()) return;
    for (const int leader : leaders_) transport_.recv(leader, Bytes{});
  }

  /// Does each message once; whether what this rank got is right. All ranks call it.
  bool verify() {
    if (load_ != Load::none) {
      spoil(in_.bytes());
      in_local([&](Bytes memory) {
        spoil(memory);
        if (load_ == Load::get_broadcast) fill(memory.first(size_bytes_), own_seed());
      });
      group_->agreed(true);
      part(1);
      group_->agreed(true);
    }
    return holds_all();
  }

  /// Bytes that this rank sent per second in the last run.
  [[nodiscard]] double rate_Bps() const { return rate_Bps_; }

 private:
  static constexpr std::uint64_t rounds_per_part = 8;
  static constexpr std::string_view loads[] = {
      "none", "alltoall", "incast", "broadcast", "put-incast", "get-broadcast", "congestors"};

  /// The kinds of the groups; none where nothing is to be loaded.
  static std::vector<Load> kinds_of(const Case& point, std::size_t ranks) {
    const auto chosen = point.choice("load", loads);
    if (chosen == 0) return {};
    std::vector<Load> kinds{static_cast<Load>(chosen)};
    if (chosen == std::size(loads) - 1) {
      kinds = {Load::alltoall, Load::incast};
      if (OneSided<T>) kinds.insert(kinds.end(), {Load::put_incast, Load::get_broadcast});
    }
    if (ranks < 2 * kinds.size())
      throw InputError("load=congestors needs two ranks for each of its " +
                       std::to_string(kinds.size()) + " groups");
    if (!OneSided<T> && kinds.front() >= Load::put_incast)
      throw InputError("put-incast and get-broadcast need a transport with one-sided messages");
    return kinds;
  }

  [[nodiscard]] bool is_one_sided() const {
    return std::ranges::any_of(kinds_, [](Load kind) { return kind >= Load::put_incast; });
  }
  [[nodiscard]] bool leads() const { return group_->rank() == 0; }
  [[nodiscard]] static std::uint32_t seed_of(int rank) {
    return static_cast<std::uint32_t>(rank) + 2;
  }
  [[nodiscard]] std::uint32_t own_seed() const { return seed_of(transport_.rank()); }
  Bytes block(int number) { return block_of(in_.bytes(), number, size_bytes_); }

  template <class Use>
  void in_local(Use use) {
    if constexpr (OneSided<T>)
      if (region_) use(region_->local());
  }

  static void spoil(Bytes memory) {
    if (is_kept(memory.size())) std::ranges::fill(memory, std::byte{0});
  }

  /// What a round sends from this rank.
  [[nodiscard]] std::uint64_t sent_bytes() const {
    const auto receivers = static_cast<std::uint64_t>(group_->size() - 1);
    const bool to_all = load_ == Load::alltoall || (load_ == Load::broadcast && leads());
    const bool to_one = !leads() && load_ != Load::broadcast;
    return size_bytes_ * (to_all ? receivers : to_one ? 1 : 0);
  }

  void part(std::uint64_t rounds) {
    for (; rounds > 0; --rounds) round();
  }

  void round() {
    const int members = group_->size();
    switch (load_) {
      case Load::alltoall:
        for (int step = 1; step < members; ++step)
          group_->exchange(group_->after(step), out_.bytes(), group_->after(-step),
                           block(group_->after(-step)));
        break;
      case Load::incast:
        if (!leads()) group_->send(0, out_.bytes());
        for (int from = 1; leads() && from < members; ++from) group_->recv(from, block(from));
        break;
      case Load::broadcast:
        if (!leads()) group_->recv(0, block(0));
        for (int to = 1; leads() && to < members; ++to) group_->send(to, out_.bytes());
        break;
      default:
        access();
    }
  }

  /// One-sided messages to or from the memory of the group's first rank.
  void access() {
    if constexpr (OneSided<T>) {
      if (load_ == Load::none || leads()) return;
      const int first = group_->member(0);
      if (load_ == Load::put_incast) {
        transport_.put(*region_, first, size_bytes_ * static_cast<std::size_t>(group_->rank()),
                       out_.bytes());
        transport_.complete(*region_, first);
      } else {
        transport_.get(*region_, first, 0, block(0));
      }
    }
  }

  bool holds_all() {
    using enum Load;
    if (load_ == none) return true;
    const bool from_first = load_ == broadcast || load_ == get_broadcast;
    const bool from_all = load_ == alltoall || (!from_first && leads());
    bool right = true;
    for (int number = 0; number < group_->size(); ++number) {
      const bool is_due = from_all || (from_first && number == 0);
      if (!is_due || number == group_->rank()) continue;
      auto got = block(number);
      if (load_ == put_incast)
        in_local([&](Bytes memory) { got = block_of(memory, number, size_bytes_); });
      right = right && holds(got, seed_of(group_->member(number)));
    }
    return right;
  }

  struct NoRegion {};
  template <class U>
  struct RegionOf {
    using Type = NoRegion;
  };
  template <OneSided U>
  struct RegionOf<U> {
    using Type = typename U::Region;
  };

  T& transport_;
  std::size_t size_bytes_;
  std::vector<Load> kinds_;
  std::vector<int> leaders_;
  std::optional<Group<T>> group_;
  Load load_ = Load::none;
  Buffer out_{0};
  Buffer in_{0};
  std::optional<typename RegionOf<T>::Type> region_;
  double rate_Bps_ = 0;
};
}  // namespace nhalf
