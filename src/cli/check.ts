/** One check of `doctor` and its finding. */
import type { Config } from '../config/settings.ts';
import { messagesOf } from './failure.ts';

export interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
}

export type CheckFinding = Omit<Check, 'name'>;

export const okCheck = (message: string): CheckFinding => ({ status: 'ok', message });
export const warningCheck = (message: string): CheckFinding => ({ status: 'warn', message });
export const failedCheck = (message: string): CheckFinding => ({ status: 'fail', message });

/** Runs one check, stores its finding, and returns whether later checks can depend on it. A check that throws has failed. */
export async function performCheck(
  checks: Check[],
  config: Config | undefined,
  name: string,
  find: () => CheckFinding | Promise<CheckFinding>,
): Promise<boolean> {
  let finding: CheckFinding;
  try {
    finding = await find();
  } catch (error) {
    finding = failedCheck(messagesOf(error, config).join('; '));
  }
  checks.push({ name, ...finding });
  return finding.status !== 'fail';
}
