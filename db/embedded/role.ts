import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { Client } from 'pg'
import type { ConnectionOptions } from '../connection.ts'

/** The product's own role: it owns its database and has no say over the server, its files or other roles. */
const role = 'gateway'

/** What a database that was filled as superuser holds; parts of tables and of types follow the whole. */
const takeEverything = `do $$
declare found record;
begin
  for found in
    select format('alter schema %I owner to ${role}', nspname) as statement, 1 as position
    from pg_namespace where nspowner = current_user::regrole and nspname !~ '^pg_' and nspname <> 'information_schema'
    union all
    select format('alter table %s owner to ${role}', c.oid::regclass), 2
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relowner = current_user::regrole and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
      and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
      and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass
        and (d.deptype = 'e' or (c.relkind = 'S' and d.deptype in ('a', 'i'))))
    union all
    select format('alter routine %s owner to ${role}', p.oid::regprocedure), 3
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where p.proowner = current_user::regrole and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
      and not exists (select from pg_depend d where d.objid = p.oid and d.classid = 'pg_proc'::regclass and d.deptype = 'e')
    union all
    select format('alter type %s owner to ${role}', t.oid::regtype), 4
    from pg_type t join pg_namespace n on n.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
    where t.typowner = current_user::regrole and t.typcategory <> 'A' and t.typtype <> 'm'
      and (t.typrelid = 0 or c.relkind = 'c') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
      and not exists (select from pg_depend d where d.objid = t.oid and d.classid = 'pg_type'::regclass and d.deptype = 'e')
    order by 2
  loop
    execute found.statement;
  end loop;
end $$`

const makeRole = `do $$ begin
  if not exists (select from pg_roles where rolname = '${role}') then create role ${role}; end if;
end $$`

const limitRole = `alter role ${role} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls`

const readPassword = async (file: string): Promise<string> => {
  const stored = await readFile(file, 'utf8').catch(() => '')
  if (stored) return stored
  const password = randomBytes(24).toString('base64url')
  await writeFile(file, password, { mode: 0o600 })
  return password
}

/**
 * Makes the role that the product connects with, gives it the database with everything in it, and returns how to connect.
 * Whoever starts or attaches does so; those who do at once wait for one another.
 */
export async function prepareRole(admin: ConnectionOptions, passwordFile: string): Promise<ConnectionOptions> {
  const client = new Client({ ...admin, connectionTimeoutMillis: 30_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock(7305)')
    await client.query(makeRole)
    await client.query(limitRole)
    // Where there are no unix sockets, whose folder is closed to others, a password is asked for.
    const password = admin.password === undefined ? undefined : await readPassword(passwordFile)
    if (password !== undefined) await client.query(`alter role ${role} password ${client.escapeLiteral(password)}`)
    const { rows } = await client.query<{ owner: string }>(
      'select datdba::regrole::text as owner from pg_database where datname = current_database()',
    )
    if (rows[0]?.owner !== role) {
      await client.query(`alter database ${client.escapeIdentifier(admin.database)} owner to ${role}`)
      await client.query(takeEverything)
    }
    await client.query('commit')
    return { ...admin, user: role, ...(password === undefined ? {} : { password }) }
  } finally {
    await client.end().catch(() => {})
  }
}
