package io.github.rebalancekit.junit;

import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

/** The model application lives on when a commit is refused, in each of Kafka's ways to refuse one. */
class CarefulTest {
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);

    @Test
    void aRefusedCommitEndsNothing() {
        for (RuntimeException refusal : List.of(new CommitFailedException(), new RebalanceInProgressException(), new TimeoutException())) {
            MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest") {
                @Override
                public synchronized void commitSync() {
                    throw refusal;
                }

                @Override
                public synchronized void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets) {
                    throw refusal;
                }
            };
            consumer.assign(List.of(ORDERS));
            consumer.seek(ORDERS, 0);
            ConsumerRecord<byte[], byte[]> one = new ConsumerRecord<>("orders", 0, 0, null, null);
            RealGroupTest.Careful careful = new RealGroupTest.Careful();
            for (int count = 0; count < 50; count++) {
                careful.onRecords(new ConsumerRecords<>(Map.of(ORDERS, List.of(one)), Map.of()), consumer);
            }
            careful.onRevoked(List.of(ORDERS), consumer);
        }
    }
}
