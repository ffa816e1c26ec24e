-- A link that is removed takes claims_at with it. The times stay here, so that no older token counts once its subject is linked again.
create table unlinked_claims (
  issuer    text not null,
  subject   text not null,
  -- When the newest token was issued whose claims had been applied (`iat`, whole seconds).
  claims_at timestamptz not null,
  primary key (issuer, subject)
);
