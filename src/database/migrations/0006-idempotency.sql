-- What a create that carried an Idempotency-Key has made, so that sending it again makes nothing more (security rule 79).

create table idempotency (
  user_name   text not null references user_account (name),
  -- The entity name of the path, which with the one operation that takes the header is the route.
  entity      text not null,
  key         text not null,
  -- SHA-256 of the body as it was sent. Who repeats a request brings the body along, so it is not kept.
  fingerprint bytea not null,
  -- No reference: the answer stays the same when the entity has been changed or deleted since.
  entity_key  bigint not null,
  -- The moment the entity was created, since both are written by one statement. Counts for 24 hours.
  created_at  timestamptz not null default now(),
  primary key (user_name, entity, key)
);

create index idempotency_by_age on idempotency (created_at);
