import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createDatabase } from '#test/support/database.ts'

test('the database refuses to change, delete or clear audit entries', async () => {
  await using database = await createDatabase()
  const client = new Client(database.connection)
  await client.connect()
  try {
    await client.query(
      `insert into audit_entries (actor_name, action, target_type, target_id) values ('root', 'users.disable', 'user', '7')`,
    )
    for (const change of [
      `update audit_entries set actor_name = 'somebody else'`,
      'delete from audit_entries',
      'truncate audit_entries',
    ]) {
      await expect(client.query(change), change).rejects.toThrow('audit entries are never altered')
    }
    const { rows } = await client.query('select actor_name from audit_entries')
    expect(rows).toEqual([{ actor_name: 'root' }])
  } finally {
    await client.end()
  }
})
