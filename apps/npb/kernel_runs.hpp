// A kernel as a pattern: a round is a whole run, which is judged by the reference's values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "apps/npb/kernel.hpp"
#include "contract/pattern.hpp"
#include "contract/transport.hpp"
#include "timing/statistics.hpp"

namespace nhalf::npb {

/// Runs of a kernel of one class in one programming model.
template <Controlled T, class World>
class KernelRuns final : public Pattern {
 public:
  KernelRuns(T& control, World& world, std::unique_ptr<Kernel> kernel)
      : control_(control), world_(world), kernel_(std::move(kernel)) {}

  void prepare() override {
    kernel_->prepare();
    world_.reset_communication();
  }

  void run(std::uint64_t) override {
    const double began_s = control_.now_s();
    kernel_->run();
    own_s_ = control_.now_s() - began_s;
  }

  /// Whether the last run is right; of the worst of its checks both numbers are kept.
  bool verify() override {
    const double mine[] = {own_s_, world_.communication_s()};
    const auto times_s = collect(control_, mine);
    const auto checks = kernel_->checks();
    if (control_.rank() != 0) return true;
    shares_.push_back(communication_share(times_s));
    const auto badness = [](const Check& check) {
      return std::pair(!check.verified(), check.deviation());
    };
    worst_ = *std::ranges::max_element(checks, {}, badness);
    return std::ranges::all_of(checks, &Check::verified);
  }

  std::vector<Value> values() override {
    if (control_.rank() != 0) return {};
    std::vector<Value> values{{"computed", worst_.computed},
                              {"official", worst_.official},
                              {"deviation", worst_.deviation()}};
    const double share = median(shares_);
    if (!std::isnan(share)) values.push_back({"communication_share", share});
    return values;
  }

 private:
  /// The share of communication in the time of all ranks, each of which gives both.
  static double communication_share(const std::vector<double>& times_s) {
    double total_s = 0;
    double communication_s = 0;
    for (std::size_t place = 0; place < times_s.size(); place += 2) {
      total_s += times_s[place];
      communication_s += times_s[place + 1];
    }
    return communication_s / total_s;
  }

  T& control_;
  World& world_;
  std::unique_ptr<Kernel> kernel_;
  double own_s_ = 0;
  Check worst_;
  std::vector<double> shares_;
};

}  // namespace nhalf::npb
