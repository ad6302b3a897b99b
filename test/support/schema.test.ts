import { expect, test } from 'vitest'
import { connect } from '#db/orm.ts'
import { createDatabase } from './database.ts'

/** Functions, triggers, views and checks are the migrations' own, and indexes that need an extension or hold some of the rows. */
const isBesideEntities = (line: string): boolean =>
  /^(set names|drop trigger|drop function|drop view|drop index "(users_(search|letters|former_name)|audit_entries_search|logs_(session|interrupted|content|quota|use_time_ms|prompt_tokens|completion_tokens))_index"|alter table "\w+" drop constraint "\w+_check")/.test(
    line,
  )

test('the migrations make the very tables, columns and indexes that the entities say', async () => {
  await using database = await createDatabase()
  const { orm, close } = await connect(database.connection, 1)
  try {
    const difference = await orm.schema.getUpdateSchemaSQL({ safe: false })
    expect(difference.split('\n').filter((line) => line !== '' && !isBesideEntities(line))).toEqual([])
  } finally {
    await close()
  }
})
