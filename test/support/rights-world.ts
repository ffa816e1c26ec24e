/** The rows of one name before an operation, and what the model of rights says that each operation answers and leaves behind. */
import { isDeepStrictEqual } from 'node:util';
import { fulfils, sorted, type ModelRow } from './filter-model.ts';
import {
  isRefusal,
  merged,
  namesIn,
  refusal,
  type Allowed,
  type Json,
  type ModelCaller,
  type Refusal,
  type RightsModel,
} from './rights-model.ts';

/** A version of the history. */
export interface ModelVersion extends ModelRow {
  operation: string;
}

export interface Rows {
  live: readonly ModelRow[];
  trash: readonly ModelRow[];
  /** By key, the newest first. */
  history: ReadonlyMap<string, readonly ModelVersion[]>;
}

export type ImportMode = 'update' | 'replace';

/** An operation of a batch. `place` is that of a row, live or in the trash. */
export type Step =
  | { op: 'create'; fields: Json }
  | { op: 'update'; place: number; fields: Json }
  | { op: 'delete'; place: number }
  | { op: 'get'; place: number };

export type Operation =
  | { kind: 'get'; place: number; fields: readonly string[] }
  | { kind: 'list' | 'query' | 'export'; filter: Json; sort: readonly string[] }
  | { kind: 'search'; word: string }
  | { kind: 'aggregate'; filter: Json; by: readonly string[]; sum: readonly string[] }
  | { kind: 'create' | 'upsert'; fields: Json }
  | { kind: 'bulk'; items: readonly Json[] }
  | { kind: 'update'; place: number; fields: Json }
  | { kind: 'delete' | 'history' | 'trashed' | 'undelete'; place: number }
  | { kind: 'version' | 'restore'; place: number; version: number }
  | { kind: 'trash' }
  | { kind: 'batch'; steps: readonly Step[] }
  | { kind: 'import'; mode: ImportMode; rows: readonly Json[] };

/** The answer: a refusal, or its status and what it says in the form that the test brings it into. */
export type Expected = Refusal | { status: number; says: unknown };

const ok = (says: unknown, status = 200): Expected => ({ status, says });
const notFound = refusal(404, 'not-found');
const taken = refusal(409, 'unique-conflict', '/u duplicate-value');

const under = (place: string, { status, code, faults }: Refusal): Refusal => refusal(status, code, ...faults.map((fault) => place + fault));

export class RightsWorld {
  readonly #model: RightsModel;
  readonly #caller: ModelCaller;
  readonly #isDeclared: boolean;
  readonly #before: Rows;
  live: ModelRow[];
  trash: ModelRow[];

  constructor(model: RightsModel, caller: ModelCaller, isDeclared: boolean, before: Rows) {
    this.#model = model;
    this.#caller = caller;
    this.#isDeclared = isDeclared;
    this.#before = before;
    this.live = [...before.live];
    this.trash = [...before.trash];
  }

  keyAt(place: number): string {
    const { live, trash } = this.#before;
    const keys = [...live, ...trash].map(({ $key }) => $key);
    return keys[place % (keys.length + 1)] ?? '9000000000000000000';
  }

  answer(operation: Operation): Expected {
    switch (operation.kind) {
      case 'get':
        return this.#get(operation.place, operation.fields);
      case 'list':
      case 'query':
      case 'export':
        return this.#list(operation);
      case 'search':
        return this.#search(operation.word);
      case 'aggregate':
        return this.#aggregate(operation);
      case 'history':
        return this.#history(operation.place);
      case 'version':
        return this.#version(operation.place, operation.version);
      case 'trash':
      case 'trashed':
        return this.#trash(operation.kind === 'trash' ? undefined : this.keyAt(operation.place));
      case 'restore':
        return this.#restore(operation.place, operation.version);
      case 'undelete':
        return this.#restore(operation.place, undefined);
      case 'upsert':
        return this.#upsert(operation.fields);
      case 'bulk':
        return this.#bulk(operation.items);
      case 'batch':
        return this.#batch(operation.steps);
      case 'import':
        return this.#import(operation.mode, operation.rows);
      case 'create':
      case 'update':
      case 'delete': {
        const step = { ...operation, op: operation.kind } as Step;
        return this.#refusalOfName(step) ?? this.#step(step);
      }
    }
  }

  #liveAt(place: number): ModelRow | undefined {
    return this.live.find(({ $key }) => $key === this.keyAt(place));
  }

  #unknownFields(names: readonly string[]): Refusal | undefined {
    const unknown = this.#isDeclared && names.some((name) => !/^-?\$/.test(name) && this.#model.isNeverShown(name.replace(/^-/, '')));
    return unknown ? refusal(422, 'validation-failed', 'unknown-field') : undefined;
  }

  #get(place: number, fields: readonly string[]): Expected {
    const refused = this.#model.refusalOfReads ?? this.#unknownFields(fields);
    if (refused) return refused;
    const row = this.#liveAt(place);
    if (!row || !this.#model.isReadable(row)) return notFound;
    const shown = Object.entries(this.#model.cut(row).fields);
    return ok({
      version: row.$version,
      fields: Object.fromEntries(shown.filter(([name]) => fields.length === 0 || fields.includes(name))),
    });
  }

  #seen(filter: Json): ModelRow[] {
    const { typeOf, variables } = this.#caller;
    const covered = this.live.filter((row) => this.#model.isReadable(row)).map((row) => this.#model.cut(row));
    return covered.filter((row) => fulfils(row, filter, { typeOf, variables }));
  }

  get #partial(): object {
    return this.#model.coversAll ? {} : { partial: true };
  }

  #list({ kind, filter, sort }: Extract<Operation, { kind: 'list' | 'query' | 'export' }>): Expected {
    const refused = this.#model.refusalOfReads ?? this.#unknownFields([...namesIn(filter), ...(kind === 'export' ? [] : sort)]);
    if (refused) return refused;
    const rows = sorted(this.#seen(filter), kind === 'export' ? [] : sort, this.#caller.typeOf);
    const items = rows.map(({ $key, fields }) => [$key, fields]);
    return ok({ items, ...(kind !== 'export' && { count: rows.length }), ...this.#partial });
  }

  #search(word: string): Expected {
    if (this.#model.refusalOfReads) return this.#model.refusalOfReads;
    if (!this.#isDeclared || !this.#model.isAlwaysShown('b')) return refusal(422, 'validation-failed', 'not-filterable');
    return ok(this.#seen({ b: word }).map(({ $key }) => $key));
  }

  #aggregate({ filter, by, sum }: Extract<Operation, { kind: 'aggregate' }>): Expected {
    const refused = this.#model.refusalOfReads ?? this.#unknownFields([...namesIn(filter), ...by, ...sum]);
    if (refused) return refused;
    if (!this.#isDeclared && by.length + sum.length > 0) return refusal(422, 'validation-failed', 'not-filterable');
    const keyOf = ({ fields }: ModelRow) => by.map((name) => fields[name] ?? null);
    const groups = [...Map.groupBy(this.#seen(filter), (row) => JSON.stringify(keyOf(row)))];
    if (by.length === 0 && groups.length === 0) groups.push(['[]', []]);
    const said = groups.map(([key, rows]) => {
      const sums = sum.map((name) => rows.flatMap(({ fields }) => (typeof fields[name] === 'number' ? [fields[name]] : [])));
      const totals = sums.map((values) => (values.length === 0 ? null : values.reduce((a, b) => a + b, 0)));
      return [JSON.parse(key), rows.length].concat(totals) as unknown[];
    });
    return ok({ groups: said.map((group) => JSON.stringify(group)).toSorted(), ...this.#partial });
  }

  /** The versions that the caller may read, the newest first; undefined if the row is not readable now. */
  #versions(place: number): ModelVersion[] | undefined {
    const versions = this.#before.history.get(this.keyAt(place)) ?? [];
    const [last] = versions;
    const now = this.#liveAt(place) ?? (last?.operation === 'deleted' ? last : undefined);
    return now && this.#model.isReadable(now) ? versions.filter((row) => this.#model.isReadable(row)) : undefined;
  }

  #history(place: number): Expected {
    if (this.#model.refusalOfReads) return this.#model.refusalOfReads;
    const versions = this.#versions(place)?.map((row) => this.#model.cut(row));
    if (!versions?.length) return notFound;
    const items = versions.map(({ operation, $version, fields }, index) => {
      const earlier = versions[index + 1]?.fields;
      const names = Object.keys({ ...fields, ...earlier }).filter((name) => !isDeepStrictEqual(fields[name], earlier?.[name]));
      return [operation, $version, fields, earlier ? names.toSorted() : null];
    });
    return ok({ items, ...this.#partial });
  }

  #version(place: number, version: number): Expected {
    if (this.#model.refusalOfReads) return this.#model.refusalOfReads;
    const row = this.#versions(place)?.find(({ $version, operation }) => $version === version && operation !== 'deleted');
    return row ? ok({ version, fields: this.#model.cut(row).fields }) : notFound;
  }

  #isInTrash(row: ModelRow): boolean {
    return this.#model.isReadable(row) && this.#model.isUpdatable(row);
  }

  #trash(key: string | undefined): Expected {
    const refused = this.#model.refusalOfReads ?? this.#model.refusalOfUpdates;
    if (refused) return refused;
    const covered = this.trash.filter((row) => this.#isInTrash(row));
    const rows = sorted(covered, [], this.#caller.typeOf).map((row) => this.#model.cut(row));
    if (key === undefined) return ok(rows.map(({ $key, fields }) => [$key, fields]));
    const row = rows.find(({ $key }) => $key === key);
    return row ? ok({ version: row.$version, fields: row.fields }) : notFound;
  }

  #restore(place: number, version: number | undefined): Expected {
    const refused = this.#model.refusalOfUpdates ?? (version === undefined ? undefined : this.#model.refusalOfReads);
    if (refused) return refused;
    const old = version === undefined ? undefined : this.#version(place, version);
    if (old && isRefusal(old)) return old;
    const live = this.#liveAt(place);
    const trashed = this.trash.find((row) => row.$key === this.keyAt(place) && this.#isInTrash(row));
    const uncovered = live || !trashed ? this.#model.refusalOf(live, (row) => this.#model.isUpdatable(row)) : undefined;
    if (uncovered) return uncovered;
    const row = live ?? trashed;
    if (!row) throw new Error('a covered row is live or in the trash');
    if (live && !old) return refusal(400, 'malformed-request', 'required');
    if (!old) return this.#replace(row, row.fields, { isNew: !live });
    const whole = this.#versions(place)?.find(({ $version }) => $version === version);
    const { fields } = old.says as { fields: Json };
    const staying = Object.keys(whole?.fields ?? {}).filter((name) => !Object.hasOwn(fields, name));
    return this.#replace(row, fields, { isNew: !live, staying });
  }

  /** Puts fields in the place of the others than those that stay: the hidden ones and `staying`, without `named`. */
  #replace(
    row: ModelRow,
    fields: Json,
    { isNew = false, staying = [], named = [] }: { isNew?: boolean; staying?: readonly string[]; named?: readonly string[] },
  ): Expected {
    const hidden = Object.keys(row.fields).filter((name) => !this.#model.shows(row, name));
    const kept = new Set([...hidden, ...staying].filter((name) => !named.includes(name)));
    const only = (from: Json, isKept: boolean) => Object.entries(from).filter(([name]) => kept.has(name) === isKept);
    const next = Object.fromEntries([...only(fields, false), ...only(row.fields, true)]);
    const sent = Object.keys({ ...row.fields, ...next }).filter((name) => !kept.has(name));
    return this.#change(row, next, sent, isNew);
  }

  #unfit(fields: Json): Refusal | undefined {
    const isUnfit = this.#isDeclared && typeof fields['n'] === 'string';
    return isUnfit ? refusal(422, 'validation-failed', '/n invalid-type') : undefined;
  }

  #isTaken({ fields: { u } }: ModelRow, own: string): boolean {
    return this.#isDeclared && typeof u === 'string' && this.live.some(({ $key, fields }) => $key !== own && fields['u'] === u);
  }

  /** `isNew`: whether there is a new version in any case. */
  #change(before: ModelRow, fields: Json, sent: readonly string[], isNew = false): Expected {
    const after = { ...before, $version: before.$version + 1, $updatedBy: this.#caller.name, fields };
    const judged = this.#model.update({ before, after, sent, unfit: this.#unfit(fields) });
    if (isRefusal(judged)) return judged;
    if (this.#isTaken(after, before.$key)) return taken;
    const sendsHidden = sent.some((name) => !this.#model.shows(before, name));
    const isSame = !isNew && !sendsHidden && isDeepStrictEqual(fields, before.fields);
    const row = isSame ? before : after;
    this.live = [...this.live.filter(({ $key }) => $key !== row.$key), row];
    this.trash = this.trash.filter(({ $key }) => $key !== row.$key);
    return ok({ version: row.$version, fields: judged.shown });
  }

  #newRow(sent: Json): ModelRow {
    const { name } = this.#caller;
    const now = new Date().toISOString();
    const fields = this.#model.withPresets(sent);
    return { $key: '', $version: 1, $createdAt: now, $createdBy: name, $updatedAt: now, $updatedBy: name, fields };
  }

  #create(sent: Json): Expected {
    const row = this.#newRow(sent);
    const judged: Refusal | Allowed = this.#model.create(row, this.#unfit(row.fields));
    if (isRefusal(judged)) return judged;
    if (this.#isTaken(row, 'none')) return taken;
    this.live.push(row);
    return ok({ version: 1, fields: judged.shown }, 201);
  }

  #refusalOfName({ op }: Step): Refusal | undefined {
    if (op === 'create') return this.#model.refusalOfCreates;
    if (op === 'update') return this.#model.refusalOfUpdates;
    if (op === 'get') return this.#model.refusalOfReads;
    return this.#model.isGranted('delete') ? undefined : refusal(403, 'forbidden');
  }

  #step(step: Step): Expected {
    if (step.op === 'create') return this.#create(step.fields);
    if (step.op === 'get') return this.#get(step.place, []);
    const row = this.#liveAt(step.place);
    const isCovered = (one: ModelRow) => (step.op === 'update' ? this.#model.isUpdatable(one) : this.#model.isDeletable(one));
    const refused = this.#model.refusalOf(row, isCovered);
    if (refused || !row) return refused ?? notFound;
    if (step.op === 'update') return this.#change(row, merged(row.fields, step.fields) as Json, Object.keys(step.fields));
    this.live = this.live.filter((one) => one !== row);
    if (this.#isDeclared) this.trash.push(row);
    return ok(null, 204);
  }

  #upsert(sent: Json): Expected {
    const refused = this.#model.refusalOfCreates ?? this.#model.refusalOfUpdates;
    if (refused) return refused;
    if (!this.#isDeclared) return refusal(422, 'validation-failed', 'by invalid-value');
    if (typeof sent['u'] !== 'string') return refusal(422, 'validation-failed', '/u required');
    const row = this.live.find(({ fields }) => fields['u'] === sent['u']);
    if (!row) return this.#create(merged({}, sent) as Json);
    if (!this.#isFound(row)) return taken;
    return this.#change(row, merged(row.fields, sent) as Json, Object.keys(sent));
  }

  /** Whether an upsert or an import finds the row by its unique value. */
  #isFound(row: ModelRow): boolean {
    return this.#model.isUpdatable(row) && this.#model.shows(row, 'u');
  }

  #bulk(items: readonly Json[]): Expected {
    if (this.#model.refusalOfCreates) return this.#model.refusalOfCreates;
    const refusals: Refusal[] = [];
    const start = [...this.live];
    for (const [index, fields] of items.entries()) {
      const done = this.#create(fields);
      if (isRefusal(done)) refusals.push(under(`/${index}`, done));
    }
    if (refusals.length === 0) return ok(items.length);
    this.live = start;
    const isLate = ({ faults }: Refusal) => this.#model.checksOthers && faults.every((fault) => fault.endsWith('value-forbidden'));
    const of = (status: number) => refusals.filter((each) => each.status === status);
    const [early, late] = [of(403).filter((each) => !isLate(each)), of(403).filter(isLate)];
    for (const [first, ...others] of [early, of(422), late, of(409)]) {
      if (!first) continue;
      return first.status === 403 ? first : refusal(first.status, first.code, ...[first, ...others].flatMap(({ faults }) => faults));
    }
    throw new Error('a refused item has one of these statuses');
  }

  #batch(steps: readonly Step[]): Expected {
    const start = { live: [...this.live], trash: [...this.trash] };
    const at = (index: number, { status, code, faults }: Refusal) => {
      const place = `/operations/${index}`;
      return faults.length > 0 ? under(`${place}/fields`, { status, code, faults }) : refusal(status, code, `${place} refused`);
    };
    for (const [index, step] of steps.entries()) {
      const refused = this.#refusalOfName(step);
      if (refused) return at(index, refused);
    }
    const results: unknown[] = [];
    for (const [index, step] of steps.entries()) {
      const done = this.#step(step);
      if (isRefusal(done)) {
        Object.assign(this, start);
        return at(index, done);
      }
      results.push([done.status, done.says]);
    }
    return ok(results);
  }

  #import(mode: ImportMode, rows: readonly Json[]): Expected {
    const refused = this.#model.refusalOfCreates ?? (this.#isDeclared ? this.#model.refusalOfUpdates : undefined);
    if (refused) return refused;
    const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 };
    const refusals: unknown[] = [];
    for (const [index, fields] of rows.entries()) {
      const before = this.live.length;
      const versions = this.#versionSum();
      const done = this.#importRow(mode, fields);
      if (isRefusal(done)) {
        refusals.push([index + 1, done.status, done.code, done.faults]);
        counts.failed += 1;
      } else if (this.live.length > before) counts.created += 1;
      else counts[this.#versionSum() > versions ? 'updated' : 'unchanged'] += 1;
    }
    return ok({ refusals, counts });
  }

  #versionSum(): number {
    return this.live.reduce((sum, { $version }) => sum + $version, 0);
  }

  #importRow(mode: ImportMode, fields: Json): Expected {
    if (!this.#isDeclared) return this.#create(fields);
    if (typeof fields['u'] !== 'string') return refusal(422, 'validation-failed', '/u required');
    const row = this.live.find((one) => one.fields['u'] === fields['u']);
    if (!row) return this.#create(fields);
    if (!this.#isFound(row)) return taken;
    return mode === 'replace'
      ? this.#replace(row, fields, { named: Object.keys(fields) })
      : this.#change(row, { ...row.fields, ...fields }, Object.keys(fields));
  }
}
