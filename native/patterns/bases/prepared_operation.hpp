// SPDX-License-Identifier: Apache-2.0
// Collective operations that are set up once and then started again and again.
#pragma once

#include <optional>
#include <vector>

#include "contract/persistent_collectives.hpp"
#include "patterns/bases/overlapped.hpp"

namespace nhalf {

inline constexpr auto persistent_axes = joined(lasting_axes, work_axes);
inline constexpr auto in_place_persistent_axes = joined(lasting_axes, place_axis, work_axes);

/// The persistent form of the operation Blocking: the same buffers, data and checks, and work
/// between start and wait as non-blocking operations have it.
///
/// It is set up once for each root, when that is first asked for. What this took at rank 0, the
/// last time, is a value beside the samples, `prepare_s`.
template <PersistentCollectives T, class Blocking>
class PreparedOperation : public Overlapped<T, Blocking> {
 public:
  PreparedOperation(T& transport, const Case& point)
      : Overlapped<T, Blocking>(transport, point),
        by_root_(static_cast<std::size_t>(transport.size())) {}
  ~PreparedOperation() override {
    for (auto& request : by_root_)
      if (request) this->transport_.release(*request);
  }

  void root_at(int root) override {
    Overlapped<T, Blocking>::root_at(root);
    set_up();
  }
  bool verify() override {
    set_up();
    return Overlapped<T, Blocking>::verify();
  }
  void prepare() override {
    set_up();
    Overlapped<T, Blocking>::prepare();
  }

  void run(std::uint64_t rounds) override {
    auto& request = *of_this_root();
    this->overlap(rounds, [this, &request] {
      this->transport_.start(request);
      return request;
    });
  }

  std::vector<Value> values() override {
    auto found = Overlapped<T, Blocking>::values();
    found.push_back({"prepare_s", prepare_s_});
    return found;
  }

 protected:
  /// Sets the operation up for the root that there is now; all ranks together.
  virtual typename T::CollectiveRequest prepared() = 0;

 private:
  std::optional<typename T::CollectiveRequest>& of_this_root() {
    return by_root_[static_cast<std::size_t>(this->root_)];
  }

  void set_up() {
    auto& request = of_this_root();
    if (request) return;
    const double began_s = this->transport_.now_s();
    request = prepared();
    prepare_s_ = this->transport_.now_s() - began_s;
  }

  std::vector<std::optional<typename T::CollectiveRequest>> by_root_;
  double prepare_s_ = 0;
};

}  // namespace nhalf
