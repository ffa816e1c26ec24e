/** Exports and imports over HTTP. They end with the caller's credential and with the process, and when the client makes no progress. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { holderOfRequest } from '../admission/held-bytes.ts';
import { recordProblem, recordWithinQuota } from '../audit/record.ts';
import type { PresentPrincipal } from '../authn/authenticate.ts';
import type { Principal } from '../rights/principal.ts';
import type { AuditContext } from '../audit/context.ts';
import type { EntityContext } from '../entities/reading/context.ts';
import { StreamedText, type Handlers } from '../contract/operation.ts';
import { positionOf, tokenOf } from '../database/standby/log-position.ts';
import { entityLimitOf } from '../entities/entity-limits.ts';
import { assertSearchable } from '../entities/querying/list.ts';
import { readListBody, readListQuery, type ListRequest } from '../entities/querying/list-request.ts';
import { scopeFor, type ReadScope } from '../entities/querying/scope.ts';
import { uniqueBy } from '../entities/writing/upsert.ts';
import { acceptedType } from '../http/accept.ts';
import { streamedBodyLimitBytes } from '../http/body.ts';
import { allowLongUpload } from '../http/long-uploads.ts';
import { describeProblem, logFailure, problemOf, type ProblemDocument } from '../http/problem.ts';
import { authorize, authorizeUpdate } from '../rights/permit.ts';
import { keyHeader, targetsOf } from './columns.ts';
import { databaseNameOf, isOtherDatabase } from './database-name.ts';
import { readCsv } from './csv-reader.ts';
import { csvWriterFor, type CsvFile } from './csv-writer.ts';
import { asCsv, asNdjson, exportedParts } from './export.ts';
import { importRows } from './import.ts';
import type { ImportPermits } from './import-work.ts';
import { readNdjson } from './ndjson-reader.ts';
import { asReport } from './report.ts';
import { streamOf } from './streams.ts';
import { readUpload } from './upload.ts';

/** Of the report, for clients that read nothing before they have sent everything. */
const reportBytes = 1_048_576;
/** Milliseconds of the event loop for a character of a stream. */
const loopMsPerCharacter = 0.000_05;
/** How long a client may go on sending after the answer, in milliseconds; less when the process stops. */
const lingerMs = { usual: 10_000, stopping: 500 };
const types = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const;

type ExportCall = Pick<Parameters<Handlers['exportEntities']>[0], 'params' | 'headers' | 'principal' | 'caller' | 'request' | 'reply'>;

/** How the file of an export is written. */
interface ExportFile extends Omit<CsvFile, 'database'> {
  format: keyof typeof types | undefined;
  /** The fields to send; undefined for all. */
  fields: readonly string[] | undefined;
}

/** `stopping` is aborted with a problem when the process stops. */
export function transferHandlers(
  context: EntityContext & AuditContext,
  presentPrincipal: PresentPrincipal,
  stopping: AbortSignal,
): Pick<Handlers, 'exportEntities' | 'exportQuery' | 'importEntities'> {
  const { store, readers, entityTypes, admission } = context;
  const imports = admission.queueOf('imports');
  const { ledger } = admission;

  /** The texts, counted for the sender of the request as they are made. */
  async function* counted(texts: AsyncIterable<string>, { caller: { origin } }: Pick<ExportCall, 'caller'>): AsyncGenerator<string> {
    for await (const text of texts) {
      origin.cost?.add('answered', text.length);
      origin.cost?.add('loop', text.length * loopMsPerCharacter);
      yield text;
    }
  }

  /** The problem that `error` is, for an answer that has begun. Logs it and writes its audit event. */
  const tell = async (error: unknown, request: FastifyRequest): Promise<ProblemDocument> => {
    const problem = problemOf(error, request);
    logFailure(problem, request);
    await recordProblem(context, request.caller, problem, request.routeOptions.config.operationId);
    return describeProblem(problem, request, context.config.publicUrl);
  };

  const sendExport = async (
    { params: { name }, headers, principal, caller, request, reply }: ExportCall,
    { format, fields, ...file }: ExportFile,
    readQuery: (scope: ReadScope) => Promise<ListRequest>,
  ) => {
    const permit = authorize(principal, name, 'read');
    const mediaType = format ? types[format] : acceptedType(request.headers.accept, [types.ndjson, types.csv]);
    const type = await entityTypes.find(name);
    const wantedBy = (present: Principal) =>
      readQuery(scopeFor({ types: entityTypes, attributes: context.attributes }, present, { name, type }));
    assertSearchable(await wantedBy(principal), type?.companion, permit.view);
    // HEAD reads nothing.
    if (request.method === 'HEAD') return { status: 200 as const, body: new StreamedText(mediaType, Readable.from([])) };
    atEnd(reply, await admission.queueOf('exports').enter(principal.user.name));
    const detail = { entity: name, format: mediaType === types.csv ? 'csv' : 'ndjson' };
    await recordWithinQuota(context, caller, { event: 'entity.exported', outcome: 'ok', sessionId: principal.session?.id, detail });
    const present = async () => {
      await ledger.slowDown(holderOfRequest(request));
      const caller = await presentPrincipal(request);
      return { permit: authorize(caller, name, 'read'), wanted: await wantedBy(caller) };
    };
    const token = headers['consistency-token'];
    const after = token === undefined ? undefined : positionOf(token);
    const parts = exportedParts({ readers, types: entityTypes, present, after });
    const database = databaseNameOf(await context.serviceSecrets.current());
    const texts =
      mediaType === types.csv
        ? asCsv(parts, csvWriterFor(type, fields, { ...file, database, view: permit.view }))
        : asNdjson(parts, { database, problemOf: (error) => tell(error, request) });
    return {
      status: 200 as const,
      body: new StreamedText(
        mediaType,
        streamOf(counted(texts, { caller }), () => reply.raw.destroy()),
      ),
    };
  };

  return {
    exportEntities({ query, ...call }) {
      const { format, fields, delimiter, csvSafe, bom } = query;
      const file = { format, fields: fields?.split(','), delimiter, isSafe: csvSafe === 'true', hasByteOrderMark: bom === 'true' };
      return sendExport(call, file, (scope) => readListQuery(query, { includes: [] }, scope));
    },

    exportQuery({ body, ...call }) {
      const { format, csvSafe = false, delimiter, bom = false, ...query } = body;
      const file = { format, fields: query.fields, delimiter, isSafe: csvSafe, hasByteOrderMark: bom };
      return sendExport(call, file, (scope) => readListBody(query, { includes: [] }, scope));
    },

    async importEntities({ params: { name }, query, principal, caller, body, request, reply }) {
      const permitsOf = (present: Principal): ImportPermits => ({
        create: authorize(present, name, 'create'),
        update: query.by === undefined ? undefined : authorizeUpdate(present, name),
      });
      permitsOf(principal);
      acceptedType(request.headers.accept, [types.ndjson]);
      const type = await entityTypes.find(name);
      if (query.by !== undefined && query.by !== keyHeader) uniqueBy(type, query.by);
      const isCsv = query.format ? query.format === 'csv' : /^text\/csv\b/i.test(request.headers['content-type'] ?? '');
      atEnd(reply, await imports.enter(principal.user.name));
      atEnd(reply, allowLongUpload(request.raw.socket));
      const limitBytes = entityLimitOf(context.config);
      const chunks = readUpload(body as unknown as IncomingMessage, streamedBodyLimitBytes, stopping, () => imports.isWanted);
      const { delimiter = 'comma' } = query;
      const rows = isCsv
        ? readCsv(chunks, { delimiter, type, targets: await targetsOf(type, entityTypes), limitBytes, isSafe: query.csvSafe === 'true' })
        : readNdjson(chunks, limitBytes);
      const secrets = await context.serviceSecrets.current();
      const target = {
        store,
        types: entityTypes,
        name,
        origin: caller.origin,
        limitBytes,
        by: query.by,
        mode: query.mode ?? 'update',
        isDryRun: query.dryRun === 'true',
        keepsKeys: query.keys === 'keep',
        isOtherDatabase: (database: string) => isOtherDatabase(database, secrets),
        fromRow: Number(query.fromRow ?? 1),
        permits: async () => {
          await ledger.slowDown(holderOfRequest(request));
          return permitsOf(await presentPrincipal(request));
        },
      };
      const reports = asReport(importRows(target, rows), {
        ofRow: (problem) => describeProblem(problem, request, context.config.publicUrl),
        ofEnd: (error) => tell(error, request),
        token: async () => {
          const position = await store.log?.afterWrites();
          return position && tokenOf(position);
        },
      });
      endUpload(request, reply, stopping);
      return {
        status: 200,
        body: new StreamedText(
          types.ndjson,
          streamOf(counted(reports, { caller }), () => reply.raw.destroy(), reportBytes),
        ),
      };
    },
  };
}

/**
 * Reads the rest of an upload that was answered early, so that the connection serves further requests. Closes it if the client goes on sending for some
 * time after the answer.
 */
function endUpload({ raw: request }: FastifyRequest, { raw: reply }: FastifyReply, stopping: AbortSignal): void {
  reply.once('finish', () => {
    if (request.complete) return;
    request.resume();
    setTimeout(() => request.complete || request.destroy(), stopping.aborted ? lingerMs.stopping : lingerMs.usual).unref();
  });
}

/** Calls `action` once the answer has been sent, or the client has left. */
function atEnd({ raw }: FastifyReply, action: () => void): void {
  if (raw.closed) action();
  else raw.once('close', action);
}
