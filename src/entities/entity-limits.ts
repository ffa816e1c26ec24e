/** The limits of one entity where a request has several: those of a body that has one (rule 70). */
import type { Config } from '../config/settings.ts';

/**
 * The most bytes of an entity's fields as PostgreSQL writes them, with a space after each comma and colon: twice the limit of a body (decision 13). Only
 * numbers such as `1e308` can make a body longer than that, so creates check it too (`stored-size.ts`).
 */
export function entityLimitOf({ bodyLimitBytes }: Pick<Config, 'bodyLimitBytes'>): number {
  return 2 * bodyLimitBytes;
}
