/** The lists that are measured, for one size. */
import { ask } from '../../lib/load.ts';
import { request } from '../../lib/scenarios.ts';
import { perCity, type Size } from './seed.ts';

export interface ListScenario {
  name: string;
  /** Of the entities. */
  entity: string;
  query: Readonly<Record<string, string>>;
}

export const pageSize = 50;
const deepestPage = 10_000;
/** The most that a page has. */
const stride = 1_000;

/** The number of the deep page, from 1. */
export const deepPageOf = ({ entities }: Size): number => Math.min(deepestPage, Math.floor(entities / 2 / pageSize));

/** A city that has {@link perCity} customers. */
export const cityOf = ({ entities }: Size): string => `City ${Math.floor(entities / 2 / perCity / 2)}`;

/** Makes the scenarios. Reads up to the deep pages; `port` is that of the service. */
export async function listScenarios(port: number, apiKey: string, size: Size): Promise<ListScenario[]> {
  const { customers, orders } = size;
  const limit = String(pageSize);
  const deep = deepPageOf(size);
  const cursorOf = async (query: Readonly<Record<string, string>>) =>
    await cursorAfter(port, apiKey, customers, query, (deep - 1) * pageSize);
  const byKey = { limit };
  const byCredit = { limit, sort: '-credit' };
  const city = JSON.stringify({ city: cityOf(size) });
  const scenarios: (ListScenario | undefined)[] = [
    { name: 'first page by key', entity: customers, query: byKey },
    await deepScenario(`page ${deep} by key`, customers, byKey, cursorOf),
    { name: 'first page by an index', entity: customers, query: byCredit },
    await deepScenario(`page ${deep} by an index`, customers, byCredit, cursorOf),
    { name: 'filtered', entity: customers, query: { limit, filter: city } },
    { name: 'with include', entity: orders, query: { limit, include: 'customer' } },
  ];
  return scenarios.filter((scenario) => scenario !== undefined);
}

type CursorOf = (query: Readonly<Record<string, string>>) => Promise<string | undefined>;

/** Undefined if the service refuses such a list: then its first page shows the refusal. */
async function deepScenario(name: string, entity: string, query: Readonly<Record<string, string>>, cursorOf: CursorOf) {
  const cursor = await cursorOf(query);
  return cursor === undefined ? undefined : { name, entity, query: { ...query, cursor } };
}

async function cursorAfter(port: number, apiKey: string, entity: string, query: object, rows: number): Promise<string | undefined> {
  let cursor: string | null | undefined;
  for (let read = 0; read < rows;) {
    const limit = String(Math.min(stride, rows - read));
    const parameters = { ...query, limit, ...(cursor && { cursor }) };
    const { status, body } = await ask(port, listRequest(entity, parameters, apiKey));
    if (status !== 200) return undefined;
    const page = JSON.parse(body) as { items: unknown[]; next: string | null };
    read += page.items.length;
    cursor = page.next;
    if (cursor === null) throw new Error(`the list of ${entity} ends after ${read} entities`);
  }
  return cursor ?? undefined;
}

export function listRequest(entity: string, query: object, apiKey: string): Buffer {
  return request('GET', `/rest/entity/${entity}?${new URLSearchParams({ ...query }).toString()}`, `x-api-key: ${apiKey}`);
}
