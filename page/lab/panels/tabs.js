// The tabs, in their order.

/** Name and words of each tab. */
export const TABS = Object.freeze(
  /** @type {[string, string][]} */ ([
    ["flow", "Flow"],
    ["timeline", "Timeline"],
    ["messages", "Messages"],
    ["logs", "Logs"],
    ["cli", "CLI"],
    ["metrics", "Metrics"],
    ["members", "Members"],
    ["why", "Why"],
    ["invariants", "Invariants"],
  ]),
);
/** Tabs whose content the kernel writes. */
export const FROM_KERNEL = new Set(["logs", "cli", "metrics", "members", "why", "invariants"]);
