// The forms of an operation: called, begun and waited for, set up once and started again and again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/pattern.hpp"
#include "contract/persistent_collectives.hpp"
#include "patterns/bases/collectives/operations.hpp"
#include "patterns/bases/collectives/overlapped.hpp"

namespace nhalf {

/// The blocking form, by the transport's own function; Base has buffers, data and checks.
template <class Base, class Call>
class Called : public Base {
 public:
  using Base::Base;

  void run(std::uint64_t rounds) override {
    const auto operands = this->operands();
    for (; rounds > 0; --rounds) Call::run(this->transport_, operands);
  }
};

/// The non-blocking form of the operation Blocking: the same buffers, data and checks, and work
/// between start and wait.
template <NonBlockingCollectives T, class Blocking, class Call>
class Begun : public Overlapped<T, Blocking> {
 public:
  using Overlapped<T, Blocking>::Overlapped;

  void run(std::uint64_t rounds) override {
    const auto operands = this->operands();
    this->overlap(rounds, [&] { return Call::begin(this->transport_, operands); });
  }
};

/// The persistent form of the operation Blocking: the same buffers, data and checks, and work
/// between start and wait as non-blocking operations have it.
///
/// It is set up once for each root, when that is first asked for. What this took at rank 0, the
/// last time, is a value beside the samples, `prepare_s`.
template <PersistentCollectives T, class Blocking, class Call>
class Prepared : public Overlapped<T, Blocking> {
 public:
  Prepared(T& transport, const Case& point)
      : Overlapped<T, Blocking>(transport, point),
        by_root_(static_cast<std::size_t>(transport.size())) {}
  ~Prepared() override {
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
    auto all = Overlapped<T, Blocking>::values();
    all.push_back({"prepare_s", prepare_s_});
    return all;
  }

 private:
  std::optional<typename T::CollectiveRequest>& of_this_root() {
    return by_root_[static_cast<std::size_t>(this->root_)];
  }

  /// Sets the operation up for the root that there is now; all ranks together.
  void set_up() {
    auto& request = of_this_root();
    if (request) return;
    const double began_s = this->transport_.now_s();
    request = Call::prepare(this->transport_, this->operands());
    prepare_s_ = this->transport_.now_s() - began_s;
  }

  std::vector<std::optional<typename T::CollectiveRequest>> by_root_;
  double prepare_s_ = 0;
};

/// Keeps what descriptions of forms refer to for as long as the program runs.
template <class Kept>
const Kept& lasting(Kept object) {
  static std::deque<Kept> all;
  return all.emplace_back(std::move(object));
}

/// What is said of a form: what is said of the blocking operation, but for its name and these. It
/// is the library's own, so there is no choice of algorithms; one that `lasts` is set up before it
/// is called, so its first call is like the others.
inline PatternInfo form_of(PatternInfo blocking, std::string name, std::string_view description,
                           std::string_view needs, bool lasts) {
  std::vector<AxisInfo> axes;
  std::ranges::copy_if(blocking.axes, std::back_inserter(axes), [lasts](const AxisInfo& axis) {
    return axis.name != "algorithm" && axis.name != "part" && !(lasts && axis.name == "call");
  });
  axes.insert(axes.end(), work_axes.begin(), work_axes.end());
  blocking.what = lasting(std::string(blocking.name).append(description));
  blocking.name = lasting(std::move(name));
  blocking.needs = needs;
  blocking.axes = lasting(std::move(axes));
  return blocking;
}
inline PatternInfo begun(const PatternInfo& blocking, std::string_view needs) {
  return form_of(blocking, "i" + std::string(blocking.name),
                 " started and waited for; overlap is the part that work hides", needs, false);
}
inline PatternInfo prepared(const PatternInfo& blocking) {
  return form_of(blocking, std::string(blocking.name) + "-persistent",
                 " that is set up once and started again and again", "persistent-collectives",
                 true);
}

}  // namespace nhalf

/// Puts the non-blocking form of a pattern into the probe, as the pattern I`Blocking`.
#define NHALF_BEGUN_FORM(information, Blocking, operation)          \
  template <class T>                                                \
    requires operations::operation::begins<T>                       \
  using I##Blocking = Begun<T, Blocking<T>, operations::operation>; \
  NHALF_PATTERN(begun(information, operations::operation::begun_needs), I##Blocking)

/// Registers the non-blocking and the persistent form of a pattern.
#define NHALF_FORMS(information, Blocking, operation)                           \
  NHALF_BEGUN_FORM(information, Blocking, operation);                           \
  template <PersistentCollectives T>                                            \
  using Blocking##Persistent = Prepared<T, Blocking<T>, operations::operation>; \
  NHALF_PATTERN(prepared(information), Blocking##Persistent)
