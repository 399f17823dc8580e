package npb.ft;

import npb.Fused;
import npb.Lanes;

/** FT: Fourier transforms of many lines at once, by Stockham's algorithm with radix 4. */
final class Fft {
  private static final int END = Lanes.length(Lines.COUNT);

  private final int length;
  private final double[] roots;
  private Lines in;
  private Lines out;

  /** The roots of a length, which is a power of two, step by step. */
  Fft(int length) {
    this.length = length;
    int count = 0;
    for (int now = length; now >= 4; now /= 4) {
      count += now / 4 * 6;
    }
    roots = new double[count];
    int at = 0;
    for (int now = length; now >= 4; now /= 4) {
      for (int p = 0; p < now / 4; ++p) {
        for (int power = 1; power < 4; ++power) {
          final double angle = -2 * Math.PI * (p * power) / now;
          roots[at++] = Math.cos(angle);
          roots[at++] = Math.sin(angle);
        }
      }
    }
  }

  /** A transform for another thread, with the same roots. */
  Fft(Fft other) {
    length = other.length;
    roots = other.roots;
  }

  int length() {
    return length;
  }

  /** Transforms the lines of {@code data} with exponent -1; where they are, of both. */
  Lines transform(Lines data, Lines other) {
    in = data;
    out = other;
    int stride = 1;
    int root = 0;
    int now = length;
    for (; now >= 4; now /= 4, stride *= 4) {
      for (int p = 0; p < now / 4; ++p, root += 6) {
        for (int q = 0; q < stride; ++q) {
          butterfly(q + stride * p, stride * (now / 4), root, q + stride * 4 * p, stride);
        }
      }
      exchange();
    }
    if (now == 2) {
      for (int q = 0; q < stride; ++q) {
        sumAndGap(in.real, out.real, q, stride);
        sumAndGap(in.imaginary, out.imaginary, q, stride);
      }
      exchange();
    }
    return in;
  }

  private void exchange() {
    final Lines kept = in;
    in = out;
    out = kept;
  }

  /** Four elements that are {@code apart} become four that are {@code outApart}. */
  private void butterfly(int e, int apart, int root, int f, int outApart) {
    final double[] ar = in.real[e];
    final double[] br = in.real[e + apart];
    final double[] cr = in.real[e + 2 * apart];
    final double[] dr = in.real[e + 3 * apart];
    final double[] ai = in.imaginary[e];
    final double[] bi = in.imaginary[e + apart];
    final double[] ci = in.imaginary[e + 2 * apart];
    final double[] di = in.imaginary[e + 3 * apart];
    final double[] r0 = out.real[f];
    final double[] r1 = out.real[f + outApart];
    final double[] r2 = out.real[f + 2 * outApart];
    final double[] r3 = out.real[f + 3 * outApart];
    final double[] i0 = out.imaginary[f];
    final double[] i1 = out.imaginary[f + outApart];
    final double[] i2 = out.imaginary[f + 2 * outApart];
    final double[] i3 = out.imaginary[f + 3 * outApart];
    final double c1 = roots[root];
    final double s1 = roots[root + 1];
    final double c2 = roots[root + 2];
    final double s2 = roots[root + 3];
    final double c3 = roots[root + 4];
    final double s3 = roots[root + 5];
    for (int l = Lanes.FROM; l < END; ++l) {
      final double sumR = ar[l] + cr[l];
      final double sumI = ai[l] + ci[l];
      final double gapR = ar[l] - cr[l];
      final double gapI = ai[l] - ci[l];
      final double oddR = br[l] + dr[l];
      final double oddI = bi[l] + di[l];
      final double turnR = bi[l] - di[l];
      final double turnI = dr[l] - br[l];
      r0[l] = sumR + oddR;
      i0[l] = sumI + oddI;
      r1[l] = Fused.add(c1, gapR + turnR, -s1 * (gapI + turnI));
      i1[l] = Fused.add(c1, gapI + turnI, s1 * (gapR + turnR));
      r2[l] = Fused.add(c2, sumR - oddR, -s2 * (sumI - oddI));
      i2[l] = Fused.add(c2, sumI - oddI, s2 * (sumR - oddR));
      r3[l] = Fused.add(c3, gapR - turnR, -s3 * (gapI - turnI));
      i3[l] = Fused.add(c3, gapI - turnI, s3 * (gapR - turnR));
    }
  }

  private static void sumAndGap(double[][] in, double[][] out, int q, int stride) {
    final double[] a = in[q];
    final double[] b = in[q + stride];
    final double[] sum = out[q];
    final double[] gap = out[q + stride];
    for (int l = Lanes.FROM; l < END; ++l) {
      sum[l] = a[l] + b[l];
      gap[l] = a[l] - b[l];
    }
  }
}
