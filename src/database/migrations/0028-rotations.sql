-- runs beside: 0.1.0
-- The keys in service_secret can be replaced while the service runs.

alter table service_secret add column changed_at timestamptz not null default now();

-- Processes remember the keys, and read them again after this notice.
create trigger service_secret_changed after insert or update or delete or truncate on service_secret
  for each statement execute function forget_principal();
