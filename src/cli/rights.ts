/** `rights …`: roles, profiles and attributes as files, and what the rights allow. */
import type { Command } from 'commander';
import { addGroup, type Desk } from './command.ts';
import { explainCommand } from './rights-explain.ts';
import { exportCommand } from './rights-export.ts';
import { applyCommand, planCommand } from './rights-plan.ts';
import { statusCommand } from './rights-status.ts';
import { testCommand } from './rights-test.ts';

/** Each declares one command of the group, in the order in which help lists them. */
const commands: readonly ((rights: Command, desk: Desk) => void)[] = [
  planCommand,
  applyCommand,
  exportCommand,
  statusCommand,
  testCommand,
  explainCommand,
];

export function rightsCommands(program: Command, desk: Desk): void {
  const rights = addGroup(program, 'rights', 'rights: roles, profiles and attributes as files, and what users may do', [
    'rights export --out rights/',
    'rights status rights/',
    'rights explain ada --entity order --key 7 --action update',
  ]);
  for (const declare of commands) declare(rights, desk);
}
