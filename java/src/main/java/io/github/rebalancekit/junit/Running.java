package io.github.rebalancekit.junit;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** An application that runs as a member: what it was handed and how long its callbacks took, and assertions about both. */
public final class Running {
    private final RealGroup group;
    private final String clientId;
    private final Application application;
    private final Thread thread;
    private final ConcurrentLinkedQueue<Delivery> handed = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Callback> callbacks = new ConcurrentLinkedQueue<>();
    private final KafkaConsumer<byte[], byte[]> consumer;
    private volatile boolean stopped;
    private volatile Throwable failure;

    private record Delivery(long atMs, String partition, long first, long last) {}

    private record Callback(String name, Collection<TopicPartition> partitions, Duration took, RuntimeException raised) {}

    Running(RealGroup group, String clientId, Application application) {
        this.group = group;
        this.clientId = clientId;
        this.application = application;
        Map<String, Object> configs = group.configs(clientId);
        configs.putAll(application.configs());
        this.consumer = new KafkaConsumer<>(configs, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.thread = new Thread(this::poll, clientId);
    }

    String clientId() {
        return clientId;
    }

    Throwable failure() {
        return failure;
    }

    void begin() {
        thread.setDaemon(true);
        thread.start();
    }

    /** Close its consumer, and wait for that. */
    public void end() {
        stopped = true;
        consumer.wakeup();
        try {
            thread.join(30_000);
        } catch (InterruptedException early) {
            Thread.currentThread().interrupt();
        }
    }

    /** No callback raised, and none took longer. */
    public void assertCallbacksWithin(Duration most) {
        for (Callback one : callbacks) {
            if (one.raised != null) {
                throw new AssertionError(one.name + " of " + clientId + " raised " + one.raised, one.raised);
            }
            if (one.took.compareTo(most) > 0) {
                throw new AssertionError(one.name + " of " + clientId + " took " + one.took.toMillis() + " ms, " + most.toMillis() + " were allowed");
            }
        }
        assertAlive();
    }

    private void assertAlive() {
        if (failure != null) {
            throw new AssertionError(clientId + " died of " + failure, failure);
        }
    }

    /** No partition has a hole, and the application lives: whoever read on began where somebody had stopped, or before. */
    public void assertNoRecordLost() {
        assertAlive();
        Map<String, Long> next = new TreeMap<>();
        for (Delivery one : deliveries()) {
            long expected = next.getOrDefault(one.partition, 0L);
            if (one.first > expected) {
                throw new AssertionError(one.first - expected + " records of " + one.partition + " from offset " + expected + " on were handed to nobody");
            }
            next.merge(one.partition, one.last + 1, Math::max);
        }
    }

    /** At most so many records were handed out a second time, to this application, which lives, or to another member. */
    public void assertAtMostTwice(long most) {
        assertAlive();
        Map<String, Long> next = new TreeMap<>();
        Map<String, Long> again = new TreeMap<>();
        for (Delivery one : deliveries()) {
            long known = next.getOrDefault(one.partition, 0L);
            long twice = Math.max(0, Math.min(one.last + 1, known) - one.first);
            if (twice > 0) {
                again.merge(one.partition, twice, Long::sum);
            }
            next.merge(one.partition, one.last + 1, Math::max);
        }
        long sum = again.values().stream().mapToLong(Long::longValue).sum();
        if (sum > most) {
            throw new AssertionError(sum + " records were handed out again " + again + ", " + most + " were allowed");
        }
    }

    /** What this application and the kit's members were handed, in order of time. */
    private List<Delivery> deliveries() {
        List<Delivery> all = new ArrayList<>(handed);
        for (JsonNode row : group.rows("records")) {
            row.get("records").fields().forEachRemaining(one ->
                all.add(new Delivery(row.get("t").asLong(), one.getKey(), one.getValue().get(0).asLong(), one.getValue().get(1).asLong())));
        }
        all.sort((one, other) -> Long.compare(one.atMs, other.atMs));
        return all;
    }

    private void poll() {
        try (consumer) {
            consumer.subscribe(group.topics(), new Listener());
            while (!stopped) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
                long now = System.currentTimeMillis();
                for (TopicPartition partition : records.partitions()) {
                    var held = records.records(partition);
                    handed.add(new Delivery(now, partition.toString(), held.get(0).offset(), held.get(held.size() - 1).offset()));
                }
                if (!records.isEmpty()) {
                    application.onRecords(records, consumer);
                }
            }
        } catch (WakeupException end) {
            // as asked for
        } catch (Throwable raised) {
            failure = raised;
        }
    }

    private final class Listener implements ConsumerRebalanceListener {
        private void called(String name, Collection<TopicPartition> partitions, BiConsumer<Collection<TopicPartition>, Consumer<byte[], byte[]>> call) {
            long begun = System.nanoTime();
            RuntimeException raised = null;
            try {
                call.accept(partitions, consumer);
            } catch (RuntimeException error) {
                raised = error;
                throw error;
            } finally {
                callbacks.add(new Callback(name, List.copyOf(partitions), Duration.ofNanos(System.nanoTime() - begun), raised));
            }
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            called("onPartitionsAssigned", partitions, application::onAssigned);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            called("onPartitionsRevoked", partitions, application::onRevoked);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            called("onPartitionsLost", partitions, application::onLost);
        }
    }
}
