/** `npm run bench`: measures single operations, with `-- lists` lists of entities, and with `-- bulk` many entities at once (docs/performance.md). */
const kind = process.argv[2];
if (kind === 'lists' || kind === 'bulk') process.argv.splice(2, 1);
if (kind === 'lists') await import('./lists/main.ts');
else if (kind === 'bulk') await import('./bulk.ts');
else await import('./operations.ts');
