// nhalf-needs: MPI
// Sessions of MPI 4, beside the world that MPI_Init made.
#pragma once

#include "transports/mpi/prepared.hpp"

#ifdef NHALF_MPI_4
// Of the standard ABI only some libraries have it.
#pragma weak MPI_Session_init
#endif

namespace nhalf {
/// Added to what Base can do.
template <class Base>
class MpiSessions : public Base {
 public:
#ifdef NHALF_MPI_4
  /// Makes the communicator of all ranks in a session of its own, tries it and ends both. Throws
  /// InputError where the library refuses.
  SessionTimes session() {
    SessionTimes times;
    check(MPI_Session_init != nullptr, "MPI_Session_init");
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    const double began_s = MPI_Wtime();
    int code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (code == MPI_SUCCESS) code = MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    times.initialised_s = MPI_Wtime() - began_s;
    // Who has a session does not begin what needs those of all.
    check(everywhere(code == MPI_SUCCESS), "MPI_Session_init");

    MPI_Comm all = MPI_COMM_NULL;
    const double group_s = MPI_Wtime();
    code = MPI_Comm_create_from_group(group, "nhalf", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
    times.communicator_s = MPI_Wtime() - group_s;
    check(everywhere(code == MPI_SUCCESS), "MPI_Comm_create_from_group");
    const int mine = this->rank() + 1;
    int sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all);
    times.is_right = sum == this->size() * (this->size() + 1) / 2;

    const double done_s = MPI_Wtime();
    MPI_Group_free(&group);
    MPI_Comm_free(&all);
    MPI_Session_finalize(&session);
    times.finalised_s = MPI_Wtime() - done_s;
    return times;
  }
#endif

 protected:
  using Base::Base;

 private:
  static bool everywhere(bool mine) {
    int verdict = mine ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &verdict, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return verdict != 0;
  }
  static void check(bool is_done, const char* call) {
    if (!is_done)
      throw InputError(std::string(call) + " fails with this library and launcher: it has no " +
                       "sessions here");
  }
};
}  // namespace nhalf
