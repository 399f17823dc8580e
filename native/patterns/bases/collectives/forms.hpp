// The forms of an operation: called, begun and waited for, with work in between, set up once and
// started again and again.
#pragma once

#include <deque>
#include <iterator>

#include "patterns/bases/beside_work.hpp"
#include "patterns/bases/collectives/operation.hpp"

namespace nhalf {
inline constexpr std::array work_axes{
    AxisInfo{"work", "0,1", "0",
             "1: between start and wait the rank works for as long as the operation takes alone"},
    AxisInfo{"tests", "0", "0", "how often the work is interrupted to test for the end"}};
inline constexpr std::array beside_axis{AxisInfo{
    "beside", "none", "none",
    "1024:4096: of these sizes further ones are started after it, and waited for with it"}};

/// The work between start and wait of an operation, if work=1. Samples then hold all three.
template <NonBlockingCollectives T>
class WorkBetween : public BesideWork<T> {
 public:
  WorkBetween(T& transport, const Case& point)
      : BesideWork<T>(transport, works(point)), tests_(point.axes.number("tests", 0)) {
    if (tests_ < 0) throw InputError("axis tests is from 0 up");
  }

  /// Equal pieces of work with a test after each but the last; tests come on top of the work.
  void work(typename T::CollectiveRequest& request) {
    const double piece_s = this->duration_s() / (tests_ + 1);
    for (int i = 0; i < tests_; ++i) {
      idle_for(this->transport_, piece_s);
      this->transport_.test(request);
    }
    idle_for(this->transport_, piece_s);
  }

 private:
  static bool works(const Case& point) {
    constexpr std::string_view words[] = {"0", "1"};
    return point.choice("work", words) == 1;
  }

  int tests_;
};

/// The operation Blocking, with its buffers, data and checks, as it is started and waited for.
template <NonBlockingCollectives T, class Blocking>
class Overlapped : public Blocking {
 public:
  Overlapped(T& transport, const Case& point)
      : Blocking(transport, point), work_(transport, point) {}

  bool verify() override {
    work_.leave_out();
    return Blocking::verify();
  }
  void prepare() override { work_.learn(*this); }
  std::vector<Value> values() override { return work_.values(*this); }

 protected:
  /// The timed part: `start` is the call that starts the operation.
  template <class Start>
  void overlap(std::uint64_t rounds, Start start) {
    T& transport = this->transport_;
    for (; rounds > 0; --rounds) {
      auto request = start();
      if (work_.duration_s() > 0) work_.work(request);
      transport.wait(request);
      for (auto& beside : beside_) transport.wait(*beside);
    }
  }
  std::vector<std::optional<typename T::CollectiveRequest>> beside_;

 private:
  WorkBetween<T> work_;
};

/// The points of the further operations that axis `beside` asks for.
inline std::vector<Case> points_beside(const Case& point) {
  std::vector<Case> points;
  if (point.axes.text("beside", "none") == "none") return points;
  for (const auto size_bytes : point.numbers<std::size_t>("beside", "")) {
    points.push_back(point);
    points.back().size_bytes = size_bytes;
  }
  return points;
}

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
  Begun(T& transport, const Case& point) : Overlapped<T, Blocking>(transport, point) {
    for (const auto& beside : points_beside(point))
      further_.push_back(std::make_unique<Blocking>(transport, beside));
    this->beside_.resize(further_.size());
  }

  void root_at(int root) override {
    Overlapped<T, Blocking>::root_at(root);
    for (auto& further : further_) further->root_at(root);
  }
  void run(std::uint64_t rounds) override {
    const auto operands = this->operands();
    this->overlap(rounds, [&] {
      auto request = Call::begin(this->transport_, operands);
      for (std::size_t place = 0; place < further_.size(); ++place)
        this->beside_[place] = Call::begin(this->transport_, (*further_[place].*its_operands)());
      return request;
    });
  }

 private:
  /// A member of each operation, which a class above declares for those below.
  static constexpr auto its_operands = &Begun::operands;

  std::vector<std::unique_ptr<Blocking>> further_;
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
  if (!lasts) axes.insert(axes.end(), beside_axis.begin(), beside_axis.end());
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

/// Puts a pattern into the probe, and its non-blocking and its persistent form.
#define NHALF_FORMS(information, Blocking, operation)                           \
  NHALF_PATTERN(information, Blocking);                                         \
  NHALF_BEGUN_FORM(information, Blocking, operation);                           \
  template <PersistentCollectives T>                                            \
  using Blocking##Persistent = Prepared<T, Blocking<T>, operations::operation>; \
  NHALF_PATTERN(prepared(information), Blocking##Persistent)
