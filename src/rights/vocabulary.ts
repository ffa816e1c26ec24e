/** The actions that grants and scopes can name. */
import type { Action } from '../database/tables.ts';

/** What can be done with entities. */
export const entityActions = ['create', 'read', 'update', 'delete'] as const satisfies readonly Action[];

/** Every action, in the order in which they are shown. */
export const allActions: readonly Action[] = [...entityActions, 'type', 'purge'];
