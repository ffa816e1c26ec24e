/** `npm run bench` (docs/performance.md). */
await import('./operations.ts');
