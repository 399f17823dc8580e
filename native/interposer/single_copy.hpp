// Operations in which ranks copy large data out of each other's memory, with the arguments that
// algorithms on messages have. A rank tells in its slot where its data lie; whoever has read them
// answers there, so that their owner may return. Where a copy fails, whatever the reason, data go
// through the slots as if nothing had been tried: nothing that they are made of is overwritten
// before all have answered.
#pragma once

#include <exception>

#include "interposer/peers.hpp"
#include "interposer/shared_reductions.hpp"

namespace nhalf::coll::single_copy {

/// An operation in which ranks copy. A rank that waits for them pauses as long as they may take
/// before it yields its core: who yields beside other programs waits for all their time slices.
/// Where ranks outnumber cores they yield at once. A rank that an error ends tells so, for what
/// others still copy may be overwritten.
class Copying {
 public:
  Copying(SharedMemory& memory, std::size_t copied_bytes) : memory_(memory) {
    if (pauses_ > 0) memory.waiting.pauses += static_cast<int>(copied_bytes / bytes_per_pause);
  }
  Copying(const Copying&) = delete;
  Copying& operator=(const Copying&) = delete;
  ~Copying() {
    memory_.waiting.pauses = pauses_;
    if (std::uncaught_exceptions() > exceptions_) memory_.withdraw();
  }

 private:
  static constexpr std::size_t bytes_per_pause = 64;

  SharedMemory& memory_;
  int pauses_ = memory_.waiting.pauses, exceptions_ = std::uncaught_exceptions();
};

// What ranks say to each other.

/// Tells where data lie, null if this rank has none to show, and that it has got `is_complete` what
/// it needed so far.
inline void tell(SharedMemory& memory, Number number, const void* data, bool is_complete = true) {
  const std::array<PeerAddress, 2> words{address_of(data),
                                         is_complete ? PeerAddress{1} : PeerAddress{0}};
  shared::give(memory, number, std::as_bytes(std::span(words)));
}

inline std::array<PeerAddress, 2> told(SharedMemory& memory, int from, Number number) {
  std::array<PeerAddress, 2> words;
  std::memcpy(words.data(), memory.taken(from, number), sizeof words);
  return words;
}

/// Copies what another rank tells of, from `offset` on; false if that fails.
inline bool take(Peers& peers, int from, Number number, std::size_t offset, Bytes to) {
  if (to.empty()) return true;
  const PeerAddress address = told(peers.memory(), from, number)[0];
  return address != 0 && peers.read(from, address + offset, to) &&
         !peers.memory().has_withdrawn(from);
}

/// Answers whether this rank has got all that it needed.
inline void answer(SharedMemory& memory, Number number, bool is_complete) {
  tell(memory, number, nullptr, is_complete);
}

/// Waits for the answers of all other ranks; returns whether they, and this one, have got all.
inline bool have_all(SharedMemory& memory, Number number, bool is_complete) {
  for (int rank = 0; rank < memory.size(); ++rank)
    if (rank != memory.rank() && told(memory, rank, number)[1] == 0) is_complete = false;
  return is_complete;
}

/// Returns bytes of scratch memory; none if there is no memory for them.
inline Bytes bytes_or_none(Scratch& scratch, std::size_t size_bytes) {
  try {
    return scratch.bytes(size_bytes);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

// Operations that move data.

/// Lets every rank `copy` what the root tells of. Ranks that cannot get it through slots, by
/// `through_slots` in `parts` steps; all others need not wait for these.
template <class Copy, class ThroughSlots>
void from_root(Peers& peers, int root, ConstBytes data, std::size_t parts, Copy copy,
               ThroughSlots through_slots) {
  SharedMemory& memory = peers.memory();
  const Copying copying(memory, data.size());
  const auto number = memory.begin();
  const auto answered = memory.begin();
  bool is_complete = true;
  if (memory.rank() == root) {
    tell(memory, number, data.data());
    is_complete = have_all(memory, answered, true);
  } else {
    is_complete = copy(number);
    answer(memory, answered, is_complete);
  }
  memory.end(answered);
  if (is_complete) return memory.skip(parts);
  through_slots();
}

inline void bcast(Peers& peers, int root, Bytes data) {
  from_root(
      peers, root, data, shared::parts_of(data.size(), Slot::size_bytes),
      [&](Number number) { return take(peers, root, number, 0, data); },
      [&] { shared::bcast(peers.memory(), root, data); });
}

inline void scatter(Peers& peers, int root, ConstBytes in, Bytes out) {
  SharedMemory& memory = peers.memory();
  const auto offset = static_cast<std::size_t>(memory.rank()) * out.size();
  if (memory.rank() == root) place(block_of(in, root, out.size()), out);
  from_root(
      peers, root, in, shared::parts_of(out.size(), shared::part_bytes(1, memory.size())),
      [&](Number number) { return take(peers, root, number, offset, out); },
      [&] { shared::scatter(memory, root, in, out); });
}

inline void gather(Peers& peers, int root, ConstBytes in, Bytes out) {
  SharedMemory& memory = peers.memory();
  const Copying copying(memory, in.size() * static_cast<std::size_t>(memory.size()));
  const auto number = memory.begin();
  const auto answered = memory.begin();
  bool is_complete = true;
  if (memory.rank() == root) {
    place(in, block_of(out, root, in.size()));
    for (int rank = 0; rank < memory.size() && is_complete; ++rank)
      if (rank != root) is_complete = take(peers, rank, number, 0, block_of(out, rank, in.size()));
    answer(memory, answered, is_complete);
  } else {
    tell(memory, number, in.data());
    is_complete = told(memory, root, answered)[1] != 0;
  }
  memory.end(answered);
  if (!is_complete) shared::gather(memory, root, in, out);
}

/// Copies the block of every other rank that begins at `offset` of what it tells of, from the next
/// rank on, so that not all read the same one at a time.
inline bool take_blocks(Peers& peers, Number number, std::size_t offset, Bytes out) {
  const int ranks = peers.memory().size();
  const auto block_bytes = out.size() / static_cast<std::size_t>(ranks);
  for (int i = 1; i < ranks; ++i) {
    const int rank = (peers.memory().rank() + i) % ranks;
    if (!take(peers, rank, number, offset, block_of(out, rank, block_bytes))) return false;
  }
  return true;
}

inline void allgather(Peers& peers, ConstBytes in, Bytes out) {
  SharedMemory& memory = peers.memory();
  const Copying copying(memory, out.size());
  place(in, block_of(out, memory.rank(), in.size()));
  const auto number = memory.begin();
  tell(memory, number, in.data());
  const bool is_complete = take_blocks(peers, number, 0, out);
  const auto answered = memory.begin();
  answer(memory, answered, is_complete);
  const bool are_complete = have_all(memory, answered, is_complete);
  memory.end_of_all(answered);
  if (!are_complete) shared::allgather(memory, in, out);
}

/// In place, other ranks read a copy of the blocks.
inline void alltoall(Peers& peers, Scratch& scratch, ConstBytes in, Bytes out) {
  SharedMemory& memory = peers.memory();
  const Copying copying(memory, in.size());
  const auto block_bytes = in.size() / static_cast<std::size_t>(memory.size());
  const auto offset = static_cast<std::size_t>(memory.rank()) * block_bytes;
  const bool is_in_place = in.data() == out.data();
  const Bytes copy = is_in_place ? bytes_or_none(scratch, in.size()) : Bytes();
  if (!copy.empty()) place(in, copy);
  const ConstBytes from = copy.empty() ? in : copy;
  const bool is_apart = from.data() != out.data();
  const auto number = memory.begin();
  tell(memory, number, is_apart ? from.data() : nullptr);
  place(block_of(from, memory.rank(), block_bytes), block_of(out, memory.rank(), block_bytes));
  const bool is_complete = is_apart && take_blocks(peers, number, offset, out);
  const auto answered = memory.begin();
  answer(memory, answered, is_complete);
  const bool are_complete = have_all(memory, answered, is_complete);
  memory.end_of_all(answered);
  if (!are_complete) shared::alltoall(memory, from, out);
}

// Reductions. Every rank combines a share, in pieces that stay in its cache.

inline constexpr std::size_t piece_bytes = 65536;

/// Combines the terms of all ranks in `to`, each `offset` bytes behind what its rank tells of, this
/// rank's in `own`. False if one cannot be copied.
template <class Combine>
bool fold(Peers& peers, Number number, std::size_t offset, ConstBytes own, Bytes to, Bytes piece,
          const Combine& combine) {
  const int rank = peers.memory().rank();
  const int last = peers.memory().size() - 1;
  for (std::size_t at = 0; at < to.size(); at += piece.size()) {
    const auto sum = to.subspan(at, std::min(piece.size(), to.size() - at));
    const auto term = piece.first(sum.size());
    const auto own_term = own.subspan(at, sum.size());
    if (last == rank) {
      place(own_term, sum);
    } else if (!take(peers, last, number, offset + at, sum)) {
      return false;
    }
    for (int peer = last - 1; peer >= 0; --peer) {
      if (peer != rank && !take(peers, peer, number, offset + at, term)) return false;
      combine(peer == rank ? own_term : ConstBytes(term), sum);
    }
  }
  return true;
}

/// Room for a share and a piece.
struct Room {
  Bytes share, piece;
  bool is_there = false;

  /// `out` is where the share belongs, unless other ranks still read there; empty if nowhere.
  template <class Combine>
  Room(Scratch& scratch, std::size_t share_bytes, Bytes out, const Combine& combine) {
    const auto element_bytes = combine.element_bytes();
    const auto all_bytes = piece_bytes / element_bytes * element_bytes;
    const auto kept_bytes = out.empty() ? share_bytes : 0;
    const Bytes bytes = bytes_or_none(scratch, all_bytes + kept_bytes);
    is_there = !bytes.empty();
    if (!is_there) return;
    piece = bytes.first(all_bytes);
    share = out.empty() ? bytes.subspan(all_bytes) : out;
  }
};

/// Combines the blocks of each rank there. In place, `out` is the first of this rank's blocks,
/// which rank 0 reads.
template <class Combine>
void reduce_scatter(Peers& peers, Scratch& scratch, ConstBytes in, Bytes out,
                    const Combine& combine) {
  SharedMemory& memory = peers.memory();
  const Copying copying(memory, in.size());
  const bool is_in_place = in.data() == out.data();
  const Room room(scratch, out.size(), is_in_place ? Bytes() : out, combine);
  const auto offset = static_cast<std::size_t>(memory.rank()) * out.size();
  const auto number = memory.begin();
  tell(memory, number, in.data());
  const bool is_complete =
      room.is_there &&
      fold(peers, number, offset, in.subspan(offset, out.size()), room.share, room.piece, combine);
  const auto answered = memory.begin();
  answer(memory, answered, is_complete);
  const bool are_complete = have_all(memory, answered, is_complete);
  memory.end_of_all(answered);
  if (!are_complete) return shared::reduce_scatter(memory, in, out, combine);
  place(room.share, out);
}

/// Where all ranks get a result.
inline constexpr int no_root = -1;

/// Copies the shares of all ranks to the root, or to all.
inline void join(Peers& peers, Number combined, int root, const Shares& shares, ConstBytes own,
                 Bytes out) {
  SharedMemory& memory = peers.memory();
  const bool takes = root == no_root || memory.rank() == root;
  bool is_complete = true;
  for (int i = 1; i < memory.size() && takes && is_complete; ++i) {
    const int rank = (memory.rank() + i) % memory.size();
    is_complete = take(peers, rank, combined, 0, shares.of(out, rank));
  }
  if (takes) place(own, shares.of(out, memory.rank()));
  const auto answered = memory.begin();
  if (takes) answer(memory, answered, is_complete);
  if (root == no_root) {
    is_complete = have_all(memory, answered, is_complete);
  } else if (!takes) {
    is_complete = told(memory, root, answered)[1] != 0;
  }
  memory.end(answered);
  if (!is_complete) shared::join(memory, shares, own, takes ? out : Bytes());
}

/// Reduces vectors for the root, or for all.
template <class Combine>
void reduce_to(Peers& peers, Scratch& scratch, int root, ConstBytes in, Bytes out,
               const Combine& combine) {
  SharedMemory& memory = peers.memory();
  const Copying copying(memory, 2 * in.size());
  const Shares shares(in.size(), combine.element_bytes(), memory.size());
  const bool is_apart = !out.empty() && in.data() != out.data();
  const auto rank = memory.rank();
  const Room room(scratch, shares.size_bytes(rank), is_apart ? shares.of(out, rank) : Bytes(),
                  combine);
  const auto number = memory.begin();
  tell(memory, number, in.data());
  const bool is_complete =
      room.is_there && fold(peers, number, shares.start_bytes(rank), shares.of(in, rank),
                            room.share, room.piece, combine);
  const auto combined = memory.begin();
  tell(memory, combined, room.share.data(), is_complete);
  const bool are_complete = have_all(memory, combined, is_complete);
  memory.end_of_all(combined);
  if (are_complete) return join(peers, combined, root, shares, room.share, out);
  if (root == no_root) return shared::allreduce(memory, in, out, combine);
  shared::reduce(memory, root, in, out, combine);
}

template <class Combine>
void allreduce(Peers& peers, Scratch& scratch, ConstBytes in, Bytes out, const Combine& combine) {
  reduce_to(peers, scratch, no_root, in, out, combine);
}

template <class Combine>
void reduce(Peers& peers, Scratch& scratch, int root, ConstBytes in, Bytes out,
            const Combine& combine) {
  reduce_to(peers, scratch, root, in, out, combine);
}

}  // namespace nhalf::coll::single_copy
