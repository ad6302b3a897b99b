import { expect, test } from 'vitest'
import { connect } from '#db/orm.ts'
import { createDatabase } from './database.ts'

/** Functions, triggers and checks are the migrations' own, and the index that needs an extension. */
const isBesideEntities = (line: string): boolean =>
  /^(set names|drop trigger|drop function|drop index "users_search_index"|alter table "\w+" drop constraint "\w+_check")/.test(
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
