import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** Rows of the truth: one JSON object a line, each in one write, since several processes append to one file. Sources here are of the Java that Janino compiles: no type inference. */
public class Rows {
    private final FileOutputStream out;
    private final String by;

    public Rows(String file, String by) throws IOException {
        this.out = new FileOutputStream(file, true);
        this.by = by;
    }

    /** Write a row; more is its further members as JSON, with a leading comma, or nothing. */
    public synchronized void write(String kind, String more) {
        try {
            String row = "{\"by\":" + text(by) + ",\"t\":" + System.currentTimeMillis() + ",\"kind\":" + text(kind) + more + "}\n";
            out.write(row.getBytes(StandardCharsets.UTF_8));
        } catch (IOException gone) {
            Runtime.getRuntime().halt(3);
        }
    }

    public static String text(Object value) {
        if (value == null) {
            return "null";
        }
        String words = value.toString();
        StringBuilder made = new StringBuilder("\"");
        for (int i = 0; i < words.length(); i++) {
            char letter = words.charAt(i);
            if (letter == '"' || letter == '\\') {
                made.append('\\').append(letter);
            } else if (letter < ' ') {
                String hex = Integer.toHexString(letter);
                made.append("\\u0000".substring(0, 6 - hex.length())).append(hex);
            } else {
                made.append(letter);
            }
        }
        return made.append('"').toString();
    }

    /** Partitions by topic and number. */
    public static String partitions(Collection all) {
        TreeMap sorted = new TreeMap();
        for (Iterator i = all.iterator(); i.hasNext();) {
            org.apache.kafka.common.TopicPartition one = (org.apache.kafka.common.TopicPartition) i.next();
            String key = one.topic() + "/" + (1000000 + one.partition());
            sorted.put(key, text(one.toString()));
        }
        return "[" + join(sorted.values()) + "]";
    }

    public static String join(Collection parts) {
        StringBuilder made = new StringBuilder();
        for (Iterator i = parts.iterator(); i.hasNext();) {
            made.append(made.length() == 0 ? "" : ",").append(i.next());
        }
        return made.toString();
    }

    public static Properties properties(String file) throws IOException {
        Properties read = new Properties();
        Reader reader = new InputStreamReader(new FileInputStream(file), StandardCharsets.UTF_8);
        try {
            read.load(reader);
        } finally {
            reader.close();
        }
        return read;
    }
}
