package io.github.rebalancekit.junit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A real broker with a real group beside your consumer, as a JUnit 5 extension: register it in a static field, and it lives as long as
 * the class; in a field of the instance, and every test has its own.
 *
 * <p>It runs {@code rebalance-kit deeds}; where that is not on the path, name it in the environment's {@code REBALANCE_KIT}, words
 * apart by blanks ({@code /opt/kit/bin/python -m rebalance_kit}). Everything ends with this JVM, whatever ends it.
 */
public final class RealGroup implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration SETTLE = Duration.ofSeconds(90);
    private final List<String> words = new ArrayList<>();
    private final Map<String, String> configs = new LinkedHashMap<>();
    private final List<Running> open = new ArrayList<>();
    private String group = "orders-app";
    private String protocol = "consumer";
    private boolean ofTheClass;
    private Process process;
    private BufferedWriter orders;
    private BufferedReader answers;
    private JsonNode place;

    /** The group.id; {@code orders-app} unless said. */
    public RealGroup group(String id) {
        group = id;
        return this;
    }

    /** {@code eager}, {@code cooperative}, or {@code consumer} (KIP-848, unless said). */
    public RealGroup protocol(String name) {
        protocol = name;
        return this;
    }

    /** A topic that gets ten records a second per partition; {@code orders} with four partitions unless said. */
    public RealGroup topic(String name, int partitions) {
        words.addAll(List.of("--topic", name + ":" + partitions));
        return this;
    }

    /** A consumer config of every member, yours included. */
    public RealGroup config(String key, Object value) {
        configs.put(key, value.toString());
        words.addAll(List.of("--config", key + "=" + value));
        return this;
    }

    /** A broker config. */
    public RealGroup brokerConfig(String key, Object value) {
        words.addAll(List.of("--broker-config", key + "=" + value));
        return this;
    }

    /** So many brokers; one unless said. */
    public RealGroup nodes(int many) {
        words.addAll(List.of("--nodes", Integer.toString(many)));
        return this;
    }

    // --- deeds: on the kit's members; cut, heal and delay on an application of yours as well -------

    /** Start a member of the kit beside yours, on Kafka's own client; it reads, and commits every five seconds. */
    public void start(String member) {
        order("start " + member);
    }

    /** Start one of another client: java, librdkafka, aiokafka, kafka-python. */
    public void start(String member, String client) {
        order("start " + member + " " + client);
    }

    /** Have a member of the kit close its consumer; {@link Running#end} closes yours. */
    public void close(String member) {
        order("close " + member);
    }

    /** SIGKILL of a member of the kit: an application of yours is a thread of this JVM. */
    public void kill(String member) {
        order("kill " + member);
    }

    /** SIGSTOP of a member of the kit. */
    public void freeze(String member) {
        order("freeze " + member);
    }

    /** SIGCONT of a member of the kit. */
    public void thaw(String member) {
        order("thaw " + member);
    }

    /** Have a member of the kit not call poll() for this long. */
    public void stall(String member, Duration time) {
        order("stall " + member + " " + time.toMillis());
    }

    /** Hold back whatever a client and the brokers send each other; yours as well, by its client.id. */
    public void cut(String clientId) {
        order("cut " + clientId);
    }

    /** Let it pass again. */
    public void heal(String clientId) {
        order("heal " + clientId);
    }

    /** Make everything of a client take this much longer in either direction. */
    public void delay(String clientId, Duration time) {
        order("delay " + time.toMillis() + " " + clientId);
    }

    /** Let a topic grow. */
    public void partitions(String topic, int partitions) {
        order("partitions " + topic + " " + partitions);
    }

    /** SIGKILL of all brokers. */
    public void killBroker() {
        order("broker-kill");
    }

    /** Start the brokers again, and wait for them. */
    public void startBroker() {
        order("broker-start");
    }

    /** Wait until so many members are a stable group that owns every partition; fails after 90 s, and as soon as an application has died. */
    public void together(int members) {
        long end = System.nanoTime() + SETTLE.toNanos();
        while (true) {
            for (Running one : open) {
                if (one.failure() != null) {
                    throw new IllegalStateException(one.clientId() + " died of " + one.failure(), one.failure());
                }
            }
            try {
                order("together " + members + " 1");
                return;
            } catch (IllegalStateException notYet) {
                if (System.nanoTime() > end || !notYet.getMessage().contains(" within 1 s")) {
                    throw new IllegalStateException(notYet.getMessage().replace(" within 1 s", " within " + SETTLE.toSeconds() + " s"));
                }
            }
        }
    }

    // --- what came of them -----------------------------------------------------------------------

    /** Who owns each partition, by client.id, as the coordinator says. */
    public Map<String, String> owners() {
        Map<String, String> found = new TreeMap<>();
        order("owners").get("owners").fields().forEachRemaining(one -> found.put(one.getKey(), one.getValue().asText()));
        return found;
    }

    /** What the kit's members wrote down, in order of time: see the table of {@code truth.jsonl} in docs/live.md. */
    public List<JsonNode> rows(String... kinds) {
        List<JsonNode> found = new ArrayList<>();
        order("rows " + String.join(" ", kinds)).get("rows").forEach(found::add);
        return found;
    }

    /** The address for a consumer of your own; the proxy stands before it. */
    public String bootstrapServers() {
        return place.get("members").asText();
    }

    /** Run your application as a member of the group, in a thread of its own, until the test ends. */
    public Running run(String clientId, Application application) {
        Running made = new Running(this, clientId, application);
        made.begin();
        open.add(made);
        return made;
    }

    Map<String, Object> configs(String clientId) {
        Map<String, Object> made = new LinkedHashMap<>();
        made.put("bootstrap.servers", bootstrapServers());
        made.put("group.id", group);
        made.put("client.id", clientId);
        made.put("auto.offset.reset", "earliest");
        if (protocol.equals("consumer")) {
            made.put("group.protocol", "consumer");
        } else if (protocol.equals("cooperative")) {
            made.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
        }
        made.putAll(configs);
        return made;
    }

    List<String> topics() {
        List<String> names = new ArrayList<>();
        place.get("topics").fieldNames().forEachRemaining(names::add);
        return names;
    }

    // --- the process -----------------------------------------------------------------------------

    @Override
    public void beforeAll(ExtensionContext context) {
        ofTheClass = true;
        open();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        shut();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        if (!ofTheClass) {
            open();
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        open.forEach(Running::end);
        open.clear();
        if (!ofTheClass) {
            shut();
        }
    }

    private void open() {
        String named = System.getenv().getOrDefault("REBALANCE_KIT", "rebalance-kit");
        List<String> command = new ArrayList<>(List.of(named.trim().split(" +")));
        command.addAll(List.of("deeds", "--group", group, "--protocol", protocol));
        command.addAll(words);
        try {
            process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        } catch (IOException absent) {
            throw new IllegalStateException(
                named + " cannot be run (" + absent.getMessage() + "); expected rebalance-kit on the path, or its command in the environment's REBALANCE_KIT");
        }
        orders = process.outputWriter();
        answers = process.inputReader();
        place = answer();
    }

    private void shut() {
        open.forEach(Running::end);
        open.clear();
        if (process == null) {
            return;
        }
        try {
            orders.close();
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException gone) {
            process.destroyForcibly();
        } catch (InterruptedException early) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        process = null;
    }

    private synchronized JsonNode order(String line) {
        try {
            orders.write(line + "\n");
            orders.flush();
        } catch (IOException gone) {
            throw new UncheckedIOException("rebalance-kit has ended", gone);
        }
        return answer();
    }

    private JsonNode answer() {
        try {
            String line = answers.readLine();
            if (line == null) {
                throw new IllegalStateException("rebalance-kit ended; what it said stands in the output of this test");
            }
            JsonNode said = JSON.readTree(line);
            if (said.has("error")) {
                throw new IllegalStateException(said.get("error").asText());
            }
            return said;
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }
}
