// A simulated machine that is not what it seems: for tests.
#pragma once

#include <string>
#include <vector>

#include "contract/transport.hpp"
#include "timing/clock.hpp"
#include "transports/model.hpp"

namespace nhalf {

/// The model machine, where ranks of one host claim one clock; its last rank hears of announcements
/// later than the others, sleeps past a time that it waits for, and may set its clock.
class Claiming {
 public:
  static constexpr const TransportInfo& info = ModelTransport::info;
  static constexpr std::string_view clock_name = "claimed";

  explicit Claiming(ModelTransport& model) : model_(model) {}

  int rank() const { return model_.rank(); }
  int size() const { return model_.size(); }
  double now_s() const { return model_.now_s() + shift_s; }
  double clock_resolution_s() const { return model_.clock_resolution_s(); }
  std::string clock_source() const { return "host " + std::to_string(rank() % hosts); }
  void idle_until(double clock_s) { sleep_until(clock_s + (is_last() ? oversleep_s : 0)); }
  void send(int peer, ConstBytes data) { model_.send(peer, data); }
  void recv(int peer, Bytes data) { model_.recv(peer, data); }
  void barrier() { model_.barrier(); }
  void broadcast(Bytes data) {
    model_.broadcast(data);
    if (is_last()) sleep_until(now_s() + delay_s);
  }
  bool all(bool mine) { return model_.all(mine); }
  std::vector<std::string> gather(const std::string& text) { return model_.gather(text); }
  std::string library() const { return model_.library(); }

  double delay_s = 0;
  double oversleep_s = 0;
  double shift_s = 0;
  int hosts = 1;

 private:
  bool is_last() const { return rank() == size() - 1 && rank() > 0; }
  void sleep_until(double clock_s) { model_.idle_until(clock_s - shift_s); }

  ModelTransport& model_;
};

static_assert(Idling<Claiming>);

}  // namespace nhalf
