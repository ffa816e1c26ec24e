/** Loaded by each Node.js process while reach is recorded: records the functions that a test file has called, each once. */
import { appendFileSync } from 'node:fs';

declare global {
  /** `reach.ts` inserts a call of this at the start of each function of src. */
  var noteReached: ((id: string) => void) | undefined;
}

const noted = new Set<string>();

globalThis.noteReached = (id) => {
  const { REACH_TEST: test, REACH_FILE: file } = process.env;
  const line = `${test} ${id}\n`;
  if (!test || !file || noted.has(line)) return;
  noted.add(line);
  appendFileSync(file, line);
};
