/** `service-secret …`: the keys that the service has in its database. */
import type { Command } from 'commander';
import { rotateServiceSecrets } from '../administration/service-secrets.ts';
import { addGroup, addCommand, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import type { CommandOutcome } from './output.ts';

export function serviceSecretCommands(program: Command, desk: Desk): void {
  const secrets = addGroup(program, 'service-secret', 'the keys that the service has in its database', ['service-secret rotate']);
  addCommand(secrets, 'rotate', 'replace the keys of cursors and of failed sign-ins', ['service-secret rotate']).action((options: Shown) =>
    onDatabase(desk, options, rotate),
  );
}

async function rotate({ store, by }: Admin): Promise<CommandOutcome> {
  await rotateServiceSecrets(store, by);
  return {
    document: { changed: true },
    text: `Replaced the keys of cursors and of failed sign-ins.
Cursors of the key from before are valid until the next rotation. Failed sign-ins are counted anew, and no account is locked.`,
  };
}
