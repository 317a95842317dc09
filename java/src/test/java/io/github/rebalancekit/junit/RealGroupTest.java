package io.github.rebalancekit.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Applications with a fault and without, on a real group: the fault is found, and the right one passes. */
class RealGroupTest {
    @RegisterExtension
    final RealGroup group = new RealGroup().protocol("cooperative").config("session.timeout.ms", 6000).config("heartbeat.interval.ms", 2000);

    /** Commits every fifty records, and what leaves it. */
    static class Careful implements Application {
        private int since;

        @Override
        public Map<String, Object> configs() {
            return Map.of("enable.auto.commit", "false");
        }

        @Override
        public void onRecords(ConsumerRecords<byte[], byte[]> records, Consumer<byte[], byte[]> consumer) {
            since += records.count();
            if (since >= 50) {
                try {
                    consumer.commitSync();
                    since = 0;
                } catch (CommitFailedException | RebalanceInProgressException | RetriableException notNow) {
                    // poll() completes the rebalance; the next batch commits
                }
            }
        }

        @Override
        public void onRevoked(Collection<TopicPartition> partitions, Consumer<byte[], byte[]> consumer) {
            Map<TopicPartition, OffsetAndMetadata> leaving = new ConcurrentHashMap<>();
            partitions.forEach(one -> leaving.put(one, new OffsetAndMetadata(consumer.position(one))));
            try {
                consumer.commitSync(leaving);
            } catch (CommitFailedException | RebalanceInProgressException | RetriableException late) {
                // the next owner reads it again
            }
        }

        @Override
        public void onLost(Collection<TopicPartition> partitions, Consumer<byte[], byte[]> consumer) {}
    }

    /** Forgets what leaves it: the next owner reads it again. */
    static class Careless extends Careful {
        @Override
        public void onRevoked(Collection<TopicPartition> partitions, Consumer<byte[], byte[]> consumer) {}
    }

    /** Keeps a count of each partition in memory, and the store behind it. */
    static class Counts implements Application {
        final Map<TopicPartition, Long> memory = new ConcurrentHashMap<>();
        final Set<TopicPartition> stale = new TreeSet<>((a, b) -> a.toString().compareTo(b.toString()));

        @Override
        public void onRecords(ConsumerRecords<byte[], byte[]> records, Consumer<byte[], byte[]> consumer) {
            for (TopicPartition one : records.partitions()) {
                long first = records.records(one).get(0).offset();
                if (memory.getOrDefault(one, first) < first) {
                    stale.add(one); // others have counted on since
                }
                memory.put(one, first + records.records(one).size());
            }
        }
    }

    private void aMemberComesAndGoes(Running mine) {
        group.together(1);
        group.start("other");
        group.together(2);
        group.close("other");
        group.together(1);
        mine.assertNoRecordLost();
        mine.assertCallbacksWithin(Duration.ofSeconds(5));
    }

    @Test
    void whatLeavesIsCommitted() {
        Running mine = group.run("mine", new Careful());
        group.together(1);
        group.start("other");
        group.together(2);
        mine.assertNoRecordLost();
        mine.assertAtMostTwice(0);
        assertEquals(Set.of("mine", "other"), Set.copyOf(group.owners().values()));
    }

    @Test
    void whatIsNotCommittedComesTwice() {
        Running mine = group.run("mine", new Careless());
        group.together(1);
        group.start("other");
        group.together(2);
        AssertionError told = assertThrows(AssertionError.class, () -> mine.assertAtMostTwice(0));
        assertTrue(told.getMessage().contains("were handed out again"), told.getMessage());
    }

    @Test
    void aCountThatOutlivesItsPartitionIsOld() {
        Counts counts = new Counts();
        aMemberComesAndGoes(group.run("mine", counts));
        assertTrue(!counts.stale.isEmpty(), "the fault shows");

        Counts right = new Counts() {
            @Override
            public void onRevoked(Collection<TopicPartition> partitions, Consumer<byte[], byte[]> consumer) {
                partitions.forEach(memory::remove);
            }
        };
        group.run("right", right);
        group.together(2);
        group.start("third");
        group.together(3);
        group.close("third");
        group.together(2);
        assertTrue(right.stale.isEmpty(), () -> "old counts of " + right.stale);
    }

    @Test
    void aMemberThatIsCutOffLosesItsPartitions() {
        Running mine = group.run("mine", new Careful());
        group.start("other");
        group.together(2);
        group.cut("mine");
        group.together(1);
        assertEquals(Set.of("other"), Set.copyOf(group.owners().values()));
        group.heal("mine");
        group.together(2);
        mine.assertNoRecordLost();
    }

    @Test
    void anApplicationThatDiedFailsEveryAssertionAtOnce() {
        Running mine = group.run("mine", (records, consumer) -> {
            throw new IllegalStateException("no database");
        });
        group.start("other");
        IllegalStateException told = assertThrows(IllegalStateException.class, () -> group.together(2));
        assertEquals("mine died of java.lang.IllegalStateException: no database", told.getMessage(), "not that the group did not come within 90 s");
        assertThrows(AssertionError.class, mine::assertNoRecordLost);
        assertThrows(AssertionError.class, () -> mine.assertAtMostTwice(1_000_000));
    }

    @Test
    void aDeedThatIsNoneIsTold() {
        IllegalStateException told = assertThrows(IllegalStateException.class, () -> group.kill("nobody"));
        assertTrue(told.getMessage().contains("was never started"), told.getMessage());
    }
}
