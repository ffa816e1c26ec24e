/** A million entities into the service and out of it, in a process of its own each time, as operators do. */
import { spawn } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { declareType } from '../support/entities.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { useService } from '../support/service.ts';
import { npmStart, primaryOf, project } from '../support/start.ts';

const million = 1_000_000;
const few = 200_000;
/** How much more memory a million may take than a few: a garbage collector is late, but all rows of the file would be several times that. */
const growthMiB = 128;
const mebibyte = 1_048_576;

const service = useService();
const directory = await scratchDirectory('million');
const fileOf = (name: string) => join(directory, name);

const string = { type: 'string' };
const customer = {
  type: 'object',
  properties: {
    email: string,
    note: string,
    price: { type: 'string', format: 'decimal' },
    owner: { type: 'string', format: 'int64' },
    rate: { type: 'number' },
    place: { type: ['string', 'null'] },
  },
  'x-unique': [{ fields: ['email'] }],
};
const notes = ['""', '"=1+1"', '"two\\nlines"', '"semi;colon, comma and \\"quotes\\""', '"\\\\N"', '"Ünïcödé 🙂"'];

/** JSON text, so that each digit counts. */
function rowOf(n: number): string {
  const note = n % 7 === 0 ? '' : `,"note":${notes[n % notes.length]}`;
  const place = n % 3 === 0 ? '' : `,"place":${n % 3 === 1 ? 'null' : '"York"'}`;
  return `{"email":"c${n}@example.com"${note},"price":"${n}.50","owner":"9007199254${n}","rate":1.${n}0${place},"more":{"n":${n}}}\n`;
}

async function writeRows(name: string, count: number): Promise<void> {
  const lines = function* () {
    for (let from = 1; from <= count; from += 1_000) yield Array.from({ length: 1_000 }, (_, index) => rowOf(from + index)).join('');
  };
  await pipeline(Readable.from(lines()), createWriteStream(fileOf(name)));
}

/** The most memory that the process has had so far, in MiB. */
async function peakOf(pid: number): Promise<number> {
  const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round((Number(kilobytes ?? 0) * 1_024) / mebibyte);
}

/** Runs the administration command to its end. */
async function admin(words: readonly string[]): Promise<{ document: Record<string, unknown>; peak: number }> {
  const child = spawn(process.execPath, ['-r', './scripts/bootstrap.cjs', 'src/cli/main.ts', 'entities', ...words, '--json'], {
    cwd: project,
    env: { PATH: process.env['PATH'], DATABASE_URL: service().databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
  let peak = 0;
  while (child.exitCode === null) {
    peak = Math.max(peak, await peakOf(child.pid ?? 0).catch(() => 0));
    await delay(100);
  }
  await closed;
  const [stdout, stderr] = await outputs;
  expect([child.exitCode, stderr]).toEqual([
    0,
    expect.stringMatching(/^(\d+ (rows|entities)(, \d+\/s)?\n)*(note: ignored the columns \$key\n)?$/),
  ]);
  return { document: JSON.parse(stdout) as Record<string, unknown>, peak };
}

/** The digest of the fields of all entities of an export of NDJSON, in its order, and their number. */
async function fieldsIn(name: string): Promise<{ count: number; digest: string }> {
  const hash: Hash = createHash('sha256');
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(fileOf(name)) })) {
    if (line.startsWith('{"$complete"')) continue;
    hash.update(line.slice(line.indexOf('"fields":')));
    count += 1;
  }
  return { count, digest: hash.digest('hex') };
}

const eventCount = async () =>
  Number(
    (
      await service()
        .db.selectFrom('audit_event')
        .select(({ fn }) => fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  );

beforeAll(async () => {
  await service().createUser('ada');
  for (const name of ['customer', 'copy', 'table']) await declareType(service(), name, customer);
  await writeRows('few.ndjson', few);
  await writeRows('million.ndjson', million);
}, 120_000);

test(
  'a million entities survive imports and exports as NDJSON and CSV, in the memory that a few need',
  { timeout: 1_800_000 },
  async ({ annotate }) => {
    const words = (name: string, file: string) => ['import', name, fileOf(file), '--as', 'ada', '--by', 'email'];
    const base = await admin(words('customer', 'few.ndjson'));
    const first = await admin(words('customer', 'million.ndjson'));
    expect(first.document).toMatchObject({ row: million, created: million - few, updated: 0, unchanged: few, failed: 0, done: true });

    const server = await npmStart({ DATABASE_URL: service().databaseUrl });
    await server.ready;
    const pid = await primaryOf(server);
    const cookie = await service().openSession((await service().createUser('grace')).id);
    const download = async (name: string, file: string, filter = '') => {
      const answer = await fetch(`${server.url}/rest/entity/${name}/export${filter}`, { headers: { cookie } });
      expect(answer.status).toBe(200);
      await pipeline(Readable.fromWeb(answer.body as never), createWriteStream(fileOf(file)));
      return await peakOf(pid);
    };
    const little = await download('customer', 'little.ndjson', '?filter={"email":{"$lt":"c2"}}');
    const much = await download('customer', 'one.ndjson');

    const copied = await admin(words('copy', 'one.ndjson'));
    expect(copied.document).toMatchObject({ created: million, unchanged: 0, failed: 0 });
    const events = await eventCount();
    const again = await admin(words('copy', 'one.ndjson'));
    expect(again.document).toMatchObject({ created: 0, updated: 0, unchanged: million, failed: 0 });
    expect(await eventCount()).toBe(events);
    const exported = await admin(['export', 'copy', fileOf('two.ndjson')]);
    const original = await fieldsIn('one.ndjson');
    expect(original.count).toBe(million);
    expect(await fieldsIn('two.ndjson')).toEqual(original);

    await admin(['export', 'copy', fileOf('copy.csv')]);
    const fromCsv = await admin(words('table', 'copy.csv'));
    expect(fromCsv.document).toMatchObject({ created: million, failed: 0 });
    await admin(['export', 'table', fileOf('three.ndjson')]);
    expect(await fieldsIn('three.ndjson')).toEqual(original);

    const peaks = { few: base, million: first, copy: copied, again, csv: fromCsv, export: exported };
    await annotate(
      JSON.stringify({ peaks: Object.fromEntries(Object.entries(peaks).map(([what, { peak }]) => [what, peak])), little, much }),
    );
    for (const [what, { peak }] of Object.entries(peaks)) expect(peak, what).toBeLessThan(base.peak + growthMiB);
    expect(much).toBeLessThan(little + growthMiB);
  },
);
