// Reductions through shared memory, with the arguments that algorithms on messages have. Terms are
// combined from the last rank down to the first, where `combine(from, to)` sets `to` to `from`
// combined with `to`: every rank gets the same bits, and operations need not commute. Short vectors
// every rank combines whole; of longer ones it combines its share and publishes that.
#pragma once

#include "interposer/shared_operations.hpp"
#include "interposer/shares.hpp"

namespace nhalf::coll::shared {

/// Combines the terms of ranks 0 to `last` in `to`, where `term(rank)` is the address of one.
template <class Term, class Combine>
void fold_terms(int last, Bytes to, Term term, const Combine& combine) {
  std::memcpy(to.data(), term(last), to.size());
  for (int rank = last - 1; rank >= 0; --rank) combine(ConstBytes(term(rank), to.size()), to);
}

/// Combines the terms of ranks 0 to `last` in `to`, each at `offset` of its rank's slot. This
/// rank's term is read from `own`, unless that is empty or overlaps the result.
template <class Combine>
void fold(SharedMemory& memory, Number number, int last, std::size_t offset, ConstBytes own,
          Bytes to, const Combine& combine) {
  const bool is_apart = !own.empty() && own.data() != to.data();
  const auto term = [&](int rank) {
    if (is_apart && rank == memory.rank()) return own.data();
    return memory.taken(rank, number) + offset;
  };
  fold_terms(last, to, term, combine);
}

/// Whether each rank combines a share only. Vectors of one slot then take two steps instead of one,
/// and two ranks read as many bytes in either way.
constexpr bool is_cut(std::size_t vector_bytes, int ranks) {
  return ranks > 2 && vector_bytes > Slot::size_bytes;
}

/// Copies the part at `at` of every rank's share, of at most `part` bytes, to its place.
inline void take_shares(SharedMemory& memory, Number number, const Shares& shares, std::size_t at,
                        std::size_t part, Bytes out) {
  for (int i = 0; i < memory.size(); ++i) {
    const auto to = shares.part_of(out, i, at, part);
    if (!to.empty()) copy_out(memory, memory.taken(i, number), to);
  }
}

/// Completes a vector of which every rank has its share. `out` is empty on ranks that do not get
/// it.
inline void join(SharedMemory& memory, const Shares& shares, ConstBytes own, Bytes out) {
  constexpr auto part = Slot::size_bytes;
  for_parts(shares.largest_bytes(), part, [&](std::size_t at, std::size_t) {
    const auto number = memory.begin();
    const auto start = std::min(at, own.size());
    give(memory, number, own.subspan(start, std::min(part, own.size() - start)));
    if (!out.empty()) take_shares(memory, number, shares, at, part, out);
    memory.end(number);
  });
}

/// Combines all ranks' terms of a piece at `at` of a window, of which slot `first` and those behind
/// hold `part` bytes each.
template <class Combine>
void fold_window(SharedMemory& memory, Number first, std::size_t part, std::size_t at,
                 ConstBytes own, Bytes to, const Combine& combine) {
  for (std::size_t from = 0; from < to.size();) {
    const auto offset = (at + from) % part;
    const auto size_bytes = std::min(part - offset, to.size() - from);
    fold(memory, first + (at + from) / part, memory.size() - 1, offset,
         own.subspan(at + from, size_bytes), to.subspan(from, size_bytes), combine);
    from += size_bytes;
  }
}

/// Reduces a window of at most half of the slots: every rank publishes it, combines its share, and
/// publishes that. `out` is empty on ranks that get no result.
template <class Combine>
void reduce_window(SharedMemory& memory, ConstBytes in, Bytes out, std::size_t part,
                   const Combine& combine) {
  const Shares shares(in.size(), combine.element_bytes(), memory.size());
  const auto slots = parts_of(in.size(), part);
  memory.make_room(slots + parts_of(shares.largest_bytes(), part));
  Number last = 0;
  for_parts(in.size(), part, [&](std::size_t at, std::size_t size_bytes) {
    last = memory.begin();
    give(memory, last, in.subspan(at, size_bytes));
  });
  const Number first = last + 1 - slots;
  Number piece = last;
  for_parts(shares.largest_bytes(), part, [&](std::size_t at, std::size_t) {
    piece = memory.begin();
    const auto own = shares.part_of(in, memory.rank(), at, part);
    fold_window(memory, first, part, static_cast<std::size_t>(own.data() - in.data()), in,
                {memory.slot_data(piece), own.size()}, combine);
    memory.give(piece);
  });
  memory.end(last);
  if (out.empty()) return memory.end(piece);
  for_parts(shares.largest_bytes(), part, [&](std::size_t at, std::size_t) {
    take_shares(memory, last + 1 + at / part, shares, at, part, out);
  });
  // Who has published its share has read the window.
  memory.end(piece, last);
}

template <class Combine>
void reduce_in_shares(SharedMemory& memory, ConstBytes in, Bytes out, const Combine& combine) {
  const auto part = part_bytes(combine.element_bytes(), 1);
  for_parts(in.size(), part * (Lines::slots_count / 2), [&](std::size_t at, std::size_t size) {
    reduce_window(memory, in.subspan(at, size), out.empty() ? out : out.subspan(at, size), part,
                  combine);
  });
}

template <class Combine>
void reduce(SharedMemory& memory, int root, ConstBytes in, Bytes out, const Combine& combine) {
  if (is_cut(in.size(), memory.size()))
    return reduce_in_shares(memory, in, memory.rank() == root ? out : Bytes(), combine);
  const auto part = part_bytes(combine.element_bytes(), 1);
  for_parts(in.size(), part, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    const auto own = in.subspan(at, size_bytes);
    // No other rank needs the root's own term.
    if (memory.rank() != root || in.data() == out.data()) give(memory, number, own);
    if (memory.rank() == root)
      fold(memory, number, memory.size() - 1, 0, own, out.subspan(at, size_bytes), combine);
    memory.end(number);
  });
}

template <class Combine>
void allreduce(SharedMemory& memory, ConstBytes in, Bytes out, const Combine& combine) {
  if (is_cut(in.size(), memory.size())) return reduce_in_shares(memory, in, out, combine);
  const auto part = part_bytes(combine.element_bytes(), 1);
  for_parts(in.size(), part, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    const auto own = in.subspan(at, size_bytes);
    give(memory, number, own);
    fold(memory, number, memory.size() - 1, 0, own, out.subspan(at, size_bytes), combine);
    memory.end_of_all(number);
  });
}

template <class Combine>
void scan(SharedMemory& memory, ConstBytes in, Bytes out, const Combine& combine) {
  const auto part = part_bytes(combine.element_bytes(), 1);
  for_parts(in.size(), part, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    const auto own = in.subspan(at, size_bytes);
    give(memory, number, own);
    fold(memory, number, memory.rank(), 0, own, out.subspan(at, size_bytes), combine);
    memory.end(number);
  });
}

template <class Combine>
void reduce_scatter(SharedMemory& memory, ConstBytes in, Bytes out, const Combine& combine) {
  const auto part = part_bytes(combine.element_bytes(), memory.size());
  const auto rank = static_cast<std::size_t>(memory.rank());
  // In place the first block of `in` is `out`, and is overwritten part by part as it is given.
  for_parts(out.size(), part, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    give_blocks(memory, number, in, at, size_bytes, true);
    fold(memory, number, memory.size() - 1, rank * size_bytes, {}, out.subspan(at, size_bytes),
         combine);
    memory.end_of_all(number);
  });
}

}  // namespace nhalf::coll::shared
