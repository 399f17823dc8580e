package npb.is;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import npb.Check;
import npb.Kernel;
import npb.KernelInfo;
import npb.Team;

/**
 * IS: threads count their keys by bucket, agree on where each one's keys of a bucket go, put them
 * there, and rank the keys of some whole buckets each.
 */
public final class Threads implements Kernel {
  public static final KernelInfo INFO = Problem.INFO;

  private final Team team;
  private final Problem problem;
  private final int[] keys;
  private final int[] sorted;
  private final int[] below;
  /** Where each bucket begins among the sorted keys. */
  private final int[] buckets;
  private final int[][] counts;
  private final int[][] next;
  private final int[] testKeys = new int[Problem.TESTS];
  private final AtomicInteger right = new AtomicInteger();

  Threads(Team team, char problemClass) {
    this.team = team;
    problem = Problem.of(problemClass);
    keys = new int[problem.keys()];
    sorted = new int[problem.keys()];
    below = new int[problem.maxKey()];
    buckets = new int[problem.buckets() + 1];
    counts = new int[team.threads()][problem.buckets()];
    next = new int[team.threads()][problem.buckets()];
  }

  @Override
  public void prepare() {
    team.run(thread -> Numerics.makeKeys(problem, keys, begin(thread), begin(thread + 1)));
    team.run(thread -> iterate(thread, 1));
    right.set(0);
  }

  @Override
  public void warmUp() {
    team.run(thread -> iterate(thread, 1));
  }

  @Override
  public void run() {
    team.run(
        thread -> {
          for (int iteration = 1; iteration <= Problem.ITERATIONS; ++iteration) {
            iterate(thread, iteration);
          }
        });
  }

  @Override
  public List<Check> checks() {
    for (int thread = 0; thread < team.threads(); ++thread) {
      final int end = firstBucket(thread + 1) << problem.bucketShift();
      for (int key = firstBucket(thread) << problem.bucketShift(); key < end; ++key) {
        below[key] += buckets[firstBucket(thread)];
      }
    }
    final int wrong = Numerics.disorder(sorted, below, new int[keys.length]);
    return List.of(
        new Check("known ranks", right.get(), testKeys.length * Problem.ITERATIONS, 0),
        new Check("keys out of order", wrong, 0, 0));
  }

  private void iterate(int thread, int iteration) {
    if (thread == 0) {
      Numerics.changeKeys(problem, iteration, keys);
      for (int test = 0; test < testKeys.length; ++test) {
        testKeys[test] = keys[problem.tests()[Problem.PLACES][test]];
      }
    }
    team.barrier();
    final int shift = problem.bucketShift();
    final int begin = begin(thread);
    final int end = begin(thread + 1);
    Numerics.countBuckets(keys, begin, end, shift, counts[thread], next[thread]);
    team.barrier();
    place(thread, next[thread]);
    Numerics.scatter(keys, begin, end, shift, next[thread], sorted);
    team.barrier();
    right.addAndGet(rankOwn(thread, iteration));
    team.barrier();
  }

  /** Where this thread's keys of every bucket go: behind those of threads before it. */
  private void place(int thread, int[] mine) {
    int at = 0;
    for (int bucket = 0; bucket < mine.length; ++bucket) {
      if (thread == 0) {
        buckets[bucket] = at;
      }
      for (int other = 0; other < team.threads(); ++other) {
        if (other == thread) {
          mine[bucket] = at;
        }
        at += counts[other][bucket];
      }
    }
    if (thread == 0) {
      buckets[mine.length] = at;
    }
  }

  /** Ranks the keys of this thread's buckets; how many of the known ones are right. */
  private int rankOwn(int thread, int iteration) {
    final int begin = firstBucket(thread);
    final int end = firstBucket(thread + 1);
    final int first = begin << problem.bucketShift();
    final int last = end << problem.bucketShift();
    Numerics.rankKeys(sorted, buckets[begin], buckets[end], below, first, last);
    return Numerics.rightRanks(problem, iteration, testKeys, first, last, below, buckets[begin]);
  }

  /** The bucket with which a thread's share of all keys begins. */
  private int firstBucket(int thread) {
    if (thread == team.threads()) {
      return buckets.length - 1;
    }
    int found = Arrays.binarySearch(buckets, begin(thread));
    found = found < 0 ? -found - 1 : found;
    while (found > 0 && buckets[found - 1] == begin(thread)) {
      --found;
    }
    return found;
  }

  private int begin(int thread) {
    return team.begin(keys.length, thread);
  }
}
