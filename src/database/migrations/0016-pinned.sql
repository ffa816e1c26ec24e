-- runs beside: 0.1.0
-- Returns the value. Lists write `column = pinned(value)` where an index of the column serves the condition. The index needs the value once. For a
-- plan that tests the condition on each row the planner adds the cost of a call for each row, and so does not choose such a plan.
create function pinned(value anyelement) returns anyelement language plpgsql stable strict parallel safe cost 10000 as $$
begin
  return value;
end $$;
