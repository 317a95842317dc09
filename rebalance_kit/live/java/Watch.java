import java.io.*;
import java.lang.reflect.Method;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** What watches a run: writes a record per partition every 100 ms, describes the group every 250 ms, administers what its input says. */
public class Watch {
    private final Rows rows;
    private final Admin admin;
    private final KafkaProducer producer;
    private final String group;
    private final Map topics = new ConcurrentHashMap();

    public Watch(Rows rows, String bootstrap, String group) {
        this.rows = rows;
        this.group = group;
        Properties common = new Properties();
        common.put("bootstrap.servers", bootstrap);
        Properties own = new Properties();
        own.putAll(common);
        own.put("default.api.timeout.ms", "8000");
        own.put("request.timeout.ms", "4000");
        own.put("client.id", "watch");
        this.admin = Admin.create(own);
        own = new Properties();
        own.putAll(common);
        own.put("client.id", "producer");
        own.put("max.block.ms", "1000");
        own.put("acks", "1");
        own.put("key.serializer", ByteArraySerializer.class.getName());
        own.put("value.serializer", ByteArraySerializer.class.getName());
        this.producer = new KafkaProducer(own);
    }

    /** Arguments: file of the truth, bootstrap servers, group. */
    public static void main(String[] args) throws Exception {
        final Watch watch = new Watch(new Rows(args[0], "watch"), args[1], args[2]);
        Thread producing = new Thread() {
            public void run() {
                watch.produce();
            }
        };
        producing.setDaemon(true);
        producing.start();
        Thread describing = new Thread() {
            public void run() {
                watch.describe();
            }
        };
        describing.setDaemon(true);
        describing.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String outcome = "ok";
            try {
                watch.administer(line.split(" "));
            } catch (Exception error) {
                outcome = String.valueOf(error.getCause() == null ? error : error.getCause());
            }
            watch.rows.write("admin", ",\"line\":" + Rows.text(line) + ",\"outcome\":" + Rows.text(outcome));
            System.out.println(line + " -> " + outcome);
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private void administer(String[] words) throws Exception {
        if (words[0].equals("topic")) {
            NewTopic made = new NewTopic(words[1], Integer.parseInt(words[2]), (short) -1);
            try {
                admin.createTopics((Collection) Collections.singleton(made)).all().get(20L, TimeUnit.SECONDS);
            } catch (ExecutionException refused) {
                if (!(refused.getCause() instanceof TopicExistsException)) {
                    throw refused;
                }
            } // one that another group reads is written into from here as well
            topics.put(words[1], Integer.valueOf(words[2]));
        } else if (words[0].equals("partitions")) {
            NewPartitions grown = NewPartitions.increaseTo(Integer.parseInt(words[2]));
            admin.createPartitions(Collections.singletonMap(words[1], grown)).all().get(20L, TimeUnit.SECONDS);
            topics.put(words[1], Integer.valueOf(words[2]));
        } else if (words[0].equals("delete-topic")) {
            topics.remove(words[1]);
            admin.deleteTopics((Collection) Collections.singleton(words[1])).all().get(20L, TimeUnit.SECONDS);
        } else if (words[0].equals("remove-instance")) {
            MemberToRemove gone = new MemberToRemove(words[2]);
            RemoveMembersFromConsumerGroupOptions which = new RemoveMembersFromConsumerGroupOptions((Collection) Collections.singleton(gone));
            admin.removeMembersFromConsumerGroup(words[1], which).all().get(20L, TimeUnit.SECONDS);
        } else if (words[0].equals("remove-all")) {
            admin.removeMembersFromConsumerGroup(words[1], new RemoveMembersFromConsumerGroupOptions()).all().get(20L, TimeUnit.SECONDS);
        } else if (!words[0].equals("hello")) {
            throw new IllegalArgumentException("unknown order");
        }
    }

    private void produce() {
        byte[] value = new byte[] {1};
        long next = System.currentTimeMillis();
        while (true) {
            for (Iterator i = topics.entrySet().iterator(); i.hasNext();) {
                Map.Entry one = (Map.Entry) i.next();
                int many = ((Integer) one.getValue()).intValue();
                for (int partition = 0; partition < many; partition++) {
                    try {
                        producer.send(new ProducerRecord((String) one.getKey(), Integer.valueOf(partition), null, value));
                    } catch (Exception notNow) {
                        // a partition that does not exist yet, or a broker that is away
                        break;
                    }
                }
            }
            next = Math.max(next + 100L, System.currentTimeMillis() - 500L);
            pause(next - System.currentTimeMillis());
        }
    }

    private void describe() {
        String before = "";
        while (true) {
            String now = before;
            try {
                Map found = (Map) admin.describeConsumerGroups((Collection) Collections.singleton(group)).all().get(4L, TimeUnit.SECONDS);
                now = described(found.get(group));
            } catch (Exception notNow) {
                // no such group yet, or a broker that is away
            }
            if (!now.equals(before)) {
                rows.write("describe", now);
                before = now;
            }
            pause(250L);
        }
    }

    private String described(Object about) {
        TreeMap members = new TreeMap();
        for (Iterator i = ((Collection) asked(about, "members")).iterator(); i.hasNext();) {
            Object one = i.next();
            String name = asked(one, "clientId") + "/" + asked(one, "consumerId");
            members.put(name, Rows.text(name) + ":{\"owned\":" + held(asked(one, "assignment")) + ",\"target\":" + held(asked(one, "targetAssignment"))
                + ",\"epoch\":" + asked(one, "memberEpoch") + ",\"upgraded\":" + asked(one, "upgraded")
                + ",\"instance\":" + Rows.text(asked(one, "groupInstanceId")) + "}");
        }
        Object state = asked(about, "groupState");
        Object shown = state == null ? asked(about, "state") : state;
        return ",\"group\":" + Rows.text(group) + ",\"type\":" + Rows.text(asked(about, "type")) + ",\"state\":" + Rows.text(shown)
            + ",\"assignor\":" + Rows.text(asked(about, "partitionAssignor")) + ",\"epoch\":" + asked(about, "groupEpoch")
            + ",\"coordinator\":" + asked(asked(about, "coordinator"), "id") + ",\"target_epoch\":" + asked(about, "targetAssignmentEpoch") + ",\"members\":{" + Rows.join(members.values()) + "}";
    }

    private static String held(Object assignment) {
        return assignment == null ? "[]" : Rows.partitions((Collection) asked(assignment, "topicPartitions"));
    }

    /** What a method without arguments gives, an Optional opened; null where this version of Kafka has no such method. */
    private static Object asked(Object whom, String method) {
        if (whom == null) {
            return null;
        }
        try {
            Object given = whom.getClass().getMethod(method, new Class[0]).invoke(whom, new Object[0]);
            return given instanceof Optional ? ((Optional) given).orElse(null) : given;
        } catch (Exception absent) {
            return null;
        }
    }

    private static void pause(long ms) {
        if (ms > 0L) {
            try {
                Thread.sleep(ms);
            } catch (InterruptedException early) {
                Runtime.getRuntime().halt(3);
            }
        }
    }
}
