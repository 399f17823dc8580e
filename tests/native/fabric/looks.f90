! A millisecond of looks for a message that does not come, and a message that does.
program looks
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
#ifdef F08
  type(MPI_Request) :: request
#else
  integer :: request
#endif
  integer :: rank, got, error, number
  logical :: is_there
  double precision :: begin
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, request, error)
  number = 0
  begin = MPI_Wtime()
  do while (MPI_Wtime() - begin < 1d-3)
    call MPI_Test(request, is_there, MPI_STATUS_IGNORE, error)
    number = number + 1
  end do
  call MPI_Cancel(request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Sendrecv(number, 1, MPI_INTEGER, 1 - rank, 4, got, 1, MPI_INTEGER, 1 - rank, 4, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  print '(i0,a)', got, ' looks'
  if (command_argument_count() > 0) then
    call MPI_Recv(got, 1, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end if
  call MPI_Finalize(error)
end program
