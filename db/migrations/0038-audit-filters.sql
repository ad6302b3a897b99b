-- The audit log is filtered by action and offers the actions that are in it.
create index "audit_entries_action_id_index" on "audit_entries" ("action", "id");
