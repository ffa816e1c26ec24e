import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the modules of the service do not load fetch and WebSocket, as an import of node:http does', async () => {
  const loads = async (module: string) => {
    const program = `await import(${JSON.stringify(module)}); console.log(process.moduleLoadList.join());`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
    return stdout;
  };
  expect(await loads('node:http')).toContain('undici');
  for (const module of ['service', 'start/prepare-database', 'embedded/embedded'])
    expect(await loads(`./src/${module}.ts`)).not.toContain('undici');
});
