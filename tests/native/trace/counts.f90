! Lists of requests of wrong lengths, from Fortran: every call has to return an error.
program counts
  use mpi
  implicit none
  integer :: requests(4), statuses(MPI_STATUS_SIZE, 4), places(4), error, done, place, length, at
  logical :: flag
  integer, parameter :: lengths(3) = (/ -1, -1000, -huge(1) - 1 /)

  call MPI_Init(error)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, error)
  requests = MPI_REQUEST_NULL
  statuses = 7
  places = 7
  done = 7
  do at = 1, 3
    length = lengths(at)
    call MPI_Waitall(length, requests, statuses, error)
    call report('waitall')
    call MPI_Testall(length, requests, flag, statuses, error)
    call report('testall')
    call MPI_Waitany(length, requests, place, statuses(:, 1), error)
    call report('waitany')
    call MPI_Testany(length, requests, place, flag, statuses(:, 1), error)
    call report('testany')
    call MPI_Waitsome(length, requests, done, places, statuses, error)
    call report('waitsome')
    call MPI_Testsome(length, requests, done, places, statuses, error)
    call report('testsome')
    call MPI_Startall(length, requests, error)
    call report('startall')
  end do
  if (any(places /= 7)) print '(a)', 'places were written'
  print '(a)', 'all lists given'
  call MPI_Finalize(error)

contains

  subroutine report(name)
    character(*), intent(in) :: name
    integer :: class, own
    class = MPI_SUCCESS
    if (error /= MPI_SUCCESS) call MPI_Error_class(error, class, own)
    if (class == MPI_SUCCESS) print '(a, a)', name, ' took it'
  end subroutine

end program
