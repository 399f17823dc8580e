// nhalf-needs: MPI
// Alternating directions (BT and SP) in message passing, by multipartition: six faces of all cells
// before a step, then, in each direction, lines from slice to slice, forward and back.
#pragma once

#include <array>
#include <vector>

#include "apps/npb/flow/cell.hpp"
#include "apps/npb/flow/faces.hpp"
#include "apps/npb/flow/multipartition.hpp"
#include "apps/npb/mpi_world.hpp"

namespace nhalf::npb::flow {

template <class Method>
class AlternatingMpi : public Kernel {
 public:
  AlternatingMpi(MpiWorld& world, char problem_class)
      : world_(world),
        problem_(problem_of<Problem>(Method::problems, problem_class)),
        parts_(problem_.n, world.rank, world.size) {
    for (Index c = 0; c < parts_.cells(); ++c) {
      const Subdomain box = parts_.box(c);
      cells_.emplace_back(box, problem_.dt);
      rooms_.emplace_back(box, longest());
      if (parts_.cells() > 1) lines_.emplace_back(box);
    }
    for (std::size_t face = 0; face < 6; ++face) {
      sent_[face].resize(face_numbers(face / 2, face % 2 == 1));
      received_[face].resize(face_numbers(face / 2, face % 2 == 0));
    }
    const Index room = longest() * longest() * PartialLines<Method>::forward_numbers;
    for (auto& message : pieces_) message.resize(static_cast<std::size_t>(room + lane_count));
  }

  void prepare() override {
    start();
    step();
    start();
  }

  void run() override {
    for (int i = 0; i < problem_.steps; ++i) step();
  }

  std::vector<Check> checks() override {
    Vec5 residual{};
    Vec5 error{};
    exchange_faces();
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      cells_[c].set_residual(rooms_[c], 1.0);
      add_squares(cells_[c].box, cells_[c].r, residual);
      add_error_squares(cells_[c].box, cells_[c].u, error);
    }
    for (Vec5* sum : {&residual, &error})
      MPI_Allreduce(MPI_IN_PLACE, sum->v.data(), 5, MPI_DOUBLE, MPI_SUM, world_.all);
    return checks_of(problem_, root_mean_square(residual, problem_.n),
                     root_mean_square(error, problem_.n));
  }

 private:
  [[nodiscard]] Index longest() const { return problem_.n / parts_.cells() + 1; }

  /// Whether there is a cell beyond a face.
  [[nodiscard]] bool continues(std::size_t c, std::size_t d, bool up) const {
    const Index place = parts_.place(static_cast<Index>(c))[d];
    return up ? place + 1 < parts_.cells() : place > 0;
  }

  [[nodiscard]] std::size_t face_numbers(std::size_t d, bool up) const {
    Index numbers = 0;
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      if (continues(c, d, up)) numbers += Layers(cells_[c].box, d, up, true).numbers();
    }
    return static_cast<std::size_t>(numbers);
  }

  void start() {
    for (auto& cell : cells_) set_initial(cell.box, cell.u);
  }

  void step() {
    if (cells_.size() == 1) {
      const Subdomain& box = cells_[0].box;
      cells_[0].step_planes(rooms_[0], box.first(2), box.last(2));
      cells_[0].step_across(rooms_[0], box.first(1), box.last(1));
      return;
    }
    exchange_faces();
    for (std::size_t c = 0; c < cells_.size(); ++c) cells_[c].set_residual(rooms_[c], problem_.dt);
    for (std::size_t along = 0; along < 3; ++along) solve(along);
  }

  /// Face 2d goes down along direction d, face 2d + 1 up.
  void exchange_faces() {
    if (cells_.size() == 1) return;
    std::array<MPI_Request, 12> requests{};
    world_.communicate([&] {
      for (std::size_t face = 0; face < 6; ++face)
        MPI_Irecv(received_[face].data(), static_cast<int>(received_[face].size()), MPI_DOUBLE,
                  parts_.neighbour(face / 2, face % 2 == 0), static_cast<int>(face), world_.all,
                  &requests[face]);
    });
    for (std::size_t face = 0; face < 6; ++face) pack_face(face / 2, face % 2 == 1);
    world_.communicate([&] {
      for (std::size_t face = 0; face < 6; ++face)
        MPI_Isend(sent_[face].data(), static_cast<int>(sent_[face].size()), MPI_DOUBLE,
                  parts_.neighbour(face / 2, face % 2 == 1), static_cast<int>(face), world_.all,
                  &requests[6 + face]);
      MPI_Waitall(12, requests.data(), MPI_STATUSES_IGNORE);
    });
    for (std::size_t face = 0; face < 6; ++face) unpack_face(face / 2, face % 2 == 1);
  }

  void pack_face(std::size_t d, bool up) {
    double* message = sent_[2 * d + (up ? 1 : 0)].data();
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      if (!continues(c, d, up)) continue;
      message = pack(cells_[c].box, cells_[c].u, Layers(cells_[c].box, d, up, true), message);
    }
  }

  /// Unpacks faces; a face that was sent upwards arrives from below.
  void unpack_face(std::size_t d, bool up) {
    double* message = received_[2 * d + (up ? 1 : 0)].data();
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      if (!continues(c, d, !up)) continue;
      message = unpack(cells_[c].box, cells_[c].u, Layers(cells_[c].box, d, !up, false), message);
    }
  }

  void solve(std::size_t along) {
    std::fill(pieces_[0].begin(), pieces_[0].end(), 0.0);
    for (Index slice = 0; slice < parts_.cells(); ++slice) {
      const auto c = static_cast<std::size_t>(parts_.in_slice(along, slice));
      lines_[c].forward(cells_[c], along, rooms_[c].lines, pieces_[0].data(), room(c, along));
      if (slice + 1 < parts_.cells())
        hand_on(along, slice, slice + 1, PartialLines<Method>::forward_numbers);
    }
    std::fill(pieces_[0].begin(), pieces_[0].end(), 0.0);
    for (Index slice = parts_.cells() - 1; slice >= 0; --slice) {
      const auto c = static_cast<std::size_t>(parts_.in_slice(along, slice));
      lines_[c].backward(cells_[c], along, rooms_[c].lines, pieces_[0].data(), room(c, along));
      if (slice > 0) hand_on(along, slice, slice - 1, PartialLines<Method>::backward_numbers);
    }
  }

  /// Returns the number of lines that a message buffer holds.
  [[nodiscard]] Index room(std::size_t c, std::size_t along) const {
    if (Method::pads_messages) return longest() * longest();
    return LineSet(cells_[c].box, along).lines();
  }

  /// Sends the piece of a slice's lines to the next slice's rank, and gets that of the own cell in
  /// the next slice.
  void hand_on(std::size_t along, Index from, Index to, Index numbers) {
    const bool up = to > from;
    const auto count = [&](Index slice) {
      const auto c = static_cast<std::size_t>(parts_.in_slice(along, slice));
      return static_cast<int>(numbers * room(c, along));
    };
    const int sent = count(from);
    const int received = count(to);
    world_.communicate([&] {
      std::array<MPI_Request, 2> requests{};
      MPI_Irecv(pieces_[1].data(), received, MPI_DOUBLE, parts_.neighbour(along, !up), 6,
                world_.all, requests.data());
      MPI_Isend(pieces_[0].data(), sent, MPI_DOUBLE, parts_.neighbour(along, up), 6, world_.all,
                &requests[1]);
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    });
    std::swap(pieces_[0], pieces_[1]);
  }

  MpiWorld& world_;
  const Problem& problem_;
  Multipartition parts_;
  std::vector<Cell<Method>> cells_;
  std::vector<CellRoom<Method>> rooms_;
  std::vector<PartialLines<Method>> lines_;
  std::array<std::vector<double>, 6> sent_, received_;
  std::array<std::vector<double>, 2> pieces_;
};

}  // namespace nhalf::npb::flow
