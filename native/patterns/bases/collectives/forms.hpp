// SPDX-License-Identifier: Apache-2.0
// The forms of an operation: called, begun and waited for, set up once and started again and again.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
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

/// Whether a form has an axis of its blocking operation. It is the library's own, so there is no
/// choice of algorithms, and one that is set up lasts, so its first call is like the others.
constexpr bool is_axis_of_form(const AxisInfo& axis, bool lasts) {
  return axis.name != "algorithm" && axis.name != "part" && !(lasts && axis.name == "call");
}

/// The axes of a form: those of the blocking operation, and work.
template <const PatternInfo& blocking, bool lasts>
inline constexpr auto axes_of_form = [] {
  constexpr auto is_kept = [](const AxisInfo& axis) { return is_axis_of_form(axis, lasts); };
  constexpr auto count = static_cast<std::size_t>(std::ranges::count_if(blocking.axes, is_kept));
  std::array<AxisInfo, count + work_axes.size()> axes;
  const auto work = std::ranges::copy_if(blocking.axes, axes.begin(), is_kept).out;
  std::ranges::copy(work_axes, work);
  return axes;
}();

/// Two texts as one that lasts.
template <std::size_t length>
consteval std::array<char, length> joined_texts(std::string_view first, std::string_view second) {
  std::array<char, length> text{};
  std::ranges::copy(second, std::ranges::copy(first, text.begin()).out);
  return text;
}
template <std::size_t length>
constexpr std::string_view view_of(const std::array<char, length>& text) {
  return {text.data(), text.size()};
}

/// What is said of a form: what is said of the blocking operation, but for this.
template <const PatternInfo& blocking>
struct FormTexts {
  static constexpr std::string_view begins =
      " started and waited for; overlap is the part that work hides";
  static constexpr std::string_view lasts = " that is set up once and started again and again";
  static constexpr std::string_view suffix = "-persistent";
  static constexpr auto size = blocking.name.size();

  static constexpr auto begun_name = joined_texts<1 + size>("i", blocking.name);
  static constexpr auto begun_what = joined_texts<size + begins.size()>(blocking.name, begins);
  static constexpr auto prepared_name = joined_texts<size + suffix.size()>(blocking.name, suffix);
  static constexpr auto prepared_what = joined_texts<size + lasts.size()>(blocking.name, lasts);
};

template <const PatternInfo& blocking, class Call>
inline constexpr PatternInfo begun_info = [] {
  auto info = blocking;
  info.name = view_of(FormTexts<blocking>::begun_name);
  info.what = view_of(FormTexts<blocking>::begun_what);
  info.needs = Call::begun_needs;
  info.axes = axes_of_form<blocking, false>;
  return info;
}();

template <const PatternInfo& blocking>
inline constexpr PatternInfo prepared_info = [] {
  auto info = blocking;
  info.name = view_of(FormTexts<blocking>::prepared_name);
  info.what = view_of(FormTexts<blocking>::prepared_what);
  info.needs = "persistent-collectives";
  info.axes = axes_of_form<blocking, true>;
  return info;
}();

}  // namespace nhalf

/// Puts the non-blocking form of a pattern into the probe, as the pattern I`Blocking`.
#define NHALF_BEGUN_FORM(information, Blocking, operation)          \
  template <class T>                                                \
    requires operations::operation::begins<T>                       \
  using I##Blocking = Begun<T, Blocking<T>, operations::operation>; \
  NHALF_PATTERN((begun_info<information, operations::operation>), I##Blocking)

/// The same of its non-blocking and its persistent form.
#define NHALF_FORMS(information, Blocking, operation)                           \
  NHALF_BEGUN_FORM(information, Blocking, operation);                           \
  template <PersistentCollectives T>                                            \
  using Blocking##Persistent = Prepared<T, Blocking<T>, operations::operation>; \
  NHALF_PATTERN(prepared_info<information>, Blocking##Persistent)
