// Weak references to MPI: this library needs no particular one, since it is loaded into programs of
// any MPI library, and into shells and other programs without one.
#pragma once

#pragma weak PMPI_Initialized

#define NHALF_PRAGMA(text) _Pragma(#text)
#define NHALF_WEAK(a, b, c, d, e) \
  NHALF_PRAGMA(weak PMPI_##a)     \
  NHALF_PRAGMA(weak PMPI_##b)     \
  NHALF_PRAGMA(weak PMPI_##c) NHALF_PRAGMA(weak PMPI_##d) NHALF_PRAGMA(weak PMPI_##e)

NHALF_WEAK(Allgather, Allgather_c, Allreduce, Allreduce_c, Alltoall)
NHALF_WEAK(Alltoall_c, Barrier, Bcast, Bcast_c, Comm_call_errhandler)
NHALF_WEAK(Comm_f2c, Comm_create_keyval, Comm_free, Comm_get_attr, Comm_get_errhandler)
NHALF_WEAK(Comm_group, Comm_rank, Comm_set_attr, Comm_set_errhandler, Comm_size)
NHALF_WEAK(Comm_split, Comm_test_inter, Errhandler_free, Finalize, Finalized)
NHALF_WEAK(Gather, Gather_c, Get_library_version, Group_free, Group_size)
NHALF_WEAK(Group_translate_ranks, Iprobe, Irecv, Is_thread_main, Isend)
NHALF_WEAK(Op_commutative, Op_f2c, Pack, Query_thread, Recv)
NHALF_WEAK(Reduce, Reduce_c, Reduce_local, Reduce_scatter_block, Reduce_scatter_block_c)
NHALF_WEAK(Scan, Scan_c, Scatter, Scatter_c, Send)
NHALF_WEAK(Sendrecv, Type_create_keyval, Type_f2c, Type_free, Type_get_attr)
NHALF_WEAK(Type_get_contents, Type_get_envelope, Type_get_extent, Type_get_true_extent,
           Type_set_attr)
NHALF_WEAK(Type_size_x, Unpack, Wait, Waitall, Waitany)

#undef NHALF_WEAK
#undef NHALF_PRAGMA
