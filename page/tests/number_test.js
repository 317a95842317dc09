import {
  asKafkaWrites,
  changeWords,
  inWords,
  moved,
  pieces,
  settingsOf,
  stepOf,
} from "../lab/numbers/number.js";
import { same } from "./assert.js";

const SETTINGS = settingsOf({
  numbers: {
    "session.timeout.ms": [45_000, 0, 2_147_483_647],
    "group.consumer.session.timeout.ms": [45_000, 0, 2_147_483_647],
    "members": [2, 1, 100],
    "partitions.orders": [4, 1, 1000],
  },
});

Deno.test("a step is the second digit by one, and never less than one", () => {
  same([45_000, 6_000, 300_000, 500, 12, 4, 0].map(stepOf), [1_000, 100, 10_000, 10, 1, 1, 1]);
});

Deno.test("a number is moved by whole steps from where it began, within its bounds", () => {
  const members = { name: "members", value: 2, least: 1, most: 100 };
  same([3, -1, -9, 0.4].map((steps) => moved(members, steps)), [5, 1, 1, 2]);
});

Deno.test("times are read in seconds from one second on", () => {
  same(inWords("session.timeout.ms", 45_000), "45.0 s");
  same(inWords("processing_ms", 40), "40 ms");
  same(inWords("max.poll.records", 500), "500");
});

Deno.test("a setting that is named gets its value, and one that stands behind it gives way", () => {
  same(pieces("It ends (session.timeout.ms).", SETTINGS), [
    "It ends (session.timeout.ms ",
    { name: "session.timeout.ms" },
    ").",
  ]);
  same(pieces("until group.consumer.session.timeout.ms (45.0 s) has passed", SETTINGS), [
    "until group.consumer.session.timeout.ms (",
    { name: "group.consumer.session.timeout.ms" },
    ") has passed",
  ]);
});

Deno.test("other words stay as they are", () => {
  same(pieces("members of max.poll.interval.ms", SETTINGS), ["members of max.poll.interval.ms"]);
  same(pieces("All 3 partitions are unread.", SETTINGS), ["All 3 partitions are unread."]);
  same(pieces("", SETTINGS), [""]);
});

Deno.test("all partitions of the only topic are its number", () => {
  same(pieces("All 4 partitions flow.", SETTINGS), [
    "All ",
    { name: "partitions.orders" },
    " partitions flow.",
  ]);
});

Deno.test("a change of a setting is said as people read its values", () => {
  same(changeWords("session.timeout.ms", "45000", "12000"), "session.timeout.ms 45.0 s → 12.0 s");
  same(changeWords("group.instance.id", "", "own name"), "group.instance.id none → own name");
});

Deno.test("a time may be typed with its unit", () => {
  same(asKafkaWrites("session.timeout.ms", "22.5 s"), "22500");
  same(asKafkaWrites("processing_ms", "500ms"), "500");
  same(asKafkaWrites("max.poll.interval.ms", "5 min"), "300000");
  same(asKafkaWrites("session.timeout.ms", "22500"), "22500");
  same(asKafkaWrites("session.timeout.ms", "soon"), "soon");
  same(asKafkaWrites("max.poll.records", "5 s"), "5 s");
});
