/** The bundled size of the client, as its README states it. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bundleClient } from '../support/client-bundle.ts';
import { readDocument } from '../support/markdown.ts';

test('the sizes in the README are those of a bundle, to half a kilobyte', async () => {
  const [, minified, zipped] =
    /about ([\d.]+) kB minified and ([\d.]+) kB with gzip/.exec(readDocument('src/client/README.md').replaceAll('\n', ' ')) ?? [];
  const code = await bundleClient();
  const off = [Buffer.byteLength(code) / 1000 - Number(minified), gzipSync(code, { level: 9 }).length / 1000 - Number(zipped)];
  for (const kilobytes of off) expect(Math.abs(kilobytes)).toBeLessThan(0.5);
});
