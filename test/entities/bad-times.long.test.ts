/** All times of `bad-times.test.ts`, which has both sides of each bound. */
import { beforeAll, test } from 'vitest';
import { declareTimes, expectSorted, expectTakers, times } from '../support/bad-times.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  await declareTimes(service());
});

test.for(times)('%s is taken by: %s', (each) => expectTakers(service(), cookie, each));

test('a sort by them ends after each, in pages of one', () => expectSorted(service(), cookie));
