// Control messages of simulated ranks about the measurement, which take no simulated time.
#pragma once

#include <deque>

#include "contract/transport.hpp"

namespace nhalf {
/// Broadcast from rank 0 and gathering to rank 0 beside the simulated network. All ranks belong to
/// one thread and run by turns, so nothing needs a lock; and most of them never have to wait: what
/// rank 0 said lies ready for those who come later, and so does for rank 0 what they gave.
///
/// A Waiting has ranks wait at a Place until something holds, and wakes all who wait at one.
template <class Waiting>
class Control {
 public:
  Control(Waiting waiting, std::size_t ranks)
      : waiting_(waiting), sent_counts_(ranks), received_counts_(ranks) {}

  /// Returns rank 0's data at every rank.
  void broadcast(int rank, Bytes data) {
    auto& turn = sent_counts_[static_cast<std::size_t>(rank)];
    if (rank == 0) {
      texts_.emplace_back(reinterpret_cast<const char*>(data.data()), data.size());
      forget();
      waiting_.wake(listeners_);
    } else {
      waiting_.until(listeners_, [&] { return turn - forgotten_ < texts_.size(); });
      const auto& text = texts_[turn - forgotten_];
      if (!data.empty()) std::memcpy(data.data(), text.data(), data.size());
    }
    ++turn;
  }

  /// Every rank's text at rank 0, empty elsewhere.
  std::vector<std::string> gather(int rank, std::string text) {
    auto& turn = received_counts_[static_cast<std::size_t>(rank)];
    while (turn - collected_ >= collections_.size())
      collections_.emplace_back(std::vector<std::string>(received_counts_.size()), 0);
    auto& [texts, count] = collections_[turn++ - collected_];
    texts[static_cast<std::size_t>(rank)] = std::move(text);
    if (++count == texts.size()) waiting_.wake(collector_);
    if (rank != 0) return {};
    waiting_.until(collector_,
                   [&] { return collections_.front().second == received_counts_.size(); });
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
  /// Drops what every rank has heard; looked at from time to time only.
  void forget() {
    if (texts_.size() < forget_from_) return;
    const std::size_t least = *std::ranges::min_element(sent_counts_);
    while (forgotten_ < least) {
      texts_.pop_front();
      ++forgotten_;
    }
    forget_from_ = 2 * texts_.size() + 64;
  }

  Waiting waiting_;
  /// Broadcasts of rank 0 that some rank has not received, and the number of earlier ones.
  std::deque<std::string> texts_;
  std::size_t forgotten_ = 0, forget_from_ = 64;
  /// Number of broadcasts that each rank has received, and of texts that it has contributed.
  std::vector<std::size_t> sent_counts_, received_counts_;
  /// Texts by rank, and their number, of gathers that rank 0 has not completed.
  std::deque<std::pair<std::vector<std::string>, std::size_t>> collections_;
  std::size_t collected_ = 0;
  typename Waiting::Place listeners_, collector_;
};
}  // namespace nhalf
