// Operations through shared memory in groups of ranks that share a last-level cache: each group has
// a leader, and only leaders read what another group has written. Results have the same bits as
// without groups: terms are combined in the order of ranks.
#pragma once

#include <map>

#include "host/core_caches.hpp"
#include "interposer/shared_reductions.hpp"

namespace nhalf::coll {

/// The groups of the ranks of a node.
class Hierarchy {
 public:
  /// `caches` has a number for the cache of each rank; ranks of one number, or all where one is 0,
  /// are a group, whose leader is the first of them.
  explicit Hierarchy(std::span<const std::uint64_t> caches) {
    const bool are_known = std::ranges::find(caches, 0) == caches.end();
    std::map<std::uint64_t, int> leader_by_cache;
    groups_.resize(caches.size());
    for (std::size_t i = 0; i < caches.size(); ++i) {
      const int rank = static_cast<int>(i);
      const auto [place, is_first] = leader_by_cache.emplace(are_known ? caches[i] : 0, rank);
      const int leader = place->second;
      if (is_first) leaders_.push_back(leader);
      auto& group = groups_[static_cast<std::size_t>(leader)];
      places_.push_back({leader, static_cast<int>(group.size())});
      group.push_back(rank);
      largest_ = std::max(largest_, static_cast<int>(group.size()));
    }
  }

  [[nodiscard]] int leader_of(int rank) const { return place_of(rank).leader; }
  /// Returns which of its group a rank is.
  [[nodiscard]] int place_in_group(int rank) const { return place_of(rank).number; }
  [[nodiscard]] std::span<const int> leaders() const { return leaders_; }
  /// Returns the ranks of a leader's group, the leader first.
  [[nodiscard]] std::span<const int> group(int leader) const {
    return groups_[static_cast<std::size_t>(leader)];
  }
  [[nodiscard]] bool has_groups() const { return leaders_.size() > 1; }
  /// Whether some leader has others to speak for.
  [[nodiscard]] bool has_members() const { return largest_ > 1; }
  /// Returns the bytes of a vector that go at once, 0 if an element is too large: the terms of a
  /// group fit into a slot.
  [[nodiscard]] std::size_t part_bytes(std::size_t element_bytes) const {
    return shared::part_bytes(element_bytes, has_groups() ? largest_ : 1);
  }

 private:
  struct Place {
    int leader, number;
  };
  [[nodiscard]] const Place& place_of(int rank) const {
    return places_[static_cast<std::size_t>(rank)];
  }

  std::vector<Place> places_;
  std::vector<int> leaders_;
  std::vector<std::vector<int>> groups_;
  int largest_ = 0;
};

/// The caches near a rank, as all ranks of a node know them.
struct CommonCaches {
  Hierarchy hierarchy;
  /// The smallest cache below the last level; 0 if one is unknown.
  std::uint64_t inner_bytes;

  /// Collective. Throws Failed.
  static CommonCaches of(SharedMemory& memory, const CoreCaches& own) {
    std::vector<CoreCaches> all(static_cast<std::size_t>(memory.size()));
    shared::allgather(memory, std::as_bytes(std::span(&own, 1)),
                      std::as_writable_bytes(std::span(all)));
    std::vector<std::uint64_t> last_levels;
    std::uint64_t least_bytes = own.inner_bytes;
    for (const auto& caches : all) {
      last_levels.push_back(caches.last_level);
      least_bytes = std::min(least_bytes, caches.inner_bytes);
    }
    return {Hierarchy(last_levels), least_bytes};
  }
};

namespace hierarchical {

/// Two flags one after the other within a group, and one among leaders between them.
inline void barrier(SharedMemory& memory, const Hierarchy& hierarchy) {
  const auto number = memory.begin();
  const int rank = memory.rank();
  const int leader = hierarchy.leader_of(rank);
  const auto await_all = [&](std::span<const int> ranks, Level level) {
    for (const int other : ranks)
      if (other != rank) memory.await(other, level, number);
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
    const auto given = memory.begin();
    const auto passed = memory.begin();
    if (rank == root) {
      shared::give(memory, given, part);
    } else if (is_near || rank == leader) {
      std::memcpy(part.data(), memory.taken(root, given), size_bytes);
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
    const auto given = memory.begin();
    const auto collected = memory.begin();
    const auto result = memory.begin();
    const auto to = out.subspan(at, size_bytes);
    shared::give(memory, given, in.subspan(at, size_bytes));
    if (rank == leader) {
      if (hierarchy.has_groups()) {
        auto* place = memory.slot_data(collected);
        for (const int member : hierarchy.group(leader)) {
          std::memcpy(place, memory.taken(member, given), size_bytes);
          place += size_bytes;
        }
        memory.give(collected);
      }
      const auto term = [&](int of) {
        if (!hierarchy.has_groups()) return memory.taken(of, given);
        return memory.taken(hierarchy.leader_of(of), collected) +
               static_cast<std::size_t>(hierarchy.place_in_group(of)) * size_bytes;
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
