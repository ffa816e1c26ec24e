/** `npm run bench`: measures single operations, and with `-- lists` lists of entities (docs/performance.md). */
if (process.argv[2] === 'lists') {
  process.argv.splice(2, 1);
  await import('./lists/main.ts');
} else {
  await import('./operations.ts');
}
