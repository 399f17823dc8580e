! An unchanged Fortran program: sentinels go by address, and handles are integers.
program fortran
  use mpi
  implicit none
  integer :: error, rank, ranks, wrong, total, i
  integer :: whole(8)
  double precision :: real_value, real_sum

  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  wrong = 0

  call mpi_barrier(mpi_comm_world, error)
  whole = rank
  call mpi_bcast(whole, 8, mpi_integer, ranks - 1, mpi_comm_world, error)
  if (any(whole /= ranks - 1)) wrong = wrong + 1

  total = rank + 1
  call mpi_allreduce(mpi_in_place, total, 1, mpi_integer, mpi_sum, mpi_comm_world, error)
  if (total /= ranks * (ranks + 1) / 2) wrong = wrong + 1

  real_value = dble(rank)
  call mpi_reduce(real_value, real_sum, 1, mpi_double_precision, mpi_max, 0, mpi_comm_world, error)
  if (rank == 0 .and. real_sum /= dble(ranks - 1)) wrong = wrong + 1

  whole = -1
  whole(rank + 1) = rank
  call mpi_allgather(mpi_in_place, 0, mpi_datatype_null, whole, 1, mpi_integer, mpi_comm_world, error)
  do i = 1, ranks
    if (whole(i) /= i - 1) wrong = wrong + 1
  end do

  call mpi_allreduce(mpi_in_place, wrong, 1, mpi_integer, mpi_sum, mpi_comm_world, error)
  if (rank == 0) print '(i0, a)', wrong, ' wrong'
  call mpi_finalize(error)
  if (wrong /= 0) stop 1
end program fortran
