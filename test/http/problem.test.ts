import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { problemOf } from '../../src/http/problem.ts';
import { DeadlineError } from '../../src/http/deadline.ts';

const timeout = new DeadlineError();
const request = (complete: boolean) => ({ raw: { complete } }) as FastifyRequest;

test('503 — a request that was read and not answered in time may have had its effect', () => {
  expect(problemOf(timeout, request(true)).code).toBe('outcome-unknown');
});

test('408 — a request whose body did not arrive in time had no effect, and its connection closes', () => {
  const problem = problemOf(timeout, request(false));
  expect(problem.code).toBe('request-timeout');
  expect(problem.headers).toEqual({ Connection: 'close' });
});
