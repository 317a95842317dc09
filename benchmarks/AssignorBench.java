// Times one of Kafka's own client assignors on a group read from a file; benchmarks/assignors.py starts it.
//
// Lines of the file, fields separated by tabs:
//   group, assignor, title
//   topic, name, partitions, and the halves of its id
//   member, id, topics separated by commas, generation or -1, owned partitions as topic:number separated by commas
// Prints the median of the timed runs in milliseconds, then for each member: id, tab, its partitions in Kafka's order.

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

public class AssignorBench {
    public static void main(String[] args) throws Exception {
        boolean sticky = args[0].equals("sticky");
        int warmUps = Integer.parseInt(args[2]);
        int runs = Integer.parseInt(args[3]);
        List<String> ids = new ArrayList<>();
        Map<String, Subscription> members = new HashMap<>();
        List<PartitionInfo> infos = new ArrayList<>();
        Node node = new Node(0, "broker", 9092);
        Node[] replicas = {node};
        for (String line : Files.readAllLines(Path.of(args[1]))) {
            String[] field = line.split("\t", -1);
            if (field[0].equals("topic")) {
                for (int p = 0; p < Integer.parseInt(field[2]); p++)
                    infos.add(new PartitionInfo(field[1], p, node, replicas, replicas));
            } else if (field[0].equals("member")) {
                ids.add(field[1]);
                members.put(field[1], subscription(sticky, field));
            }
        }
        Cluster cluster = new Cluster("bench", List.of(node), infos, Set.of(), Set.of());
        GroupSubscription group = new GroupSubscription(members);
        double[] elapsed = new double[runs];
        Map<String, Assignment> answer = null;
        for (int run = -warmUps; run < runs; run++) {
            for (Subscription subscription : members.values())
                if (subscription.userData() != null)
                    subscription.userData().rewind(); // the assignor reads it to the end
            ConsumerPartitionAssignor assignor = sticky ? new StickyAssignor() : new CooperativeStickyAssignor();
            long start = System.nanoTime();
            answer = assignor.assign(cluster, group).groupAssignment();
            if (run >= 0)
                elapsed[run] = (System.nanoTime() - start) / 1e6;
        }
        Arrays.sort(elapsed);
        StringBuilder out = new StringBuilder().append(elapsed[runs / 2]).append('\n');
        for (String id : ids) {
            List<String> share = new ArrayList<>();
            for (TopicPartition partition : answer.get(id).partitions())
                share.add(partition.topic() + ":" + partition.partition());
            out.append(id).append('\t').append(String.join(",", share)).append('\n');
        }
        System.out.print(out);
    }

    private static Subscription subscription(boolean sticky, String[] field) {
        List<String> topics = Arrays.asList(field[2].split(","));
        int generation = Integer.parseInt(field[3]);
        List<TopicPartition> owned = new ArrayList<>();
        if (!field[4].isEmpty())
            for (String text : field[4].split(","))
                owned.add(new TopicPartition(text.substring(0, text.lastIndexOf(':')), Integer.parseInt(text.substring(text.lastIndexOf(':') + 1))));
        if (!sticky)
            return new Subscription(topics, null, owned, generation, Optional.empty());
        ByteBuffer userData = null;
        if (generation >= 0) {
            StickyAssignor own = new StickyAssignor();
            own.onAssignment(new Assignment(owned), new ConsumerGroupMetadata("group", generation, field[1], Optional.empty()));
            userData = own.subscriptionUserData(new HashSet<>(topics));
        }
        return new Subscription(topics, userData, List.of(), generation, Optional.empty());
    }
}
