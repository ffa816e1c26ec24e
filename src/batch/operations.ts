/** The operations of a batch: each with its permit, the type of its entity, and the key that a create will give. */
import type { components } from '../../generated/api.ts';
import type { Principal } from '../rights/principal.ts';
import { allowChange, requireEntityLimits, requireNoFaults, type Checked } from '../entities/writing/rules.ts';
import type { Statements } from '../database/port.ts';
import { withPresets } from '../entities/writing/presets.ts';
import { NaturalKeys, type SentFields } from '../entities/writing/natural-keys.ts';
import type { EntityType, EntityTypes } from '../entity-types/types.ts';
import { Problem } from '../problems/errors.ts';
import { maximumFaults, type Fault } from '../problems/faults.ts';
import { itemTexts, memberTexts } from '../json/json-parts.ts';
import { Pauses } from '../admission/turns.ts';
import { authorize, authorizeUpdate, type Permit } from '../rights/permit.ts';
import { CreatedReferences } from './created-references.ts';

type Sent = components['schemas']['BatchOperation'];

interface Common {
  /** The place of the operation in the batch. */
  index: number;
  name: string;
  key: string;
  type: EntityType | undefined;
}

export interface Create extends Common {
  op: 'create';
  permit: Permit<'create'>;
  /** JSON text of an object. */
  fields: string;
  checked: Checked;
}

export interface Update extends Common {
  op: 'update';
  permit: Permit<'update'>;
  /** JSON text of an object. */
  patch: string;
  ifMatch: string | undefined;
}

export interface Delete extends Common {
  op: 'delete';
  permit: Permit<'delete'>;
  ifMatch: string | undefined;
}

export interface Get extends Common {
  op: 'get';
  permit: Permit<'read'>;
}

export type BatchOperation = Create | Update | Delete | Get;

/** The problem of one operation, with pointers into the batch; to the operation itself if it has none. */
export function problemAt(index: number, problem: Problem): Problem {
  const place = `/operations/${index}`;
  return problem.faults.length > 0 ? problem.under(place) : problem.withFaults([{ pointer: place, code: 'refused' }]);
}

/** Runs `work` for the operation; a problem that it throws gets the place of the operation. */
export async function atOperation<T>(index: number, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Problem ? problemAt(index, error) : error;
  }
}

/** Runs `work` on the fields of an operation; a problem that it throws gets their place. */
export async function inFields<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Problem ? error.under('/fields') : error;
  }
}

/** The members of each operation besides `op` and `name`. */
const members = {
  create: { needed: ['fields'], allowed: ['id'] },
  update: { needed: ['key', 'fields'], allowed: ['ifMatch'] },
  delete: { needed: ['key'], allowed: ['ifMatch'] },
  get: { needed: ['key'], allowed: [] },
} as const;
const optionalMembers = ['id', 'key', 'ifMatch', 'fields'] as const;

export interface BatchInput {
  sent: readonly Sent[];
  /** The JSON text of the body. */
  bodyText: string;
  /** The most bytes of the fields of one operation. */
  limitBytes: number;
}

/** The sources with which operations are read: `types` has what fields must fit, and `store` the entities that references name by values. */
export interface BatchSource {
  store: Pick<Statements, 'query'>;
  types: EntityTypes;
}

/**
 * Reads the operations of a batch: rights first, then fields and references. Each method throws the problem of an operation, placed in the
 * batch.
 */
export class BatchReader {
  readonly sent: readonly Sent[];
  readonly #principal: Principal;
  readonly #limitBytes: number;
  /** The JSON text of each operation. */
  readonly #texts: readonly string[];
  readonly #references: CreatedReferences;

  constructor(principal: Principal, { sent, bodyText, limitBytes }: BatchInput) {
    this.#limitBytes = limitBytes;
    this.#references = new CreatedReferences(sent.flatMap(({ id }) => id ?? []));
    this.#principal = principal;
    this.sent = sent;
    this.#texts = itemTexts(memberTexts(bodyText).get('operations') ?? '[]');
  }

  /** Whether an operation refers to a later one. */
  get refersForward(): boolean {
    return this.#references.referForward;
  }

  /** The keys of the creates that references lead to. */
  get createdKeys(): ReadonlySet<string> {
    return this.#references.keys;
  }

  /** Throws 422 for operations without a member that they need or with one that they do not take, and for ids that several have. */
  checkForm(): void {
    const ids = new Set<string>();
    const faults: Fault[] = [];
    for (const [index, operation] of this.sent.entries()) {
      const { needed, allowed } = members[operation.op];
      const known: readonly string[] = [...needed, ...allowed];
      for (const member of needed)
        if (operation[member] === undefined) faults.push({ pointer: `/operations/${index}/${member}`, code: 'required' });
      for (const member of optionalMembers)
        if (operation[member] !== undefined && !known.includes(member))
          faults.push({ pointer: `/operations/${index}/${member}`, code: 'conflicting' });
      const id = operation.op === 'create' ? operation.id : undefined;
      if (id !== undefined && ids.has(id)) faults.push({ pointer: `/operations/${index}/id`, code: 'repeated' });
      if (id !== undefined) ids.add(id);
    }
    requireNoFaults(faults);
  }

  /** The permits of all operations, in their order. Throws 403 unless the caller may do what they do. */
  async authorize(): Promise<BatchOperation['permit'][]> {
    const permits: BatchOperation['permit'][] = [];
    for (const [index, sent] of this.sent.entries()) permits.push(await atOperation(index, () => this.#permitOf(sent)));
    return permits;
  }

  /** Lets later calls of {@link read} replace references to the create by `key`. */
  learn(index: number, key: string): void {
    const sent = this.sent[index];
    if (sent?.op === 'create' && sent.id !== undefined) this.#references.add(sent.id, { key, index });
  }

  /** The operation, with `key` for a create. */
  async read({ store, types }: BatchSource, index: number, key: string): Promise<BatchOperation> {
    return await this.#readOne(types, new NaturalKeys(store, types, this.#permitOf(this.#sentAt(index))), index, key);
  }

  /** All operations, with a key for each. Throws the faults of all of them. */
  async readAll({ store, types }: BatchSource, keys: readonly string[]): Promise<BatchOperation[]> {
    for (const [index, key] of keys.entries()) this.learn(index, key);
    const naturalKeys = new NaturalKeys(store, types, this.#permitOf(this.#sentAt(0)));
    const found = new Map<string, EntityType | undefined>();
    for (const [index, { name }] of this.sent.entries())
      if (!found.has(name)) found.set(name, await atOperation(index, () => types.find(name)));
    await naturalKeys.findFor(this.sent.map(({ name, fields }) => ({ type: found.get(name), fields })));
    const operations: BatchOperation[] = [];
    const faults: Fault[] = [];
    const pauses = new Pauses();
    for (const [index, key] of keys.entries()) {
      await pauses.whenLong();
      try {
        operations.push(await this.#readOne(types, naturalKeys, index, key));
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'validation-failed') throw error;
        faults.push(...error.faults);
        if (faults.length >= maximumFaults) break;
      }
    }
    requireNoFaults(faults);
    return operations;
  }

  #sentAt(index: number): Sent {
    const sent = this.sent[index];
    if (!sent) throw new Error(`there is no operation ${index}`);
    return sent;
  }

  async #readOne(types: EntityTypes, naturalKeys: NaturalKeys, index: number, key: string): Promise<BatchOperation> {
    const sent = this.#sentAt(index);
    return await atOperation(index, () => this.#operation(types, naturalKeys, index, sent, sent.op === 'create' ? key : (sent.key ?? '')));
  }

  #permitOf({ op, name }: Sent): BatchOperation['permit'] {
    if (op === 'update') return authorizeUpdate(this.#principal, name);
    return authorize(this.#principal, name, op === 'get' ? 'read' : op) as BatchOperation['permit'];
  }

  async #operation(types: EntityTypes, naturalKeys: NaturalKeys, index: number, sent: Sent, key: string): Promise<BatchOperation> {
    const { name } = sent;
    const type = await types.find(name);
    const common = { index, name, key, type };
    const permit = this.#permitOf(sent);
    switch (sent.op) {
      case 'get':
        return { ...common, op: 'get', permit: permit as Permit<'read'> };
      case 'delete':
        return { ...common, op: 'delete', permit: permit as Permit<'delete'>, ifMatch: sent.ifMatch };
      case 'update': {
        const update = permit as Permit<'update'>;
        const patch = (await this.#withAllKeys(naturalKeys, index, sent, type)).text;
        return { ...common, op: 'update', permit: update, patch, ifMatch: sent.ifMatch };
      }
      case 'create': {
        const create = permit as Permit<'create'>;
        const { text, fields } = withPresets(create, await this.#withAllKeys(naturalKeys, index, sent, type));
        // A rule is judged when the operation runs, so that it sees what earlier ones have written.
        const checked = await inFields(() => allowChange({ rule: create.change, type, next: { text, fields } }));
        return { ...common, op: 'create', permit: create, fields: text, checked };
      }
    }
  }

  /** The fields, with keys in place of the references to creates and of those by values. */
  async #withAllKeys(naturalKeys: NaturalKeys, index: number, { fields = {} }: Sent, type: EntityType | undefined): Promise<SentFields> {
    const text = memberTexts(this.#texts[index] ?? '{}').get('fields') ?? '{}';
    await inFields(() => requireEntityLimits(text, this.#limitBytes));
    return await inFields(() => naturalKeys.replaced(type, this.#references.replaced(index, { fields, text }, type)));
  }
}
