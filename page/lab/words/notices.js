// Notices that several parts of the lab tell or take back.

/** Of the ends of a run; they go as soon as time goes on. */
export const ENDS = Object.freeze({ forward: "The run ends here.", back: "The run begins here." });
