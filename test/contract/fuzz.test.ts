/**
 * Thousands of random requests to all operations. Every answer must be declared in openapi.yaml, in time, and never a 5xx. More than half
 * of the requests are valid and must succeed, with each of the four credentials. `npm run test:fuzz -- --cases 100000 --seed 1` sends more.
 */
import * as fc from 'fast-check';
import type { LightMyRequestResponse } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../src/contract/contract.ts';
import { listTypes } from '../../src/entity-types/store.ts';
import { allActions } from '../../src/rights/vocabulary.ts';
import { found } from '../support/contract.ts';
import { seed as seedRow } from '../support/entities.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { operations } from '../support/operations.ts';
import { useService } from '../support/service.ts';
import { drafts, draftsOf, waysOf, type Draft, type Way } from '../support/valid-requests.ts';
import { anything, oneOff, oversized, type RandomRequest } from '../support/random-requests.ts';
import { document, typedRequests, types } from '../support/random-typed-requests.ts';
import { ValidCaller, type Sent } from '../support/valid-caller.ts';

const isSuite = process.env['FUZZ_CASES'] === undefined;
const cases = Number(process.env['FUZZ_CASES'] ?? 2_000);
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
/** The time limit of each request, in milliseconds. */
const hangs = 10_000;
const timeout = 60_000 + cases * 30;

const corp = await TestIssuer.start('corp');
const service = useService({ BODY_LIMIT_BYTES: '65536', ISSUERS_FILE: await writeIssuers(await corp.loginEntry()) });
let world: ValidCaller;
let users: string[];
const callers = { cookies: [] as string[], keys: [] as string[] };
/** Enough that some remain after others are deleted. */
const rows = Array.from({ length: 300 }, (_, index) => String(10_001 + index));

beforeAll(async () => {
  const { id: all } = await service().createUser('all');
  const { id: some } = await service().createUser('some', {
    customer: { actions: ['create', 'read', 'update', 'delete'], condition: 'own' },
  });
  const { id: none } = await service().createUser('none', null);
  const { id: typist } = await service().createUser('typist', { '*': [...allActions] });
  users = [all, some, none, all];
  callers.keys = await Promise.all([all, some, none, typist].map((id) => service().createKey(id)));
  await seedRows();
  world = await ValidCaller.open(service(), corp);
});

async function seedRows(): Promise<void> {
  await service().db.deleteFrom('entity').where('name', '=', 'customer').execute();
  for (const key of rows) await seedRow(service(), 'customer', key, { key }, Number(key) % 2 ? 'all' : 'some');
}

let requests = 0;
let succeeded = 0;
/** The number of valid requests that succeeded, by operation and credential. */
const right = new Map<string, number>();
const statuses = new Map<number, number>();

/** The fault of an answer, as text; undefined when there is none. */
function faultOf({ statusCode, headers, body, raw }: LightMyRequestResponse): string | undefined {
  if (statusCode >= 500) return `a server error: ${body}`;
  const [undeclared] = found.splice(0);
  if (undeclared !== undefined) return undeclared;
  if (headers['x-content-type-options'] !== 'nosniff' || headers['cache-control'] !== 'no-store') return 'security headers are missing';
  if (statusCode < 400) return undefined;
  if (raw.req.method === 'HEAD') return headers['problem-code'] === undefined ? 'a refusal of HEAD without Problem-Code' : undefined;
  // Browsers get the refusals of these two as pages.
  const isPage = /^\/auth\/oidc\/[^/]+\/(start|callback)\b/.test(raw.req.url ?? '');
  if (isPage && headers['content-type'] === 'text/html; charset=utf-8') return undefined;
  if (headers['content-type'] !== 'application/problem+json; charset=utf-8') return `a refusal of type ${String(headers['content-type'])}`;
  return (JSON.parse(body) as { status: number }).status === statusCode ? undefined : 'a problem with another status than the answer';
}

/** The request as an approximate shell command. */
function curl({ method, url, headers, payload }: Sent): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  const data = payload === undefined ? [] : [`--data-binary ${quote(payload.toString('latin1'))}`];
  return ['curl', '-i', '-X', method, quote(`http://localhost:3000${url}`), ...lines, ...data].join(' ');
}

/** Sends and counts the request. Throws, with all that is needed to repeat it, when the answer is faulty or late. */
async function send(request: Sent, mustSucceed = false): Promise<LightMyRequestResponse> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), hangs).unref());
  const answer = await Promise.race([service().inject(request), late]);
  requests++;
  if (answer) statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
  if (answer && answer.statusCode < 400) succeeded++;
  const refused = answer && mustSucceed && answer.statusCode >= 400 ? `a valid request is refused: ${answer.body}` : undefined;
  const fault = answer ? (faultOf(answer) ?? refused) : `no answer in ${hangs} ms`;
  if (!answer || fault !== undefined)
    throw new Error(`${fault}\n${answer?.statusCode} to ${curl(request)}\nAgain: npm run test:fuzz -- --cases ${cases} --seed ${seed}`);
  return answer;
}

async function sendWild({ method, url, headers, payload }: RandomRequest): Promise<void> {
  // Random requests end sessions, and delete rows.
  if (requests % 50 === 0) callers.cookies = await Promise.all(users.map((id) => service().openSession(id)));
  if (requests % 5_000 === 0) await seedRows();
  await send({
    method,
    url,
    // Their wrong passwords must not count against the address of the valid requests.
    remoteAddress: '192.0.2.1',
    headers: headers(callers),
    ...(payload !== undefined && { payload }),
  });
}

async function sendRight(draft: Draft): Promise<void> {
  const { request, mustSucceed } = await world.complete(draft);
  const answer = await send(request, mustSucceed);
  world.learn(draft, request, answer);
  const pair = pairOf(draft.operation, draft.way);
  if (answer.statusCode < 400) right.set(pair, (right.get(pair) ?? 0) + 1);
}

/** Declares one type after the other, each with the first of the random documents that is accepted. */
async function declareRandomTypes(documents: number): Promise<void> {
  const wanted = [...types];
  for (const sent of fc.sample(document, { seed, numRuns: documents })) {
    const [name] = wanted;
    if (name === undefined) return;
    const headers = { 'x-api-key': callers.keys.at(-1) ?? '', 'content-type': 'application/json', 'if-none-match': '*' };
    const answer = await send({ method: 'PUT', url: `/rest/entity-type/${name}`, headers, payload: JSON.stringify(sent) });
    if (answer.statusCode === 201) wanted.shift();
  }
}

const pairOf = ({ operationId }: Operation, way: Way) => `${operationId} by ${way}`;

/** Shrinking would repeat requests on a service that has already changed. */
const options = (share: number) => ({ numRuns: Math.ceil(cases * share), seed, endOnFailure: true, markInterruptAsFailure: true });

describe(`random requests with seed ${seed}`, () => {
  test(
    'valid ones, for each operation with each credential that it accepts, succeed',
    async () => {
      for (const operation of operations) {
        for (const way of waysOf(operation))
          await fc.assert(fc.asyncProperty(draftsOf(operation, [way]), sendRight), { ...options(0), numRuns: 3 });
      }
      // Each operation has succeeded in the suite by now.
      await fc.assert(fc.asyncProperty(drafts, sendRight), options(isSuite ? 0.1 : 0.6));
      const missed = operations
        .flatMap((operation) => waysOf(operation).map((way) => pairOf(operation, way)))
        .filter((pair) => !right.has(pair));
      expect(missed, 'no valid request has succeeded for these: add what they need to test/support/valid-caller.ts').toEqual([]);
    },
    timeout,
  );

  test(
    'completely random ones get a declared answer',
    async () => {
      await expect(fc.assert(fc.asyncProperty(anything, sendWild), options(0.25))).resolves.toBeUndefined();
    },
    timeout,
  );

  test(
    'valid ones with one change get a declared answer',
    async () => {
      // Two thousand requests may by chance have none of these.
      await fc.assert(fc.asyncProperty(oneOff(rows, oversized), sendWild), { ...options(0), numRuns: 10 });
      await expect(fc.assert(fc.asyncProperty(oneOff(rows), sendWild), options(0.15))).resolves.toBeUndefined();
    },
    timeout,
  );

  test(
    'those on types of random schemas and rules get a declared answer, and some of each kind succeed',
    async () => {
      const before = new Map(statuses);
      await declareRandomTypes(isSuite ? 40 : 4_000);
      await fc.assert(fc.asyncProperty(typedRequests, sendWild), options(isSuite ? 0.05 : 0.1));
      for (const status of [200, 201, 422]) expect(statuses.get(status) ?? 0).toBeGreaterThan(before.get(status) ?? 0);
      if (isSuite) return;
      const names = (await listTypes(service().db)).map(({ name }) => name).filter((name) => name.startsWith('fuzzed'));
      process.stdout.write(`fuzz: ${names.length} types of random schemas declared\n`);
      // In the suite it would be chance whether a type is accepted.
      expect(names.length).toBeGreaterThan(5);
    },
    timeout,
  );

  test('get every usual status, accepted and refused, as proof that they reach the operations', async () => {
    // Few random requests have a condition that holds.
    const headers = { 'x-api-key': callers.keys.at(-1) ?? '', 'if-none-match': '*' };
    expect(
      (await send({ method: 'GET', url: `/rest/entity-type/${[...types][0]}`, remoteAddress: '192.0.2.2', headers }, true)).statusCode,
    ).toBe(304);
    const counts = [...statuses].toSorted(([one], [other]) => one - other).map(([status, count]) => `${count} of ${status}`);
    process.stdout.write(`fuzz: ${requests} requests with seed ${seed}, ${succeeded} succeeded: ${counts.join(', ')}\n`);
    // A separate run also prints the successes of each operation.
    if (!isSuite) process.stdout.write(`${table()}\n`);
    const usual = [200, 201, 204, 303, 304, 400, 401, 403, 404, 405, 406, 413, 415, 422];
    expect(usual.filter((status) => !statuses.has(status))).toEqual([]);
  });
});

/** The valid requests that succeeded: one line for each operation. */
function table(): string {
  return operations
    .map((operation) => {
      const counts = waysOf(operation).map((way) => [way, right.get(pairOf(operation, way)) ?? 0] as const);
      const total = counts.reduce((sum, [, count]) => sum + count, 0);
      return `  ${operation.operationId.padEnd(22)}${String(total).padStart(6)}  ${counts.map(([way, count]) => `${way} ${count}`).join(', ')}`;
    })
    .join('\n');
}
