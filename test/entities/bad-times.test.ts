/**
 * Times with too many digits, leap seconds and far offsets, on each road: a right success, or 422 at the value. Both sides of each bound; the other
 * times are in `bad-times.long.test.ts`.
 */
import { beforeAll, test } from 'vitest';
import { declareTimes, expectSorted, expectTakers, times } from '../support/bad-times.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  await declareTimes(service());
});

/** Digits of a second, leap seconds, offsets. */
const bounds = /:0[0679]\.[0-9]*Z$|:10\.[0-9]+Z$|^2026-01-02T00:00:00Z$|^2016-12-31T2[23]:59:60Z$|\+15:59$|\+16:00$|T24:00|^2026-01-04/;

test.for(times.filter(([time]) => bounds.test(time)))('%s is taken by: %s', (each) => expectTakers(service(), cookie, each));

test('a sort by them ends after each, in pages of one', () => expectSorted(service(), cookie));
