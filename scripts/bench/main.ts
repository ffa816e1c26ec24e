/**
 * `npm run bench`: measures single operations; with `-- lists` lists of entities, with `-- bulk` many entities at once, and with `-- types` writes of declared
 * types, and with `-- rights` callers whose grants have rules (docs/performance.md).
 */
const kind = process.argv[2];
const kinds: Record<string, () => Promise<unknown>> = {
  lists: () => import('./lists/main.ts'),
  bulk: () => import('./bulk.ts'),
  types: () => import('./types.ts'),
  rights: () => import('./rights.ts'),
};
const measure = kind !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
if (measure) process.argv.splice(2, 1);
await (measure ?? (() => import('./operations.ts')))();
