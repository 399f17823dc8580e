#!/bin/sh
# nhalf-needs: Java
# nhalf-app: npb
# nhalf-model: Java
# nhalf-ranks: threads
# The NAS Parallel Benchmarks in Java: starts what the jar beside this script holds.
set -eu
command -v java >/dev/null || {
  echo "there is no java here: apt-get install default-jre-headless" >&2
  exit 3
}
jar=$(dirname "$(readlink -f "$0")")/../lib/npb.jar
bound=
if [ "${1:-}" = --cpus ]; then
  bound="taskset -c $2"
  shift 2
fi
# Arrays of a class live as long as its kernel: nothing is collected while it is timed. The heap
# grows with them, up to what the memory of the machine allows. Loops with many operations are
# unrolled as others are, since only then HotSpot makes vectors of them; all arrays begin at one
# place of a cache line, so that vectors do. Whoever calls what is not compiled yet waits until it
# is: so compiling is done when the warm-up is, and takes no core from the threads that are timed.
# shellcheck disable=SC2086 # words
exec $bound java -XX:+UseSerialGC -Xmn32m -XX:MaxRAMPercentage=80 -XX:+UseTransparentHugePages \
  -XX:LoopUnrollLimit=500 -XX:ObjectAlignmentInBytes=64 -Xbatch -cp "$jar" npb.Program "$@"
