/** Explanations of what the caller may do. */
import * as operations from '../../generated/client/sdk.gen.ts';
import type { Permission, PermissionAnswer, PermissionList, PermissionQuestion } from '../../generated/client/types.gen.ts';
import type { CallOptions, Client } from './operation.ts';
import type { Result } from './result.ts';

/** The explanation of the action of the question, or of each action if it names none. */
export type AnswerTo<Q extends PermissionQuestion> = 'action' extends keyof Q
  ? Q['action'] extends string
    ? Permission
    : PermissionAnswer
  : PermissionList;

export async function checkOwnPermission<Q extends PermissionQuestion>(
  client: Client,
  question: Q,
  options: CallOptions,
): Promise<Result<AnswerTo<Q>>> {
  return (await operations.checkOwnPermission({ client, body: question, ...options })) as Result<AnswerTo<Q>>;
}
