import java.util.Scanner;
import software.amazon.event.ruler.Ruler;

/** Reads pairs of lines, a pattern and an event, and writes whether EventBridge would match them. */
final class Match {
  public static void main(String[] arguments) throws Exception {
    Scanner lines = new Scanner(System.in, "UTF-8");
    while (lines.hasNextLine()) {
      String pattern = lines.nextLine();
      System.out.println(Ruler.matchesRule(lines.nextLine(), pattern));
    }
  }
}
