/** One check of `doctor` and its finding. */
import type { Config } from '../config/settings.ts';
import { messagesOf } from './failure.ts';

export interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
}

export type Finding = Omit<Check, 'name'>;

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const warn = (message: string): Finding => ({ status: 'warn', message });
export const fail = (message: string): Finding => ({ status: 'fail', message });

/** Runs one check, stores its finding, and returns whether later checks can depend on it. A check that throws has failed. */
export async function check(
  checks: Check[],
  config: Config | undefined,
  name: string,
  find: () => Finding | Promise<Finding>,
): Promise<boolean> {
  let finding: Finding;
  try {
    finding = await find();
  } catch (error) {
    finding = fail(messagesOf(error, config).join('; '));
  }
  checks.push({ name, ...finding });
  return finding.status !== 'fail';
}
