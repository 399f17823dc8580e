package npb;

import java.util.function.BiFunction;
import java.util.function.ToDoubleFunction;

/**
 * What {@code --describe} says about a kernel, and how it is made for a team and a class.
 * {@code operations} are those of the timed part as the reference counts them.
 */
public record KernelInfo(
    String name,
    String what,
    String classes,
    ToDoubleFunction<Character> operations,
    ToDoubleFunction<Character> memoryBytes,
    BiFunction<Team, Character, Kernel> make) {}
