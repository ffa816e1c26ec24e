/** The extensions of operations in openapi.yaml: policy that OpenAPI has no member for. docs/architecture.md explains them. */
import { sessionRights, type SessionRights } from '../rights/session-rights.ts';

/** Each extension with its allowed values. */
export const extensionValues = {
  'x-answer': ['stream'],
  'x-body': ['large', 'stream'],
  'x-ignores-unknown-parameters': [true, 'iss'],
  'x-problem-page': [true],
  'x-refuses-cross-site': [true],
  'x-session': ['writes'],
  'x-session-rights': Object.keys(sessionRights) as (keyof typeof sessionRights)[],
} as const;

/** The extensions as an operation has them. */
export type ExtensionMembers = { -readonly [E in keyof typeof extensionValues]?: (typeof extensionValues)[E][number] };

export interface Extensions {
  /** Whether the answer is made while it is sent, which may take longer than other answers. */
  streamsAnswer: boolean;
  /** Whether the handler reads the body itself, while it arrives. */
  streamsBody: boolean;
  /** Whether the body may have 4 MiB and 50,000 values. */
  takesLargeBody: boolean;
  /**
   * Whether another party decides which query parameters are sent, so that undeclared ones are not refused. A text is the name of the
   * parameter that such a party sends: without it undeclared ones are refused.
   */
  ignoresUnknownParameters: boolean | string;
  /** Whether browsers open the operation as a page, so that they get its problems as pages too. */
  answersProblemPages: boolean;
  /** Whether a request of another site is refused even where no credential counts. */
  refusesCrossSite: boolean;
  /**
   * Whether a request passes through @fastify/session. Its session then comes from the database, not from a cache, and its answer may set
   * cookies.
   */
  writesSession: boolean;
  /** The rights of sessions; undefined if the operation accepts callers without a credential. */
  sessionRights: SessionRights | undefined;
}

/** Reads the extensions of an operation. Throws for an extension or a value that does not exist. */
export function readExtensions(operation: ExtensionMembers & { operationId: string }): Extensions {
  for (const [name, value] of Object.entries(operation)) {
    if (!name.startsWith('x-')) continue;
    const values: readonly unknown[] | undefined = Object.hasOwn(extensionValues, name)
      ? extensionValues[name as keyof typeof extensionValues]
      : undefined;
    if (!values) throw new Error(`openapi.yaml: ${operation.operationId} has the extension ${name}, which does not exist`);
    if (!values.includes(value))
      throw new Error(`openapi.yaml: ${operation.operationId}: ${name} must be one of: ${values.join(', ')}; not ${JSON.stringify(value)}`);
  }
  const rights = operation['x-session-rights'];
  return {
    streamsAnswer: operation['x-answer'] === 'stream',
    streamsBody: operation['x-body'] === 'stream',
    takesLargeBody: operation['x-body'] === 'large',
    ignoresUnknownParameters: operation['x-ignores-unknown-parameters'] ?? false,
    answersProblemPages: operation['x-problem-page'] === true,
    refusesCrossSite: operation['x-refuses-cross-site'] === true,
    writesSession: operation['x-session'] === 'writes',
    sessionRights: rights && sessionRights[rights],
  };
}
