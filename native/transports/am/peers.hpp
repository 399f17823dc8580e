// The segments of a rank, and the imported segments of other ranks.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "host/segment.hpp"
#include "transports/am/layout.hpp"

namespace nhalf::am {

/// Addresses of the two segments of a rank.
struct Exported {
  Segment::Address command, payload;
};

/// The segments of one rank and those of other ranks. A segment of another rank is mapped at its
/// first use.
class Peers {
 public:
  /// Makes this rank's segments; throws std::bad_alloc where there is no memory for them. The pages
  /// of the payload region proper are set aside when it is used.
  Peers(const Layout& layout, int rank)
      : layout_(layout),
        rank_(rank),
        command_(Segment::create(layout.command_bytes())),
        payload_(Segment::create(layout.payload_bytes())),
        imported_(layout.ranks) {
    if (!command_.reserve(0, layout.command_bytes()) || !payload_.reserve(0, layout.region_at()))
      throw std::bad_alloc();
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] Exported exported() const { return {command_.address(), payload_.address()}; }
  /// Sets the addresses of all ranks' segments, by rank.
  void learn(std::vector<Exported> everyone) { everyone_ = std::move(everyone); }

  [[nodiscard]] std::byte* command() const { return command_.data(); }
  [[nodiscard]] std::byte* payload() const { return payload_.data(); }
  /// Sets pages of the payload region aside.
  [[nodiscard]] bool reserve(std::size_t size_bytes) const {
    return size_bytes == 0 || payload_.reserve(layout_.region_at(), size_bytes);
  }

  /// Another rank's segments, or this rank's own; throws std::runtime_error where they cannot be
  /// had.
  std::byte* command_of(int peer) {
    if (peer == rank_) return command();
    return mapped(of(peer).command, where(peer).command, layout_.command_bytes(), peer);
  }
  std::byte* payload_of(int peer) {
    if (peer == rank_) return payload();
    return mapped(of(peer).payload, where(peer).payload, layout_.payload_bytes(), peer);
  }
  /// Maps a segment anew for one transfer: `opened` where its file was opened before.
  Segment connect_payload(int peer, bool opened) {
    if (opened && peer != rank_) {
      payload_of(peer);
      return of(peer).payload.mapped_again();
    }
    return Segment::open(where(peer).payload, layout_.payload_bytes());
  }
  /// Undoes the import of a peer.
  void forget(int peer) { of(peer) = {}; }

 private:
  struct Imported {
    Segment command, payload;
  };

  Imported& of(int peer) { return imported_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] const Exported& where(int peer) const {
    return everyone_.at(static_cast<std::size_t>(peer));
  }
  static std::byte* mapped(Segment& segment, const Segment::Address& address,
                           std::size_t size_bytes, int peer) {
    if (!segment) segment = Segment::open(address, size_bytes);
    if (!segment)
      throw std::runtime_error("memory of rank " + std::to_string(peer) +
                               " cannot be mapped: active messages need all ranks on one host, of "
                               "one user");
    return segment.data();
  }

  Layout layout_;
  int rank_;
  Segment command_, payload_;
  std::vector<Exported> everyone_;
  std::vector<Imported> imported_;
};

}  // namespace nhalf::am
