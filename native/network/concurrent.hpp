// What messages share that begin at once, and what each moves that flows on and on: the questions
// of src/nhalf/machines/network.py. Of a number that was published as a range there are many draws.
#pragma once

#include "network/max_min.hpp"
#include "network/routes.hpp"

namespace nhalf::network {
/// Messages between ranks of a machine. Of arrays with two dimensions the last one runs fastest.
struct Question {
  /// The lines of routes.hpp, whose rates only say whether there is such a thing.
  const char* machine = nullptr;
  std::int64_t ranks = 0;
  std::int64_t messages = 0;
  std::int64_t draws = 0;
  /// Whether messages spread over all cables that lead to the same place.
  std::int64_t is_spread = 0;
  /// The node of every rank, and both ranks of every message.
  const std::int32_t* nodes = nullptr;
  const std::int32_t* from = nullptr;
  const std::int32_t* to = nullptr;
  /// Bytes per second by draws and kinds (Routes::kind), and what of it links get through to which
  /// several messages come, by draws.
  const double* capacity_Bps = nullptr;
  const double* blocked = nullptr;
  /// What a message moves alone, by draws and messages, and how much of that a rank moves both ways
  /// at once, by draws.
  const double* alone_Bps = nullptr;
  const double* both_ways = nullptr;
  double* answer = nullptr;
};

class Concurrent {
 public:
  explicit Concurrent(const Question& question)
      : question_(question), messages_(static_cast<std::size_t>(question.messages)) {}

  /// Reads the machine, and finds what each message passes; whether the description is one.
  bool read() {
    std::string_view text(question_.machine);
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      DescriptionLine line(text.substr(0, end));
      const auto name = line.word();
      if (!routes_.take(name, line)) return false;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    routes_.place({question_.nodes, question_.nodes + question_.ranks}, true);
    if (routes_.count() > ~Link{0}) return false;
    for (std::size_t at = 0; at < messages_; ++at)
      ways_.push_back(routes_.between(question_.from[at], question_.to[at]));
    number();
    return true;
  }

  /// Answers, by draws, how long a byte of every message keeps the busiest of all that they pass.
  void load() const {
    std::vector<std::uint64_t> most(routes_.kinds());
    for (std::size_t at = 0; at < links_.size(); ++at) {
      auto& of_kind = most[routes_.kind(links_[at])];
      of_kind = std::max(of_kind, messages_on(at));
    }
    for (std::size_t draw = 0; draw < draws(); ++draw) {
      auto& longest_s = question_.answer[draw] = 0;
      for (std::size_t kind = 0; kind < most.size(); ++kind)
        longest_s = std::max(
            longest_s, static_cast<double>(most[kind]) / capacity_Bps(kind, most[kind], draw));
    }
  }

  /// Answers, by draws and messages, what each moves beside the others. One way a rank moves what
  /// the fastest of its messages does alone.
  void flow() {
    pass_ranks();
    for (std::size_t draw = 0; draw < draws(); ++draw) share(draw);
  }

 private:
  /// What a rank sends, what it receives and, where it does both, all that passes it.
  enum Pass : Link { out, in, both, passes };

  [[nodiscard]] std::size_t draws() const { return static_cast<std::size_t>(question_.draws); }
  [[nodiscard]] Alike alike(Link link) const {
    return question_.is_spread != 0 ? routes_.alike(link) : Alike{link, 1};
  }
  /// Numbers what is passed anew: a network may have far more links.
  void number() {
    for (auto& way : ways_)
      for (auto& link : way) links_.push_back(link = alike(link).first);
    std::sort(links_.begin(), links_.end());
    links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
    passing_.assign(links_.size(), 0);
    for (auto& way : ways_)
      for (auto& link : way) {
        const auto place = std::lower_bound(links_.begin(), links_.end(), link);
        ++passing_[link = static_cast<Link>(place - links_.begin())];
      }
  }
  [[nodiscard]] std::uint64_t messages_on(std::size_t link) const {
    const auto cables = alike(links_[link]).count;
    return (passing_[link] + cables - 1) / cables;
  }
  [[nodiscard]] double capacity_Bps(std::size_t kind, std::uint64_t messages,
                                    std::size_t draw) const {
    const auto rate_Bps = question_.capacity_Bps[draw * routes_.kinds() + kind];
    return kind == 0 && messages > 1 ? rate_Bps * question_.blocked[draw] : rate_Bps;
  }
  [[nodiscard]] Link rank(int number) const {
    return static_cast<Link>(links_.size()) + passes * static_cast<Link>(number);
  }

  void pass_ranks() {
    const auto ranks = static_cast<std::size_t>(question_.ranks);
    std::vector<bool> sends(ranks), receives(ranks);
    for (std::size_t at = 0; at < messages_; ++at)
      sends[question_.from[at]] = receives[question_.to[at]] = true;
    for (std::size_t at = 0; at < messages_; ++at) {
      const int from = question_.from[at];
      const int to = question_.to[at];
      ways_[at].insert(ways_[at].end(), {rank(from) + out, rank(to) + in});
      if (receives[from]) ways_[at].push_back(rank(from) + both);
      if (sends[to]) ways_[at].push_back(rank(to) + both);
    }
  }
  /// Returns bytes per second of all that messages pass.
  [[nodiscard]] std::vector<double> capacities_Bps(std::size_t draw,
                                                   const double* alone_Bps) const {
    std::vector<double> rates_Bps(rank(static_cast<int>(question_.ranks)));
    for (std::size_t at = 0; at < links_.size(); ++at)
      rates_Bps[at] = capacity_Bps(routes_.kind(links_[at]), messages_on(at), draw);
    for (std::size_t at = 0; at < messages_; ++at)
      for (const auto link : {rank(question_.from[at]) + out, rank(question_.to[at]) + in})
        rates_Bps[link] = std::max(rates_Bps[link], alone_Bps[at]);
    // Half of the time each way at a ratio of 1, so a mean of both rates.
    for (Link link = rank(0); link < rates_Bps.size(); link += passes)
      rates_Bps[link + both] =
          question_.both_ways[draw] * (rates_Bps[link + out] + rates_Bps[link + in]) / 2;
    return rates_Bps;
  }
  void share(std::size_t draw) {
    const auto* alone_Bps = question_.alone_Bps + draw * messages_;
    max_min_.share(ways_, alone_Bps, capacities_Bps(draw, alone_Bps),
                   question_.answer + draw * messages_);
  }

  const Question& question_;
  std::size_t messages_;
  Routes routes_;
  /// What messages pass, by numbers in Routes, how many pass each, and the way of each message in
  /// places of these. Of links side by side the first stands for all.
  std::vector<Link> links_;
  std::vector<std::uint64_t> passing_;
  std::vector<Way> ways_;
  RealMaxMin max_min_;
};
}  // namespace nhalf::network
