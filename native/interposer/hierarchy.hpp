// Operations through shared memory in groups of ranks that share a last-level cache: each group has
// a leader, and only leaders read what another group has written. Results have the same bits as
// without groups: terms are combined in the order of ranks.
#pragma once

#include <map>

#include "host/core_caches.hpp"
#include "interposer/shared_reductions.hpp"
#include "interposer/table.hpp"

namespace nhalf::coll {

/// The groups of the ranks of a node, and what caches they have.
class Hierarchy {
 public:
  /// Ranks whose last-level cache is the same, or all where one is unknown, are a group, whose
  /// leader is the first of them.
  explicit Hierarchy(std::span<const CoreCaches> caches) {
    const bool are_known = std::ranges::find(caches, 0U, &CoreCaches::last_level) == caches.end();
    inner_bytes_ = std::ranges::min(caches, {}, &CoreCaches::inner_bytes).inner_bytes;
    std::map<std::uint64_t, std::vector<int>> members;
    for (std::size_t i = 0; i < caches.size(); ++i) {
      auto& group = members[are_known ? caches[i].last_level : 0];
      group.push_back(static_cast<int>(i));
      if (group.size() == 1) leaders_.push_back(group.front());
      places_.push_back({group.front(), group.size() - 1});
      largest_ = std::max(largest_, static_cast<int>(group.size()));
    }
    for (auto& group : members) groups_.emplace(group.second.front(), std::move(group.second));
  }
  /// Asks all ranks for their caches; collective. Throws Failed.
  static Hierarchy of(SharedMemory& memory, const CoreCaches& own) {
    std::vector<CoreCaches> all(static_cast<std::size_t>(memory.size()));
    shared::allgather(memory, std::as_bytes(std::span(&own, 1)),
                      std::as_writable_bytes(std::span(all)));
    return Hierarchy(all);
  }

  [[nodiscard]] int leader_of(int rank) const { return place(rank).leader; }
  /// Returns how many ranks of its group are before a rank.
  [[nodiscard]] std::size_t ranks_before(int rank) const { return place(rank).before; }
  [[nodiscard]] const std::vector<int>& leaders() const { return leaders_; }
  /// Returns the ranks of a leader's group, the leader first.
  [[nodiscard]] const std::vector<int>& group(int leader) const { return groups_.at(leader); }
  [[nodiscard]] bool has_groups() const { return leaders_.size() > 1; }
  /// Whether leaders may help: some have others to speak for, and caches are several, or ranks so
  /// many that those that read the flags or terms of all others may take longer.
  [[nodiscard]] bool may_help(Operation operation) const {
    if (has_groups()) return largest_ > 1;
    return largest_ > flat_ranks && operation != Operation::bcast;
  }
  /// Whether an operation writes more for some rank than its inner caches hold, and does not
  /// combine it there, as two ranks do. `size_bytes` is that of the message, the vector or one
  /// block.
  [[nodiscard]] bool exceeds_caches(Operation operation, std::uint64_t size_bytes) const {
    using enum Operation;
    if (inner_bytes_ == 0) return false;
    if (operation == reduce || operation == allreduce)
      return places_.size() > 2 && size_bytes >= inner_bytes_;
    if (operation == bcast || operation == scatter) return size_bytes >= inner_bytes_;
    return size_bytes >= inner_bytes_ / places_.size();
  }
  /// Returns the bytes of a vector that go at once, 0 if an element is too large: the terms of a
  /// group fit into a slot.
  [[nodiscard]] std::size_t part_bytes(std::size_t element_bytes) const {
    return shared::part_bytes(element_bytes, has_groups() ? largest_ : 1);
  }

 private:
  static constexpr int flat_ranks = 8;

  struct Place {
    int leader;
    std::size_t before;
  };
  [[nodiscard]] const Place& place(int rank) const {
    return places_[static_cast<std::size_t>(rank)];
  }

  std::vector<Place> places_;
  std::vector<int> leaders_;
  std::map<int, std::vector<int>> groups_;
  int largest_ = 0;
  /// The smallest cache below the last level; 0 if one is unknown.
  std::uint64_t inner_bytes_ = 0;
};

namespace hierarchical {

/// Two flags one after the other within a group, and one among leaders between them.
inline void barrier(SharedMemory& memory, const Hierarchy& hierarchy) {
  const auto number = memory.begin();
  const int rank = memory.rank();
  const int leader = hierarchy.leader_of(rank);
  const auto await_all = [&](const std::vector<int>& ranks, Level level) {
    for (const int peer : ranks)
      if (peer != rank) memory.await(peer, level, number);
  };
  if (rank == leader) {
    await_all(hierarchy.group(leader), Level::arrived);
    if (hierarchy.has_groups()) {
      memory.raise(Level::gathered, number);
      await_all(hierarchy.leaders(), Level::gathered);
    }
    memory.raise(Level::released, number);
  } else {
    memory.raise(Level::arrived, number);
    memory.await(leader, Level::released, number);
  }
  // Who arrived had ended all earlier operations.
  memory.end(number, number - 1);
}

inline void bcast(SharedMemory& memory, const Hierarchy& hierarchy, int root, Bytes data) {
  const int rank = memory.rank();
  const int leader = hierarchy.leader_of(rank);
  const bool is_near = leader == hierarchy.leader_of(root);
  shared::for_parts(data.size(), Slot::size_bytes, [&](std::size_t at, std::size_t size_bytes) {
    const auto part = data.subspan(at, size_bytes);
    const auto offered = memory.begin();
    const auto passed = memory.begin();
    if (rank == root) {
      shared::give(memory, offered, part);
    } else if (is_near || rank == leader) {
      std::memcpy(part.data(), memory.taken(root, offered), size_bytes);
      if (!is_near) shared::give(memory, passed, part);
    } else {
      std::memcpy(part.data(), memory.taken(leader, passed), size_bytes);
    }
    memory.end(passed);
  });
}

/// Leaders collect the terms of their groups, combine those of all ranks, and pass the result on.
template <class Combine>
void allreduce(SharedMemory& memory, const Hierarchy& hierarchy, ConstBytes in, Bytes out,
               const Combine& combine) {
  const int rank = memory.rank();
  const int leader = hierarchy.leader_of(rank);
  const auto part = hierarchy.part_bytes(combine.element_bytes());
  shared::for_parts(in.size(), part, [&](std::size_t at, std::size_t size_bytes) {
    const auto offered = memory.begin();
    const auto collected = memory.begin();
    const auto result = memory.begin();
    const auto to = out.subspan(at, size_bytes);
    shared::give(memory, offered, in.subspan(at, size_bytes));
    if (rank == leader) {
      if (hierarchy.has_groups()) {
        auto* place = memory.slot_data(collected);
        for (const int member : hierarchy.group(leader)) {
          std::memcpy(place, memory.taken(member, offered), size_bytes);
          place += size_bytes;
        }
        memory.give(collected);
      }
      const auto term = [&](int of) {
        if (!hierarchy.has_groups()) return memory.taken(of, offered);
        return memory.taken(hierarchy.leader_of(of), collected) +
               hierarchy.ranks_before(of) * size_bytes;
      };
      shared::fold_terms(memory.size() - 1, to, term, combine);
      shared::give(memory, result, to);
    } else {
      std::memcpy(to.data(), memory.taken(leader, result), size_bytes);
    }
    memory.end(result);
  });
}

}  // namespace hierarchical
}  // namespace nhalf::coll
