/** Customers, their agents, orders and lines: types whose entities refer to each other. */
import { declareType } from './entities.ts';
import type { TestGrants, TestService } from './service.ts';

const text = { type: 'string' };
const key = { type: 'string', format: 'int64' };

const shopTypes = {
  agent: { type: 'object', additionalProperties: false, properties: { name: text } },
  customer: {
    type: 'object',
    additionalProperties: false,
    properties: { company: text, agent: key, parent: key },
    'x-references': { agent: { to: 'agent' }, parent: { to: 'customer' } },
  },
  order: {
    type: 'object',
    additionalProperties: false,
    properties: {
      number: text,
      customer: key,
      seller: key,
      ship: { type: 'object', additionalProperties: false, properties: { to: key } },
    },
    'x-references': { customer: { to: 'customer' }, seller: { to: 'agent' }, 'ship.to': { to: 'customer' } },
  },
} as const;

/** Puts the types in force. */
export async function declareShop(service: TestService): Promise<void> {
  for (const [name, document] of Object.entries(shopTypes)) await declareType(service, name, document);
}

/** The cookie of a session of a new user; without `grants` the user has all rights. */
export async function createCaller(service: TestService, name: string, grants?: TestGrants): Promise<{ cookie: string }> {
  const { id } = await service.createUser(name, grants);
  return { cookie: await service.openSession(id) };
}
