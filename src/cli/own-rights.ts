/** Commands that change single rights. With RIGHTS_DIR the files decide instead, and such a change would be a difference from them. */
import { onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { Refusal, type CommandOutcome } from './output.ts';

/** As `onDatabase`. Throws {@link Refusal} where files have the rights. */
export async function changeRights(desk: Desk, shown: Shown, work: (admin: Admin) => Promise<CommandOutcome>): Promise<void> {
  await onDatabase(desk, shown, async (admin) => {
    if (admin.config.rightsDir === undefined) return await work(admin);
    throw new Refusal('RIGHTS_DIR has the roles, profiles and attributes: change its files, and run "rights plan" and "rights apply"');
  });
}
