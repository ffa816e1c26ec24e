-- runs beside: 0.1.0
-- Every operation that writes entities takes an Idempotency-Key, not creates alone.

-- A version that knows creates alone finds their rows alone, unless a client uses a key for another operation too.
alter table idempotency
  -- The operationId; with `/` and a number for one operation of a batch that is no transaction. A version that knows creates alone leaves it out.
  add column operation text not null default 'createEntity',
  -- What another operation than a create did to each entity, in the order of the answer: [{"status": 200, "key": "42", "version": "7"}]. The history has the
  -- fields.
  add column results jsonb,
  -- That of a create.
  -- squawk-ignore ban-drop-not-null
  alter column entity_key drop not null;
-- `entity` is the entity name of the path; empty for a batch, which has none.
-- The table has the keys of 24 hours, so its index is built in a moment.
alter table idempotency
  drop constraint idempotency_pkey,
  -- squawk-ignore constraint-missing-not-valid, adding-serial-primary-key-field
  add constraint idempotency_pkey primary key (user_name, entity, operation, key);
