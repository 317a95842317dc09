import { same } from "./assert.js";
import { narrowed } from "../quiz/parts/prose.js";

Deno.test("columns of an exhibit stand two blanks apart, and a sentence above them stays", () => {
  const rows = ["Warning: rebalancing.", "GROUP       HOST        #", "a           /127.0.0.1  3"];
  same(narrowed(rows), ["Warning: rebalancing.", "GROUP  HOST        #", "a      /127.0.0.1  3"]);
});

Deno.test("columns that differ in every row keep what stands in them, and lose blanks that all rows share", () => {
  same(narrowed(["ab    cd", "a     d", "abcdef  x   y"]), ["ab    cd", "a     d", "abcdef  x  y"]);
});
