-- runs beside: 0.1.0
-- Companion tables: the values of the fields that the rules of a type name, one table for each declared type that has rules. The service creates,
-- changes and drops them while it runs, and only in this schema.
create schema if not exists entity_data;

-- The number in the name of the companion table. A type that is declared again after its deletion gets a new one.
-- squawk-ignore adding-field-with-default, disallowed-unique-constraint
alter table entity_type add column id integer not null generated always as identity unique;

-- The companion table as statements must write it and may read it under this revision; null for none.
alter table entity_type_revision add column companion json;
