import java.io.*;
import java.lang.reflect.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * One consumer: polls, writes what it sees, does what it is told on its input. It waits for the line "go" before it makes
 * its consumer, so that a start of the JVM counts for nothing, and halts when its input ends.
 */
public class Member implements ConsumerRebalanceListener {
    private final Rows rows;
    private final LinkedBlockingQueue orders = new LinkedBlockingQueue();
    private final Properties configs;
    private final String topics;
    private KafkaConsumer consumer;
    private long slowMs;

    public Member(Rows rows, Properties configs, String topics) {
        this.rows = rows;
        this.configs = configs;
        this.topics = topics;
        configs.put("key.deserializer", ByteArrayDeserializer.class.getName());
        configs.put("value.deserializer", ByteArrayDeserializer.class.getName());
    }

    /** Arguments: name, file of the truth, file of configs, topics (comma-separated, ~pattern or @pattern). */
    public static void main(String[] args) throws Exception {
        final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        final Member member = new Member(new Rows(args[1], args[0]), Rows.properties(args[2]), args[3]);
        Class.forName("org.apache.kafka.clients.consumer.KafkaConsumer");
        new File(args[2] + ".ready").createNewFile();
        String first = in.readLine();
        if (!"go".equals(first)) {
            Runtime.getRuntime().halt(4);
        }
        Thread listening = new Thread() {
            public void run() {
                try {
                    for (String line = in.readLine(); line != null; line = in.readLine()) {
                        member.orders.add(line);
                    }
                } catch (IOException gone) {
                    // as at the end
                }
                Runtime.getRuntime().halt(4);
            }
        };
        listening.setDaemon(true);
        listening.start();
        try {
            member.work();
        } catch (Throwable error) {
            member.rows.write("died", ",\"text\":" + Rows.text(error));
            if (member.consumer != null) {
                member.consumer.close(Duration.ofSeconds(10L)); // as an application does in its finally
            }
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0);
    }

    private void work() throws Exception {
        consumer = new KafkaConsumer(configs);
        subscribe(topics);
        rows.write("start", ",\"topics\":" + Rows.text(topics));
        while (true) {
            ConsumerRecords records = consumer.poll(Duration.ofMillis(100L));
            if (!records.isEmpty()) {
                rows.write("records", ",\"records\":{" + spans(records) + "}");
            }
            for (Object order = orders.poll(); order != null; order = orders.poll()) {
                if (!obeyed((String) order)) {
                    return;
                }
            }
        }
    }

    private boolean obeyed(String order) throws Exception {
        String[] words = order.split(" ", 2);
        rows.write("command", ",\"line\":" + Rows.text(order));
        if (words[0].equals("close")) {
            consumer.close(Duration.ofSeconds(10L));
            rows.write("closed", "");
            return false;
        } else if (words[0].equals("stall")) {
            Thread.sleep(Long.parseLong(words[1]));
            rows.write("stall_end", "");
        } else if (words[0].equals("slow")) {
            slowMs = Long.parseLong(words[1]);
        } else if (words[0].equals("subscribe")) {
            subscribe(words[1]);
        } else if (words[0].equals("enforce")) {
            consumer.enforceRebalance();
        }
        return true;
    }

    private void subscribe(String what) throws Exception {
        if (what.startsWith("~")) {
            consumer.subscribe(Pattern.compile(what.substring(1)), this);
        } else if (what.startsWith("@")) {
            Class kind = Class.forName("org.apache.kafka.clients.consumer.SubscriptionPattern");
            Object pattern = kind.getConstructor(new Class[] {String.class}).newInstance(new Object[] {what.substring(1)});
            Method method = KafkaConsumer.class.getMethod("subscribe", new Class[] {kind, ConsumerRebalanceListener.class});
            method.invoke(consumer, new Object[] {pattern, this});
        } else {
            consumer.subscribe((Collection) Arrays.asList((Object[]) what.split(",")), (ConsumerRebalanceListener) this);
        }
    }

    private static String spans(ConsumerRecords records) {
        List parts = new ArrayList();
        for (Iterator i = records.partitions().iterator(); i.hasNext();) {
            TopicPartition partition = (TopicPartition) i.next();
            List held = records.records(partition);
            long begin = ((ConsumerRecord) held.get(0)).offset();
            long end = ((ConsumerRecord) held.get(held.size() - 1)).offset();
            parts.add(Rows.text(partition.toString()) + ":[" + begin + "," + end + "]");
        }
        return Rows.join(parts);
    }

    private void called(String kind, Collection partitions) {
        ConsumerGroupMetadata about = consumer.groupMetadata();
        String who = ",\"generation\":" + about.generationId() + ",\"member\":" + Rows.text(about.memberId());
        rows.write(kind, ",\"partitions\":" + Rows.partitions(partitions) + who);
        if (slowMs > 0L) {
            try {
                Thread.sleep(slowMs);
            } catch (InterruptedException early) {
                throw new RuntimeException(early);
            }
        }
        rows.write(kind + "_end", "");
    }

    public void onPartitionsAssigned(Collection partitions) {
        called("assigned", partitions);
    }

    public void onPartitionsRevoked(Collection partitions) {
        called("revoked", partitions);
    }

    public void onPartitionsLost(Collection partitions) {
        called("lost", partitions);
    }
}
