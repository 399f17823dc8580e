// Preloaded: an allreduce that is fast and wrong, from HASTY_BYTES on (1024 if that is not given:
// by less, ranks agree), where what HASTY_UNDER=NAME=VALUE says is in the environment.
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::size_t least_bytes() {
  const char* bytes = std::getenv("HASTY_BYTES");
  return bytes == nullptr ? 1024 : std::strtoul(bytes, nullptr, 10);
}

bool is_hasty() {
  const char* setting = std::getenv("HASTY_UNDER");
  if (setting == nullptr) return false;
  const std::string text = setting;
  const auto equals = text.find('=');
  const char* value = std::getenv(text.substr(0, equals).c_str());
  return value != nullptr && text.substr(equals + 1) == value;
}

}  // namespace

extern "C" int MPI_Allreduce(const void* own, void* result, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  int size = 0;
  PMPI_Type_size(type, &size);
  const std::size_t bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  if (bytes < least_bytes() || !is_hasty())
    return PMPI_Allreduce(own, result, count, type, op, comm);
  if (own != MPI_IN_PLACE) std::memcpy(result, own, bytes);
  return MPI_SUCCESS;
}
