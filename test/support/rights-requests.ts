/** Sends the operations of the random test of rights, and brings the answers into the form that `rights-world.ts` expects. */
import { expect } from 'vitest';
import type { Entity } from './entities.ts';
import type { ImportLine } from './imports.ts';
import { refusal, type Json, type Refusal } from './rights-model.ts';
import type { Expected, Operation, RightsWorld, Step } from './rights-world.ts';
import type { Answer, Call, ProblemBody, TestService } from './service.ts';

type Body = Entity &
  ProblemBody & {
    items: (Entity & { operation: string; changed: string[] | null })[];
    count: { value: number };
    partial?: boolean;
    groups: { key: Json; n: number; s?: string | null }[];
    results: { status: number; entity?: Entity }[];
  };

interface Explained {
  allowed: boolean;
  status: number;
  code?: string;
  faults: { pointer: string; code: string }[];
}

/** One entity name, and its caller. */
export interface RequestTarget {
  service: TestService;
  name: string;
  caller: Call;
  world: RightsWorld;
}

const query = (values: Record<string, string>) => `?${new URLSearchParams(values).toString()}`;
const shortEntity = ({ version, fields }: Entity) => ({ version, fields });
const partialOf = ({ partial }: Body) => (partial === undefined ? {} : { partial });

/** The refusals whose faults have no place in the model: those of reads, and of parameters. */
const placeless = ['not-filterable', 'needs-index', 'required', 'invalid-value'];

function faultsOf({ errors = [] }: ProblemBody): string[] {
  const faults = errors.map(({ pointer, parameter, code }) => {
    if (parameter === 'by') return `by ${code}`;
    const isOfField = pointer !== undefined && /^(\/operations\/\d+|\/\d+)?(\/fields)?\/[uabnmo]$/.test(pointer);
    return code === 'unknown-field' || (placeless.includes(code) && !isOfField) ? code : `${pointer ?? ''} ${code}`;
  });
  return [...new Set(faults)];
}

export class RightsRequests {
  readonly #target: RequestTarget;

  constructor(target: RequestTarget) {
    this.#target = target;
  }

  async #send(method: string, path: string, json?: unknown): Promise<Answer<Body>> {
    const { service, caller } = this.#target;
    return await service.call<Body>(method, `/rest/${path}`, { ...caller, ...(json !== undefined && { json }) });
  }

  async #says(method: string, path: string, json: unknown, says: (body: Body, text: string) => unknown): Promise<Expected> {
    const { status, body, text } = await this.#send(method, path, json);
    if (status >= 500) throw new Error(`${status} ${text}`);
    return status >= 400 ? refusal(status, body.code, ...faultsOf(body)) : { status, says: says(body, text) };
  }

  /** How the service explains the operation before it is sent: the status, and of a refusal the code and the faults. */
  async explain(operation: Operation): Promise<Refusal | { status: number }> {
    const { service, caller, name, world } = this.#target;
    const action = operation.kind === 'get' ? 'read' : operation.kind;
    const question = {
      entity: name,
      action,
      ...('place' in operation && { key: world.keyAt(operation.place) }),
      ...((operation.kind === 'create' || operation.kind === 'update') && { set: operation.fields }),
    };
    const { status, body, text } = await service.call<Explained>('POST', '/auth/permissions/check', { ...caller, json: question });
    expect(status, text).toBe(200);
    expect(body.allowed, text).toBe(body.status < 400);
    return body.allowed
      ? { status: body.status }
      : refusal(body.status, body.code ?? '', ...faultsOf({ errors: body.faults } as unknown as ProblemBody));
  }

  async run(operation: Operation): Promise<Expected> {
    const { name } = this.#target;
    const all = `entity/${name}`;
    const at = 'place' in operation ? `${all}/${this.#target.world.keyAt(operation.place)}` : all;
    switch (operation.kind) {
      case 'get':
        return this.#says('GET', at + (operation.fields.length > 0 ? query({ fields: operation.fields.join() }) : ''), undefined, (body) =>
          shortEntity(body),
        );
      case 'list': {
        const sort = operation.sort.length > 0 ? { sort: operation.sort.join() } : {};
        const asked = query({ filter: JSON.stringify(operation.filter), count: 'exact', ...sort });
        return this.#says('GET', all + asked, undefined, pageOf);
      }
      case 'query':
        return this.#says('POST', `${all}/query`, { filter: operation.filter, sort: operation.sort, count: 'exact' }, pageOf);
      case 'export':
        return this.#says('GET', `${all}/export${query({ filter: JSON.stringify(operation.filter) })}`, undefined, exportOf);
      case 'search':
        return this.#says('GET', all + query({ search: operation.word, sort: '$key' }), undefined, ({ items }) =>
          items.map(({ key }) => key),
        );
      case 'aggregate':
        return this.#aggregate(operation);
      case 'history':
        return this.#says('GET', `${at}/history`, undefined, (body) => ({
          items: body.items.map((each) => [each.operation, each.version, each.fields, each.changed]),
          ...partialOf(body),
        }));
      case 'version':
        return this.#says('GET', at + query({ version: String(operation.version) }), undefined, shortEntity);
      case 'trash':
        return this.#says('GET', all + query({ deleted: 'only' }), undefined, ({ items }) => items.map(({ key, fields }) => [key, fields]));
      case 'trashed':
        return this.#says('GET', at + query({ deleted: 'only' }), undefined, shortEntity);
      case 'restore':
        return this.#says('POST', `${at}/restore${query({ version: String(operation.version) })}`, undefined, shortEntity);
      case 'undelete':
        return this.#says('POST', `${at}/restore`, undefined, shortEntity);
      case 'create':
        return this.#says('POST', all, operation.fields, shortEntity);
      case 'upsert':
        return this.#says('POST', `${all}/upsert?by=u`, operation.fields, shortEntity);
      case 'bulk':
        return this.#says('POST', `${all}/bulk`, operation.items, ({ items }) => items.length);
      case 'update':
        return this.#says('POST', at, operation.fields, shortEntity);
      case 'delete':
        return this.#says('DELETE', at, undefined, () => null);
      case 'batch':
        return this.#says('POST', 'batch', { operations: operation.steps.map((step) => this.#stepOf(step)) }, ({ results }) =>
          results.map(({ status, entity }) => [status, entity ? shortEntity(entity) : null]),
        );
      case 'import':
        return this.#import(operation);
    }
  }

  #stepOf({ op, ...step }: Step): object {
    const { name, world } = this.#target;
    const key = 'place' in step ? { key: world.keyAt(step.place) } : {};
    return { op, name, ...key, ...('fields' in step && { fields: step.fields }) };
  }

  async #aggregate({ filter, by, sum }: Extract<Operation, { kind: 'aggregate' }>): Promise<Expected> {
    const measures = { n: { $count: true }, ...(sum.length > 0 && { s: { $sum: sum[0] } }) };
    return await this.#says('POST', `entity/${this.#target.name}/aggregate`, { filter, groupBy: by, measures }, (body) => {
      const sums = ({ s }: Body['groups'][number]) => (sum.length === 0 ? [] : [s === null ? null : Number(s)]);
      const groups = body.groups.map((group) => JSON.stringify([Object.values(group.key), group.n, ...sums(group)]));
      return { groups: groups.toSorted(), ...partialOf(body) };
    });
  }

  async #import({ mode, rows }: Extract<Operation, { kind: 'import' }>): Promise<Expected> {
    const { service, name, caller } = this.#target;
    const isDeclared = !name.startsWith('note');
    const raw = rows.map((each) => JSON.stringify(each)).join('\n');
    const headers = { ...caller.headers, 'content-type': 'application/x-ndjson' };
    const path = `/rest/entity/${name}/import${isDeclared ? `?by=u&mode=${mode}` : ''}`;
    const { status, body, text } = await service.call('POST', path, { headers, raw });
    if (status !== 200) return refusal(status, body.code, ...faultsOf(body));
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ImportLine);
    const end = lines.at(-1);
    expect(end?.problem, text).toBeUndefined();
    const refused = lines.filter(({ done }) => done === undefined);
    const refusals = refused.flatMap(({ row, toRow = row, status: of, code, errors = [] }) => {
      const faults = faultsOf({ errors } as unknown as ProblemBody).toSorted();
      return Array.from({ length: toRow - row + 1 }, (_, index) => [row + index, of, code, faults]);
    });
    const { created, updated, unchanged, failed } = { created: 0, updated: 0, unchanged: 0, failed: 0, ...end };
    return { status, says: { refusals, counts: { created, updated, unchanged, failed } } };
  }
}

const pageOf = (body: Body) => ({ items: body.items.map(({ key, fields }) => [key, fields]), count: body.count.value, ...partialOf(body) });

const exportOf = (_: unknown, text: string) => {
  const lines = text.trimEnd().split('\n');
  const items = lines.slice(0, -1).map((line) => JSON.parse(line) as Entity);
  return { items: items.map(({ key, fields }) => [key, fields]), ...partialOf(JSON.parse(lines.at(-1) ?? '{}') as Body) };
};
