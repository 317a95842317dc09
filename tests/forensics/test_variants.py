"""Lines of one shape each, as loggers, collectors and consoles of many kinds write them: the event, its time and its group."""

from __future__ import annotations

import json

import pytest

from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.look import look

AT_MS = 1_795_227_325_032


def record(**fields: object) -> str:
    """A line of JSON."""
    return json.dumps(fields, separators=(",", ":"))


CLIENT = "[Consumer clientId=c1, groupId=orders] "
SAID = CLIENT + "Request joining group due to: group is already rebalancing"
BROKER = "[GroupCoordinator 1]: Preparing to rebalance group orders in state PreparingRebalance with old generation 6 (__consumer_offsets-3) (reason: removing member c1-3d088f73-0d4b-40a2-94b6-76a32dab4a9b on heartbeat expiration)"
LOGGER = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
NATIVE = 'Group "orders" heartbeat error response in state up (join-state steady, 3 partition(s) assigned): Broker: Group rebalance in progress'
LINES = {
    "log4j2 jsonlayout": record(
        instant={"epochSecond": 1795227325, "nanoOfSecond": 32000000},
        thread="main",
        level="INFO",
        loggerName=LOGGER,
        message=SAID,
        endOfBatch=False,
    ),
    "log4j2 json template ecs": record(
        **{
            "@timestamp": "2026-11-21T02:15:25.032Z",
            "ecs.version": "1.2.0",
            "log.level": "INFO",
            "message": SAID,
            "process.thread.name": "main",
            "log.logger": LOGGER,
        }
    ),
    "ecs nested": record(
        **{
            "@timestamp": "2026-11-21T02:15:25.032Z",
            "log": {"level": "INFO", "logger": LOGGER},
            "message": SAID,
        }
    ),
    "gelf": record(
        version="1.1", host="h", short_message=SAID, timestamp=1795227325.032, level=6, _logger=LOGGER
    ),
    "gelf full": record(
        version="1.1", host="h", short_message=SAID[:20], full_message=SAID, timestamp=1795227325.032, level=6
    ),
    "datadog": record(
        timestamp="2026-11-21T02:15:25.032Z",
        status="info",
        message=SAID,
        service="orders",
        logger={"name": LOGGER},
    ),
    "datadog export": record(
        id="AgAAA",
        content={
            "timestamp": "2026-11-21T02:15:25.032Z",
            "tags": ["env:prod"],
            "message": SAID,
            "service": "orders",
        },
    ),
    "fluentd record": "2026-11-21 02:15:25.032000000 +0000 kubernetes.var.log: "
    + record(log=f"2026-11-21 02:15:25,032 INFO  [main] {LOGGER} - {SAID}\n", stream="stdout"),
    "fluentbit record": record(
        date=1795227325.032,
        log=f"2026-11-21 02:15:25,032 INFO  [main] {LOGGER} - {SAID}\n",
        stream="stdout",
        kubernetes={"pod_name": "x"},
    ),
    "logfmt": f'time="2026-11-21T02:15:25.032Z" level=info logger={LOGGER} msg="{SAID}" thread=main',
    "logfmt ts": f'ts=2026-11-21T02:15:25.032Z level=info msg="{SAID}"',
    "loki cli": '2026-11-21T02:15:25Z {app="orders"} ' + f"2026-11-21 02:15:25,032 INFO {LOGGER} - {SAID}",
    "stackdriver": record(
        insertId="1",
        jsonPayload={"message": SAID, "level": "INFO"},
        timestamp="2026-11-21T02:15:25.032Z",
        severity="INFO",
    ),
    "stackdriver text": record(
        insertId="1",
        textPayload=f"2026-11-21 02:15:25.032  INFO 1 --- [main] o.a.k.c.c.i.ConsumerCoordinator : {SAID}",
        timestamp="2026-11-21T02:15:25.032Z",
    ),
    "journal short": f"Nov 21 02:15:25 host1 java[1234]: INFO {SAID} ({LOGGER})",
    "journal iso": f"2026-11-21T02:15:25+0000 host1 java[1234]: [2026-11-21 02:15:25,032] INFO {SAID} ({LOGGER})",
    "journal json": record(
        __REALTIME_TIMESTAMP="1795227325032000",
        MESSAGE=f"[2026-11-21 02:15:25,032] INFO {SAID} ({LOGGER})",
        _PID="1",
    ),
    "syslog 5424": f"<14>1 2026-11-21T02:15:25.032Z host app 1234 - - {SAID}",
    "ansi spring": f"\x1b[2m2026-11-21T02:15:25.032Z\x1b[0;39m \x1b[32m INFO\x1b[0;39m \x1b[35m8617\x1b[0;39m \x1b[2m---\x1b[0;39m \x1b[2m[orders] [ main]\x1b[0;39m \x1b[36mo.a.k.c.c.i.ConsumerCoordinator \x1b[0;39m \x1b[2m:\x1b[0;39m {SAID}",
    "ansi kafka": f"\x1b[32m[2026-11-21 02:15:25,032] INFO {SAID} ({LOGGER})\x1b[0m",
    "windows": f"[2026-11-21 02:15:25,032] INFO {SAID} ({LOGGER})\r",
    "quarkus": f"2026-11-21 02:15:25,032 INFO  [org.apa.kaf.cli.con.int.ConsumerCoordinator] (smallrye-kafka-consumer-thread-0) {SAID}",
    "quarkus json": record(
        timestamp="2026-11-21T02:15:25.032Z",
        sequence=1,
        loggerClassName="org.slf4j.impl.Slf4jLogger",
        loggerName=LOGGER,
        level="INFO",
        message=SAID,
    ),
    "strimzi broker": f"2026-11-21 02:15:25,032 INFO {BROKER} (kafka.coordinator.group.GroupCoordinator) [executor-Heartbeat]",
    "spring mdc": f"2026-11-21 02:15:25.032  INFO [orders,5f2c,9a1b] 1 --- [ntainer#0-0-C-1] o.a.k.c.c.i.ConsumerCoordinator : {SAID}",
    "spring mdc2": f"2026-11-21 02:15:25.032 [orders,traceId=5f2c,spanId=9a] INFO 1 --- [main] o.a.k : {SAID}",
    "spring boot 3 offset": f"2026-11-21T03:15:25.032+01:00  INFO 1 --- [orders] [main] [5f2c-9a1b] o.a.k.c.c.i.ConsumerCoordinator : {SAID}",
    "streams thread": f"2026-11-21 02:15:25,032 [app-1-StreamThread-1] INFO  {LOGGER} - {SAID.replace('clientId=c1', 'clientId=app-1-StreamThread-1-consumer')}",
    "streams prefix": f"2026-11-21 02:15:25,032 INFO stream-thread [app-1-StreamThread-1] {SAID} ({LOGGER})",
    "connect old": "[2026-11-21 02:15:25,032] INFO [Worker clientId=connect-1, groupId=orders] Rebalance started (org.apache.kafka.connect.runtime.distributed.WorkerCoordinator:222)",
    "connect task": f"[2026-11-21 02:15:25,032] INFO [sink-a|task-0] {SAID} ({LOGGER}:842)",
    "cfk": f"[INFO] 2026-11-21 02:15:25,032 [main] {LOGGER} handle - {SAID}",
    "level first": f"INFO  2026-11-21 02:15:25,032 [main] {LOGGER}: {SAID}",
    "level pipe": f"INFO|2026-11-21 02:15:25.032|main|{LOGGER}|{SAID}",
    "dropwizard": f"INFO  [2026-11-21 02:15:25,032] {LOGGER}: {SAID}",
    "flink": f"2026-11-21 02:15:25,032 INFO  {LOGGER} [] - {SAID}",
    "spark": f"26/11/21 02:15:25 INFO ConsumerCoordinator: {SAID}",
    "jul": f"Nov 21, 2026 2:15:25 AM {LOGGER} info\nINFO: {SAID}",
    "wildfly": f"02:15:25,032 INFO  [{LOGGER}] (default-threads - 1) {SAID}",
    "kibana discover": f"Nov 21, 2026 @ 02:15:25.032\t{SAID}",
    "kibana old": f"November 21st 2026, 02:15:25.032 {SAID}",
    "splunk": f'"2026-11-21T02:15:25.032+0000",h1,"{SAID}"',
    "go time": f"2026/11/21 02:15:25.032 {SAID}",
    "us date": f"11/21/2026 02:15:25.032 INFO {SAID}",
    "epoch ms": f"1795227325032 INFO {SAID}",
    "cloudwatch csv": f'1795227325032,"2026-11-21 02:15:25,032 INFO {LOGGER} - {SAID}"',
    "heroku": f"2026-11-21T02:15:25.032000+00:00 app[worker.1]: {SAID}",
    "azure": record(TimeGenerated="2026-11-21T02:15:25.032Z", LogEntry=f"{SAID}"),
    "gh actions": f"2026-11-21T02:15:25.0321234Z 2026-11-21 02:15:25,032 INFO {SAID}",
    "md quote": f"> 2026-11-21 02:15:25.032 INFO {SAID}",
    "nomad": f"    2026-11-21T02:15:25.032Z [INFO] kafka: {SAID}",
    "serilog rd": f"[02:15:25 DBG] {'[thrd:main]: ' + NATIVE}",
    "rd .net iso": f"2026-11-21T02:15:25.0320000Z [DEBUG] Kafka log: rdkafka#consumer-1: [thrd:main]: {NATIVE}",
    "rd go": f"%7|1795227325.032|HEARTBEAT|rdkafka#consumer-1| [thrd:main]: {NATIVE}",
    "rd go logger": f"2026/11/21 02:15:25 HEARTBEAT [thrd:main]: {NATIVE}",
    "rd node": record(
        severity=7,
        fac="HEARTBEAT",
        message=f"[thrd:main]: {NATIVE}",
        name="rdkafka#consumer-1",
        time="2026-11-21T02:15:25.032Z",
    ),
    "rd python logging": f"2026-11-21 02:15:25,032 DEBUG HEARTBEAT [rdkafka#consumer-1] [thrd:main]: {NATIVE}",
    "rd php": f"[2026-11-21 02:15:25] kafka.DEBUG: [thrd:main]: {NATIVE} []",
    "rd rust": f"[2026-11-21T02:15:25Z DEBUG librdkafka] librdkafka: HEARTBEAT [thrd:main]: {NATIVE}",
    "rd spring-like": f"DEBUG 2026-11-21T02:15:25.032Z rdkafka.consumer - rdkafka#consumer-1 - [thrd:main]: {NATIVE}",
    "kafkajs": record(
        level="ERROR",
        timestamp="2026-11-21T02:15:25.032Z",
        logger="kafkajs",
        message="[Connection] Response Heartbeat(key: 12, version: 3)",
        broker="b:9092",
        clientId="app",
        error="The group is rebalancing, so a rejoin is needed",
        correlationId=8,
        size=10,
    ),
    "kafkajs runner": record(
        level="WARN",
        timestamp="2026-11-21T02:15:25.032Z",
        logger="kafkajs",
        message="[Runner] The group is rebalancing, re-joining",
        groupId="orders",
        memberId="app-1",
        error="The group is rebalancing, so a rejoin is needed",
    ),
    "kafkajs joined": record(
        level="INFO",
        timestamp="2026-11-21T02:15:25.032Z",
        logger="kafkajs",
        message="[ConsumerGroup] Consumer has joined the group",
        groupId="orders",
        memberId="app-1",
        leaderId="app-1",
        isLeader=True,
        memberAssignment={"t": [0]},
        groupProtocol="RoundRobinAssigner",
        duration=3020,
    ),
    "kafkajs crash": record(
        level="ERROR",
        timestamp="2026-11-21T02:15:25.032Z",
        logger="kafkajs",
        message="[Consumer] Crash: KafkaJSNumberOfRetriesExceeded: The coordinator is not aware of this member",
        groupId="orders",
        retryCount=5,
    ),
    "kafkajs nest": "[Nest] 1  - 11/21/2026, 2:15:25 AM    WARN [ServerKafka] WARN [Runner] The group is rebalancing, re-joining "
    + record(timestamp="2026-11-21T02:15:25.032Z", logger="kafkajs", groupId="orders", memberId="m"),
    "sarama": "[sarama] 2026/11/21 02:15:25 consumergroup/session/sarama-3d08/7 heartbeat loop stopped",
    "sarama2": "[Sarama] 2026/11/21 02:15:25 loop check partition number goroutine will exit, topics [orders]",
    "sarama3": "2026/11/21 02:15:25 client/coordinator coordinator for consumergroup orders is #1 (b:9092)",
    "sarama4": "[sarama] 2026/11/21 02:15:25 kafka: error while consuming orders/0: kafka server: The provided member is not known in the current generation",
    "sarama5": "2026/11/21 02:15:25 kafka server: A rebalance for the group is in progress. Please re-join the group.",
    "franz": "[INFO] immediate metadata update triggered; why: waitmeta during find assignor",
    "franz join": "2026-11-21T02:15:25.032Z INFO joining group; group: orders",
    "franz joined": '{"level":"info","ts":1795227325.032,"msg":"joined, balancing group","group":"orders","member_id":"kgo-1","instance_id":"<nil>","generation":7,"balance_protocol":"cooperative-sticky","leader":true}',
    "franz hb": "[INFO] heartbeat errored; group: orders, err: REBALANCE_IN_PROGRESS: The group is rebalancing, so a rejoin is needed.",
    "franz synced": "[INFO] synced; group: orders, assigned: orders[0 1 2]",
    "franz assigned": "[INFO] new group session begun; group: orders, added: orders[0 1], lost: ",
    "franz leave": "[INFO] leaving group; group: orders, member_id: kgo-1",
    "aiokafka": "2026-11-21 02:15:25,032 INFO aiokafka.consumer.group_coordinator (Re-)joining group orders",
    "aiokafka2": "INFO:aiokafka.consumer.group_coordinator:Joined group 'orders' (generation 7) with member_id aiokafka-1-3d08",
    "aiokafka3": "WARNING:aiokafka.consumer.group_coordinator:Heartbeat failed: local member_id was not recognized; resetting and re-joining group",
    "kp unknown": "2026-11-21 02:15:25,032 - kafka.coordinator - WARNING - Heartbeat: local member_id was not recognized; this consumer needs to re-join",
    "kp caller": "2026-11-21 02:15:25,032 MainThread INFO (Re-)joining group orders, base-_send_join-470",
    "kp": "WARNING:kafka.coordinator.consumer:Heartbeat session expired, marking coordinator dead",
    "kp2": "2026-11-21 02:15:25 kafka.coordinator INFO Successfully joined group orders with generation 7",
    "kp3": "WARNING:kafka.coordinator:Heartbeat poll expired, leaving group",
    "kp21": "INFO:kafka.coordinator:<Coordinator> (Re-)joining group orders",
    "kp22": "INFO:kafka.coordinator.consumer:Leaving consumer group (consumer poll timeout has expired).",
    "kp23": "INFO:kafka.coordinator.heartbeat:Heartbeat: orders[kafka-python-2.0-1] generation 7 failed: RebalanceInProgressError",
    "kafka-go": "2026/11/21 02:15:25 joined group orders as member app@h-3d08 in generation 7",
    "kafka-go hb": "2026/11/21 02:15:25 stopped heartbeat for group orders",
    "kafka-go err": "2026/11/21 02:15:25 Failed to join group orders: [25] Unknown Member ID: the member id is not in the current generation",
    "ruby-kafka": "I, [2026-11-21T02:15:25.032 #1]  INFO -- : [[orders] {topic: 0}:] Joined group `orders` with member id `app-3d08`",
    "ruby-kafka2": "E, [2026-11-21T02:15:25.032 #1] ERROR -- : [[orders] {}:] Group is rebalancing; rejoining",
    "brod": "02:15:25.032 [info] Group member (orders,coor=#PID<0.1.0>,cb=#PID<0.2.0>,generation=7): elected=true",
    "brod2": "02:15:25.032 [info] Group member (orders,coor=#PID<0.1.0>,cb=#PID<0.2.0>,generation=7): re-joining group, reason:rebalance_in_progress",
    "brod3": "02:15:25.032 [info] Group member (orders,coor=#PID<0.1.0>,cb=#PID<0.2.0>,generation=7): leaving group, reason: :normal",
    "segmentio": 'time=2026-11-21T02:15:25Z level=error msg="Rebalance In Progress: the coordinator has begun rebalancing the group, the client should rejoin the group"',
}

#: Their lines tell no time, or a time of day only (journalctl and syslog: no year).
TIMELESS = {
    "gelf full",
    "journal short",
    "franz hb",
    "franz synced",
    "franz assigned",
    "franz leave",
    "aiokafka2",
    "aiokafka3",
    "kp",
    "kp3",
    "kp21",
    "kp22",
    "kp23",
}

#: A time of day alone: durations are true, the day is told as the first of 1970.
DAYLESS = {"serilog rd", "wildfly", "brod", "brod2", "brod3"}

#: Their lines do not name the group.
NAMELESS = {
    "kafkajs",
    "sarama",
    "sarama4",
    "sarama5",
    "aiokafka3",
    "kp",
    "kp unknown",
    "kp3",
    "kp22",
    "segmentio",
    "kp23",
}

#: Nothing in them decides.
SILENT = {"sarama2", "franz"}


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_understood_whatever_wrote_it(name: str, tmp_path) -> None:
    (tmp_path / "app.log").write_text(LINES[name] + "\n", newline="")
    events = look([tmp_path / "app.log"]).rows("events")
    if name in SILENT:
        assert events == []
        return
    (event,) = events
    assert event["group"] == (None if name in NAMELESS else "orders")
    # Some write whole seconds only.
    if name in DAYLESS:
        assert event["at_ms"] in {AT_MS % 86_400_000, AT_MS % 86_400_000 - 32}
        return
    assert event["at_ms"] in ({None} if name in TIMELESS else {AT_MS, AT_MS - 32})


def test_a_syslog_line_has_the_year_that_the_reader_gives(tmp_path) -> None:
    (tmp_path / "app.log").write_text(LINES["journal short"] + "\n")
    (event,) = look([tmp_path / "app.log"], Reading(year=2026)).rows("events")
    assert event["at_ms"] == AT_MS - 32
