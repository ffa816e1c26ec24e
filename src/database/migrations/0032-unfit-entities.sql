-- runs beside: 0.1.0
-- Whether entities of the name may not fit the document: it came into force with `allowUnfit`, and no later change has checked them all. Then each update of an
-- entity of the name checks all fields (decision 188). Revisions from before this migration stay marked even if a later change has checked all. An earlier version
-- that runs beside leaves the default.

alter table entity_type_revision add column may_be_unfit boolean not null default true;
update entity_type_revision set may_be_unfit = false
where not exists (
  select from entity_type_revision as earlier
  where earlier.name = entity_type_revision.name and earlier.revision <= entity_type_revision.revision and earlier.plan ->> 'allowUnfit' = 'true'
);
