/** The client as one file, as bundlers make it for a browser. */
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** The code of everything the package exports, as one minified ES module. */
export async function bundleClient(): Promise<string> {
  const bundle = await rolldown({ input: join(import.meta.dirname, '../../src/client/index.ts'), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return output[0].code;
}
