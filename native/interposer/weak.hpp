// SPDX-License-Identifier: Apache-2.0
// The library of the standard ABI names no MPI library that it needs, for it is loaded before those
// of programs of any other, and into shells and other programs of none.
#pragma once

#if defined(MPI_ABI)

#pragma weak PMPI_Allgather
#pragma weak PMPI_Allgather_c
#pragma weak PMPI_Allreduce
#pragma weak PMPI_Allreduce_c
#pragma weak PMPI_Alltoall
#pragma weak PMPI_Alltoall_c
#pragma weak PMPI_Barrier
#pragma weak PMPI_Bcast
#pragma weak PMPI_Bcast_c
#pragma weak PMPI_Comm_call_errhandler
#pragma weak PMPI_Comm_create_keyval
#pragma weak PMPI_Comm_free
#pragma weak PMPI_Comm_get_attr
#pragma weak PMPI_Comm_get_errhandler
#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Comm_set_attr
#pragma weak PMPI_Comm_set_errhandler
#pragma weak PMPI_Comm_size
#pragma weak PMPI_Comm_split
#pragma weak PMPI_Comm_test_inter
#pragma weak PMPI_Errhandler_free
#pragma weak PMPI_Finalize
#pragma weak PMPI_Gather
#pragma weak PMPI_Gather_c
#pragma weak PMPI_Get_library_version
#pragma weak PMPI_Initialized
#pragma weak PMPI_Iprobe
#pragma weak PMPI_Irecv
#pragma weak PMPI_Is_thread_main
#pragma weak PMPI_Isend
#pragma weak PMPI_Op_commutative
#pragma weak PMPI_Pack
#pragma weak PMPI_Query_thread
#pragma weak PMPI_Recv
#pragma weak PMPI_Reduce
#pragma weak PMPI_Reduce_c
#pragma weak PMPI_Reduce_local
#pragma weak PMPI_Reduce_scatter_block
#pragma weak PMPI_Reduce_scatter_block_c
#pragma weak PMPI_Scan
#pragma weak PMPI_Scan_c
#pragma weak PMPI_Scatter
#pragma weak PMPI_Scatter_c
#pragma weak PMPI_Send
#pragma weak PMPI_Sendrecv
#pragma weak PMPI_Type_create_keyval
#pragma weak PMPI_Type_free
#pragma weak PMPI_Type_get_attr
#pragma weak PMPI_Type_get_contents
#pragma weak PMPI_Type_get_envelope
#pragma weak PMPI_Type_get_extent
#pragma weak PMPI_Type_get_true_extent
#pragma weak PMPI_Type_set_attr
#pragma weak PMPI_Type_size_x
#pragma weak PMPI_Unpack
#pragma weak PMPI_Wait
#pragma weak PMPI_Waitall
#pragma weak PMPI_Waitany

#endif
