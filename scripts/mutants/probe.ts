/** Loaded by every Node.js process while reach is recorded: notes which functions a test file has called, each once. */
import { appendFileSync } from 'node:fs';

declare global {
  /** Called at the start of every function of src, which `reach.ts` puts there. */
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
