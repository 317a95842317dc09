package io.github.rebalancekit.junit;

import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;

/** Your code under test: what it does with records, and in each callback of a rebalance. */
public interface Application {
    /** After each poll() that gave records. */
    void onRecords(ConsumerRecords<byte[], byte[]> records, Consumer<byte[], byte[]> consumer);

    /** {@code onPartitionsRevoked}. */
    default void onRevoked(Collection<TopicPartition> partitions, Consumer<byte[], byte[]> consumer) {}

    /** {@code onPartitionsAssigned}. */
    default void onAssigned(Collection<TopicPartition> partitions, Consumer<byte[], byte[]> consumer) {}

    /** {@code onPartitionsLost}; Kafka's own default calls the other one. */
    default void onLost(Collection<TopicPartition> partitions, Consumer<byte[], byte[]> consumer) {
        onRevoked(partitions, consumer);
    }

    /** Consumer configs of this application alone, such as {@code enable.auto.commit}. */
    default Map<String, Object> configs() {
        return Map.of();
    }
}
