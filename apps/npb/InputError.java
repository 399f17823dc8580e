package npb;

/** A question that cannot be answered; its words are the answer. */
public final class InputError extends RuntimeException {
  private static final long serialVersionUID = 1;

  public InputError(String message) {
    super(message);
  }
}
