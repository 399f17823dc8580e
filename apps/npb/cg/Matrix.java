package npb.cg;

import java.util.Arrays;
import npb.Random;

/** CG: the random sparse matrix in compressed rows, a sum of outer products of sparse vectors. */
final class Matrix {
  final int[] rowBegin;
  final int[] column;
  final double[] value;

  private interface Use {
    void element(int row, int column, double value);
  }

  Matrix(Problem problem) {
    rowBegin = new int[problem.size() + 1];
    everyElement(problem, (row, place, number) -> ++rowBegin[row + 1]);
    for (int row = 0; row < problem.size(); ++row) {
      rowBegin[row + 1] += rowBegin[row];
    }
    column = new int[rowBegin[problem.size()]];
    value = new double[column.length];
    final int[] next = rowBegin.clone();
    everyElement(
        problem,
        (row, place, number) -> {
          column[next[row]] = place;
          value[next[row]++] = number;
        });
    merge(problem.size());
  }

  /** The row with which part {@code number} of {@code parts} equal shares of elements begins. */
  int balancedBegin(int number, int parts) {
    final int rows = rowBegin.length - 1;
    if (number == parts) {
      return rows;
    }
    final int found =
        Arrays.binarySearch(rowBegin, (int) ((long) rowBegin[rows] * number / parts));
    return found < 0 ? -found - 1 : found;
  }

  private static void everyElement(Problem problem, Use use) {
    final Vectors vectors = new Vectors(problem);
    final double ratio = Math.pow(Problem.CONDITION, 1.0 / problem.size());
    double weight = 1;
    for (int number = 0; number < problem.size(); ++number, weight *= ratio) {
      vectors.next(number);
      for (int i = 0; i < vectors.count; ++i) {
        final int row = vectors.places[i];
        final double scaled = vectors.values[i] * weight;
        for (int j = 0; j < vectors.count; ++j) {
          final boolean diagonal = row == number && vectors.places[j] == number;
          final double added = diagonal ? Problem.CONDITION - problem.shift() : 0;
          use.element(row, vectors.places[j], vectors.values[j] * scaled + added);
        }
      }
    }
  }

  /** Adds up what several vectors gave to one element, in their order, and closes the gaps. */
  private void merge(int rows) {
    int kept = 0;
    int begin = 0;
    for (int row = 0; row < rows; ++row) {
      final int end = rowBegin[row + 1];
      sort(begin, end);
      final int start = kept;
      for (int i = begin; i < end; ++i) {
        if (kept > start && column[kept - 1] == column[i]) {
          value[kept - 1] += value[i];
        } else {
          column[kept] = column[i];
          value[kept++] = value[i];
        }
      }
      begin = end;
      rowBegin[row + 1] = kept;
    }
  }

  /** By column; equal ones stay in their order. Rows are short. */
  private void sort(int begin, int end) {
    for (int i = begin + 1; i < end; ++i) {
      final int place = column[i];
      final double number = value[i];
      int to = i;
      for (; to > begin && column[to - 1] > place; --to) {
        column[to] = column[to - 1];
        value[to] = value[to - 1];
      }
      column[to] = place;
      value[to] = number;
    }
  }

  /** One sparse vector after the other. */
  private static final class Vectors {
    final int[] places;
    final double[] values;
    int count;

    private final Problem problem;
    private final Random random = new Random();
    private final int span;

    Vectors(Problem problem) {
      this.problem = problem;
      places = new int[problem.nonzeros() + 1];
      values = new double[problem.nonzeros() + 1];
      span = Integer.highestOneBit(problem.size() - 1) << 1;
      random.skip(1);
    }

    /** Elements at random places, and 1/2 at the place of the vector's own number. */
    void next(int number) {
      count = 0;
      while (count < problem.nonzeros()) {
        final double drawn = random.next();
        final int place = (int) (random.next() * span);
        if (place < problem.size() && find(place) == count) {
          put(count++, place, drawn);
        }
      }
      final int own = find(number);
      put(own, number, 0.5);
      count = Math.max(count, own + 1);
    }

    private void put(int at, int place, double number) {
      places[at] = place;
      values[at] = number;
    }

    private int find(int place) {
      int at = 0;
      while (at < count && places[at] != place) {
        ++at;
      }
      return at;
    }
  }
}
