// SPDX-License-Identifier: Apache-2.0
// What ranks of a simulated machine tell each other about the measurement: it costs them no time.
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

#include "contract/transport.hpp"

namespace nhalf::simulator {

/// Barrier, broadcast from rank 0 and gathering to rank 0 beside the simulated network. All ranks
/// are actors of one thread that run by turns, so nothing needs a lock; who has to wait is
/// suspended, and most of them need not: what rank 0 said lies ready for those who come later.
class Control {
 public:
  /// The one of this simulation of so many ranks.
  static Control& of(int ranks) {
    static Control only(ranks);
    return only;
  }

  void barrier() { barrier_->wait(); }

  /// What rank 0 gives, at every rank.
  void broadcast(int rank, Bytes data) {
    auto& turn = told_[static_cast<std::size_t>(rank)];
    if (rank == 0) {
      said_.emplace_back(reinterpret_cast<const char*>(data.data()), data.size());
      forget();
      wake(listeners_);
    } else {
      while (turn - forgotten_ >= said_.size()) wait(listeners_);
      const auto& text = said_[turn - forgotten_];
      if (!data.empty()) std::memcpy(data.data(), text.data(), data.size());
    }
    ++turn;
  }

  /// Every rank's text at rank 0, empty elsewhere.
  std::vector<std::string> gather(int rank, std::string text) {
    auto& turn = given_[static_cast<std::size_t>(rank)];
    while (turn - collected_ >= collections_.size())
      collections_.emplace_back(std::vector<std::string>(given_.size()), 0);
    auto& [texts, count] = collections_[turn++ - collected_];
    texts[static_cast<std::size_t>(rank)] = std::move(text);
    if (++count == texts.size()) wake(collector_);
    if (rank != 0) return {};
    while (collections_.front().second < given_.size()) wait(collector_);
    auto all = std::move(collections_.front().first);
    collections_.pop_front();
    ++collected_;
    return all;
  }

  /// Whether it is true at all ranks.
  bool all(int rank, bool mine) {
    char verdict = 1;
    for (const auto& text : gather(rank, mine ? "" : "no"))
      if (!text.empty()) verdict = 0;
    broadcast(rank, std::as_writable_bytes(std::span(&verdict, 1)));
    return verdict != 0;
  }

 private:
  using Actors = std::vector<simgrid::s4u::ActorPtr>;

  explicit Control(int ranks)
      : barrier_(simgrid::s4u::Barrier::create(static_cast<unsigned>(ranks))),
        told_(static_cast<std::size_t>(ranks)),
        given_(static_cast<std::size_t>(ranks)) {}

  static void wait(Actors& place) {
    place.emplace_back(simgrid::s4u::Actor::self());
    simgrid::s4u::this_actor::suspend();
  }
  static void wake(Actors& place) {
    for (const auto& actor : std::exchange(place, {})) actor->resume();
  }

  /// Drops what every rank has heard; looked at from time to time only.
  void forget() {
    if (said_.size() < forget_from_) return;
    std::size_t least = told_[0];
    for (std::size_t rank = 1; rank < told_.size(); ++rank) least = std::min(least, told_[rank]);
    while (forgotten_ < least) {
      said_.pop_front();
      ++forgotten_;
    }
    forget_from_ = 2 * said_.size() + 64;
  }

  simgrid::s4u::BarrierPtr barrier_;
  /// What rank 0 said and not everybody has heard, and how many sayings went before.
  std::deque<std::string> said_;
  std::size_t forgotten_ = 0, forget_from_ = 64;
  /// How many sayings each rank has heard, and how many texts it has given.
  std::vector<std::size_t> told_, given_;
  /// Texts by rank, and how many of them are there, of collections that rank 0 has not taken.
  std::deque<std::pair<std::vector<std::string>, std::size_t>> collections_;
  std::size_t collected_ = 0;
  Actors listeners_, collector_;
};

}  // namespace nhalf::simulator
