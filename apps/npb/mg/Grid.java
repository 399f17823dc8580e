package npb.mg;

/** MG: a cubic grid, and the layer around it that has the values of the opposite side. */
final class Grid {
  final int size;
  final int row;
  final int plane;
  final double[] values;

  Grid(int size) {
    this.size = size;
    row = size + 2;
    plane = row * row;
    values = new double[plane * row];
  }

  int at(int z, int y) {
    return z * plane + y * row;
  }

  /** The layers in x and y of planes [first, last], and those in z where these are at an end. */
  void wrap(int first, int last) {
    for (int z = first; z <= last; ++z) {
      for (int y = 1; y <= size; ++y) {
        final int start = at(z, y);
        values[start] = values[start + size];
        values[start + size + 1] = values[start + 1];
      }
      System.arraycopy(values, at(z, size), values, at(z, 0), row);
      System.arraycopy(values, at(z, 1), values, at(z, size + 1), row);
    }
    if (first > last) {
      return;
    }
    if (last == size) {
      System.arraycopy(values, size * plane, values, 0, plane);
    }
    if (first == 1) {
      System.arraycopy(values, plane, values, (size + 1) * plane, plane);
    }
  }
}
