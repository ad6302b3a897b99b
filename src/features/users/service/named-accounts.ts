/** What stood before ` (deleted 42)`, which a deleted account has behind its name; by this there is an index. */
const formerName = String.raw`regexp_replace(username, ' \(deleted \d+\)$', '')`

/**
 * Accounts that have one of the names, and those that had it when they were deleted: the rows of the log bear it still. Whoever has it
 * now comes first.
 */
export const accountsNamed = `select id from users where username = any($1::text[])
  or (deleted_at is not null and ${formerName} = any($1::text[])) order by deleted_at nulls first, id`
