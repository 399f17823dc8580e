! A program of which every message is known, for each way to say MPI in Fortran.
program ring
#if defined(OLD)
  implicit none
  include 'mpif.h'
#elif defined(MODULE)
  use mpi
  implicit none
#else
  use mpi_f08
  implicit none
#endif
#if defined(OLD) || defined(MODULE)
  integer :: request(2), state(MPI_STATUS_SIZE), comm
#else
  type(MPI_Request) :: request(2)
  type(MPI_Status) :: state
  type(MPI_Comm) :: comm
#endif
  integer :: rank, size, right, left, error, time, found
  integer :: data(100), room(100)
  logical :: flag

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  data = rank
  room = -1
  call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, comm, error)
  call MPI_Irecv(room, 100, MPI_INTEGER, MPI_ANY_SOURCE, 1, comm, request(1), error)
  call MPI_Isend(data, 3, MPI_INTEGER, right, 1, comm, request(2), error)
  call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, error)
  if (room(3) /= left .or. room(4) /= -1) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  call MPI_Sendrecv(data, 5, MPI_INTEGER, right, 2, room, 100, MPI_INTEGER, left, 2, &
      MPI_COMM_WORLD, state, error)
  call MPI_Get_count(state, MPI_INTEGER, found, error)
  if (found /= 5) call MPI_Abort(MPI_COMM_WORLD, 2, error)
  if (rank == 0) then
    call MPI_Send(data, 7, MPI_INTEGER, size - 1, 3, MPI_COMM_WORLD, error)
  else if (rank == size - 1) then
    call MPI_Recv(room, 100, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end if
  call MPI_Irecv(room, 100, MPI_INTEGER, left, 4, MPI_COMM_WORLD, request(1), error)
  call MPI_Send(data, 0, MPI_INTEGER, right, 4, MPI_COMM_WORLD, error)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(request(1), flag, MPI_STATUS_IGNORE, error)
  end do
  do time = 1, 3
    call MPI_Bcast(data, 100, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
  end do
  if (data(1) /= 1) call MPI_Abort(MPI_COMM_WORLD, 3, error)
  call MPI_Allreduce(MPI_IN_PLACE, data, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (data(1) /= size) call MPI_Abort(MPI_COMM_WORLD, 4, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program ring
