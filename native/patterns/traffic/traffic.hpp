// Traffic by random schedules: sent when it arrives, or as soon as the rank comes to it.
#pragma once

#include "patterns/bases/traffic/destinations.hpp"
#include "patterns/bases/traffic/traffic_schedule.hpp"
#include "timing/statistics.hpp"

namespace nhalf {
/// One round is the whole schedule of every rank. A message is sent when it arrives, or as soon as
/// the rank comes to it: the load does not wait for the machine. A rank that is done before the
/// schedule's time is over waits for its end, so that no more is accepted than was offered.
template <NonBlocking T>
class ScheduledTraffic : public Pattern {
 public:
  /// Less than what any transport holds between two ranks.
  static constexpr std::size_t window = 4;
  static constexpr std::size_t messages_most = 128;
  static constexpr std::size_t messages_least = 16;
  /// A rank's schedule is about so many bytes, where that is not too few messages.
  static constexpr std::size_t schedule_bytes = 4 << 20;
  static constexpr std::size_t rounds_kept = 1024;

  ScheduledTraffic(T& transport, const Case& point)
      : transport_(transport), load_percent_(load_of(point)) {
    const Destinations destinations(transport.size(), point);
    const auto laws = laws_of(point);
    taking_part_ = destinations.taking_part();
    std::vector<std::vector<ScheduledMessage>> schedules;
    for (int rank = 0; rank < transport.size(); ++rank) {
      schedules.push_back(schedule(laws, rank, destinations.of(rank)));
      senders_ += schedules.back().empty() ? 0 : 1;
      messages_ += schedules.back().size();
      for (const auto& message : schedules.back()) {
        total_bytes_ += message.size_bytes;
        if (!destinations.same_host(rank, message.to)) continue;
        on_node_bytes_ += message.size_bytes;
        ++on_node_messages_;
      }
    }
    if (senders_ == 0) throw InputError("with so few ranks nobody has anybody to send to");
    steps_ = steps_of(transport.rank(), schedules, window);
    make_buffers();
  }

  void run(std::uint64_t rounds) override {
    constexpr auto nothing = [](const ScheduledStep&, Bytes) {};
    for (auto i = rounds; i > 0; --i) round(nothing, nothing);
  }

  bool verify() override {
    bool right = true;
    round([](const ScheduledStep& step, Bytes data) { fill(data, step.seed); },
          [&](const ScheduledStep& step, Bytes data) { right = right && holds(data, step.seed); });
    return right;
  }
  /// Learns how long the schedule takes without its pauses.
  void prepare() override {
    saturated_s_ = without_pauses_s();
    round_s_ = load_percent_ > 0 ? saturated_s_ * 100 / load_percent_ : 0;
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return total_bytes_; }

  std::vector<Value> values() override {
    const auto bytes = static_cast<double>(total_bytes_);
    std::vector<Value> columns{{"messages", static_cast<double>(messages_)},
                               {"senders", static_cast<double>(senders_)},
                               {"ranks_taking_part", static_cast<double>(taking_part_)},
                               {"on_node_share", on_node_share()}};
    if (saturated_s_ > 0) columns.push_back({"saturated_Bps", bytes / saturated_s_});
    if (round_s_ > 0) {
      columns.push_back({"offered_Bps", bytes / round_s_});
      columns.push_back({"delay_s", over_senders(delays_s_)});
      columns.push_back({"last_delay_s", over_senders(last_delays_s_)});
    }
    return columns;
  }

 private:
  static double load_of(const Case& point) {
    const double load = point.axes.number("load", 0.0);
    if (load != 0 && (load < 1 || load > 1000))
      throw InputError("axis load is a percentage from 1 to 1000; 0: without pauses");
    return load;
  }

  static TrafficLaws laws_of(const Case& point) {
    const auto fitting = schedule_bytes / std::max<std::size_t>(point.size_bytes, 1);
    return {.messages = std::clamp(fitting, messages_least, messages_most),
            .size_bytes = point.size_bytes,
            .size = static_cast<Law>(point.choice("size_law", law_names)),
            .gap = static_cast<Law>(point.choice("gap_law", law_names)),
            .seed = point.axes.number("seed", std::uint64_t{1})};
  }

  /// The share of bytes, or of messages if those are empty, that stays on the sender's host.
  [[nodiscard]] double on_node_share() const {
    if (total_bytes_ > 0)
      return static_cast<double>(on_node_bytes_) / static_cast<double>(total_bytes_);
    return static_cast<double>(on_node_messages_) / static_cast<double>(messages_);
  }

  /// One buffer for what comes in, and a window of them for what is on its way out.
  void make_buffers() {
    std::size_t in_bytes = 0;
    std::size_t out_bytes = 0;
    for (const auto& step : steps_) {
      auto& largest = step.sends ? out_bytes : in_bytes;
      largest = std::max(largest, step.size_bytes);
    }
    if constexpr (requires { T::check_size(in_bytes); }) {
      T::check_size(in_bytes);
      T::check_size(out_bytes);
    }
    in_ = std::make_unique<Buffer>(in_bytes);
    for (auto& out : out_) out = std::make_unique<Buffer>(out_bytes);
  }

  /// The whole schedule once; `prepare` sees each message before it leaves, `check` when it is
  /// here.
  template <class Prepare, class Check>
  void round(Prepare prepare, Check check) {
    const double began_s = round_s_ > 0 ? transport_.now_s() : 0;
    std::size_t sent = 0;
    double delays_s = 0;
    double last_delay_s = 0;
    for (const auto& step : steps_) {
      if (!step.sends) {
        const auto data = in_->bytes().first(step.size_bytes);
        transport_.recv(step.peer, data);
        check(step, data);
        continue;
      }
      const auto slot = sent++ % window;
      if (sent > window) transport_.wait(on_the_way_[slot]);
      const auto data = out_[slot]->bytes().first(step.size_bytes);
      prepare(step, data);
      if (round_s_ > 0) {
        const double arrival_s = began_s + step.time_share * round_s_;
        last_delay_s = idle_until(transport_, arrival_s) - arrival_s;
        delays_s += last_delay_s;
      }
      on_the_way_[slot] = transport_.isend(step.peer, data);
    }
    for (std::size_t i = 0; i < std::min(sent, window); ++i) transport_.wait(on_the_way_[i]);
    if (round_s_ <= 0) return;
    idle_until(transport_, began_s + round_s_);
    const auto place = paced_rounds_++ % rounds_kept;
    delays_s_[place] = sent > 0 ? delays_s / static_cast<double>(sent) : 0;
    last_delays_s_[place] = last_delay_s;
  }

  /// The mean over all ranks that send of each one's median over rounds; known at rank 0.
  double over_senders(std::span<double> rounds_s) {
    const auto count = std::min(paced_rounds_, rounds_kept);
    const double mine_s = count > 0 ? median(rounds_s.first(count)) : 0;
    double sum_s = 0;
    for (const double one_s : collect(transport_, std::span(&mine_s, 1))) sum_s += one_s;
    return sum_s / senders_;
  }

  /// Time of one round at the slowest rank where nobody waits for arrivals, the same at every rank:
  /// the median of some trials, of fewer where they take long.
  double without_pauses_s() {
    constexpr std::size_t trials_most = 5;
    constexpr double enough_s = 0.5;
    std::array<double, trials_most> times_s{};
    std::size_t trials = 0;
    for (double spent_s = 0; trials < trials_most && spent_s < enough_s; ++trials) {
      transport_.barrier();
      run(1);
      const double began_s = transport_.now_s();
      run(1);
      times_s[trials] = longest_everywhere(transport_, transport_.now_s() - began_s);
      spent_s += times_s[trials];
    }
    return median(std::span(times_s).first(trials));
  }

  T& transport_;
  double load_percent_;
  int taking_part_ = 0;
  int senders_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t total_bytes_ = 0;
  /// What of the traffic stays on the host of its sender.
  std::uint64_t on_node_bytes_ = 0;
  std::uint64_t on_node_messages_ = 0;
  std::vector<ScheduledStep> steps_;
  std::unique_ptr<Buffer> in_;
  std::array<std::unique_ptr<Buffer>, window> out_;
  std::array<typename T::Request, window> on_the_way_{};
  double saturated_s_ = 0;
  /// Time in which all messages of a round arrive; 0: without pauses.
  double round_s_ = 0;
  /// How late messages of the latest rounds went out, on average, and how late the last one.
  std::vector<double> delays_s_ = std::vector<double>(rounds_kept);
  std::vector<double> last_delays_s_ = std::vector<double>(rounds_kept);
  std::size_t paced_rounds_ = 0;
};

inline constexpr AxisInfo traffic_axes[] = {
    {"to", "uniform,complement,neighbour", "",
     "uniform: any other rank; else the rank that a permutation gives: bit-reversal, butterfly, "
     "complement, transpose, shuffle, neighbour, cube, baseline"},
    {"distance", "highest", "highest",
     "butterfly, cube, baseline: stage i by the value of its bit, 2^i; highest; all: every stage, "
     "one after the other"},
    {"load", "10,25,50,75,100,150", "",
     "percent of what goes through without pauses; 0: no pauses"},
    {"size_law", "exponential", "exponential", "of sizes around their mean; uniform, fixed"},
    {"gap_law", "exponential", "exponential", "of times between arrivals; uniform, fixed"},
    {"seed", "1", "1", "of the random schedules"},
    {"scope", "all", "all", "on-node, off-node: only to ranks of the same host, of other hosts"}};

inline constexpr PatternInfo traffic_info{
    .name = "traffic",
    .what = "all ranks send by a random schedule: how much of an offered load is accepted",
    .needs = "non-blocking",
    .timing = Timing::slowest_rank,
    .axes = traffic_axes};
NHALF_PATTERN(traffic_info, ScheduledTraffic);
}  // namespace nhalf
