// A library with a fault: one bit of every FLIPS_EVERY-th message that is received, or of every
// such block of a collective operation, is another one: also of those by which nhalf's ranks agree.
// Preloaded over a library with the standard ABI.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

typedef int Receive(void *, int, void *, int, int, void *, void *);
typedef int Broadcast(void *, int, void *, int, void *);
typedef int Reduce(const void *, void *, int, void *, void *, void *);
typedef int Exchange(const void *, int, void *, void *, int, void *, void *);

static void flip(unsigned char *data, int length) {
  static long every = 0;
  static long seen = 0;
  if (every == 0) {
    const char *text = getenv("FLIPS_EVERY");
    every = text ? atol(text) : 1000;
  }
  if (length <= 0 || ++seen % every != 0) return;
  data[seen / every % length] ^= (unsigned char)(1 << seen / every % 8);
}

__attribute__((visibility("default"))) int MPI_Recv(void *data, int count, void *type, int source,
                                                    int tag, void *comm, void *status) {
  static Receive *receive = 0;
  if (!receive) receive = (Receive *)dlsym(RTLD_NEXT, "MPI_Recv");
  const int code = receive(data, count, type, source, tag, comm, status);
  flip(data, count);
  return code;
}

__attribute__((visibility("default"))) int MPI_Alltoall(const void *out, int out_count,
                                                        void *out_type, void *in, int in_count,
                                                        void *in_type, void *comm) {
  static Exchange *exchange = 0;
  if (!exchange) exchange = (Exchange *)dlsym(RTLD_NEXT, "MPI_Alltoall");
  const int code = exchange(out, out_count, out_type, in, in_count, in_type, comm);
  flip(in, in_count);
  return code;
}

__attribute__((visibility("default"))) int MPI_Bcast(void *data, int count, void *type, int root,
                                                     void *comm) {
  static Broadcast *broadcast = 0;
  if (!broadcast) broadcast = (Broadcast *)dlsym(RTLD_NEXT, "MPI_Bcast");
  const int code = broadcast(data, count, type, root, comm);
  flip(data, count);
  return code;
}

__attribute__((visibility("default"))) int MPI_Allreduce(const void *own, void *data, int count,
                                                         void *type, void *op, void *comm) {
  static Reduce *reduce = 0;
  if (!reduce) reduce = (Reduce *)dlsym(RTLD_NEXT, "MPI_Allreduce");
  const int code = reduce(own, data, count, type, op, comm);
  flip(data, count);
  return code;
}
