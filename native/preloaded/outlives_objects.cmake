# Fails where an object of a preloaded library would end before the program does: programs call MPI
# while their own static objects end. Given: NM, FILE.
execute_process(COMMAND ${NM} --dynamic --undefined-only ${FILE}
  OUTPUT_VARIABLE symbols RESULT_VARIABLE failed ERROR_QUIET)
if(NOT failed AND symbols MATCHES "__cxa_(thread_)?atexit[a-z_]*")
  message(FATAL_ERROR "${FILE} asks for ${CMAKE_MATCH_0}: an object in it has a destructor that "
    "runs before the last call of MPI; use preloaded/lasting.hpp or preloaded/lasting.hpp")
endif()
