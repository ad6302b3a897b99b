import { Migration } from '@mikro-orm/migrations'
import { briefLockWait } from '../brief-locks.ts'
import { nameLikeness } from '#core/similar-names.ts'

const rowsAtOnce = 5000

/**
 * Names that look alike are one from now on. Where several are there already the root's and then the oldest has the form,
 * the others keep their names without it.
 */
export class UsernameLikeness extends Migration {
  override async up(): Promise<void> {
    await this.execute(`set local lock_timeout = '${briefLockWait}'`)
    await this.execute('alter table users add column username_likeness text null')
    const users = (await this.execute(
      'select id, username from users order by deleted_at is not null, role desc, id',
    )) as { id: number; username: string }[]
    const owners = new Map<string, number>()
    for (const { id, username } of users) {
      const likeness = nameLikeness(username)
      if (!owners.has(likeness)) owners.set(likeness, id)
    }
    const rows = [...owners].map(([likeness, id]) => ({ id, likeness }))
    for (let start = 0; start < rows.length; start += rowsAtOnce) {
      await this.execute(
        `update users u set username_likeness = x.likeness
         from json_to_recordset(?::json) as x(id int, likeness text) where u.id = x.id`,
        [JSON.stringify(rows.slice(start, start + rowsAtOnce))],
      )
    }
    await this.execute('alter table users add constraint users_username_likeness_unique unique (username_likeness)')
  }
}
