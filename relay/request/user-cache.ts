import type { Pool } from 'pg'
import type { UserSetting } from '#db/entities/user.ts'
import { createRowCache } from './row-cache.ts'

/** What the relay needs of an account; balances are never kept. */
export type UserRow = {
  id: number
  username: string
  role: number
  status: number
  group: string
  acceptsUnpricedModels: boolean
  showsIpInLogs: boolean
  /** Null while none was saved. */
  quotaWarningThreshold: number | null
  deleted: boolean
}

type Columns = {
  id: number
  username: string
  role: number
  status: number
  group: string
  setting: UserSetting | null
  deleted_at: string | null
}

export const createUserCache = (pool: Pool) =>
  createRowCache<number, UserRow>({
    load: async (ids) => {
      const { rows } = await pool.query<Columns>({
        name: 'relay_users',
        text: 'select id, username, role, status, "group", setting, deleted_at from users where id = any ($1::int[])',
        values: [ids],
      })
      return new Map(
        rows.map((row) => [
          row.id,
          {
            id: row.id,
            username: row.username,
            role: row.role,
            status: row.status,
            group: row.group,
            acceptsUnpricedModels: row.setting?.accept_unset_model_ratio_model === true,
            showsIpInLogs: row.setting?.show_ip_in_logs === true,
            quotaWarningThreshold: row.setting?.quota_warning_threshold ?? null,
            deleted: row.deleted_at !== null,
          },
        ]),
      )
    },
  })
