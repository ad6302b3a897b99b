import { createHash, randomInt } from 'node:crypto'
import { tokenStatus } from '#core/statuses.ts'
import type { SeedContext } from './seed-context.ts'
import { daysBefore, randomLetters } from './random.ts'
import type { Person } from './people.ts'

type TokenInput = {
  name: string
  /** Absent: as much as the owner has. */
  limitDollars?: number
  status?: number
  expiresInDays?: number
  models?: string[]
  group?: string
  /** The share of its owner's calls. */
  share: number
  perMinute?: number
}

export type PlantedToken = TokenInput & { id: number; userId: number }

const everybody: TokenInput[] = [
  { name: '默认令牌', share: 6 },
  { name: '编辑器插件', share: 3, limitDollars: 400, models: ['claude-sonnet-4-5-20250929', 'gpt-4.1', 'gpt-5'] },
  { name: '旧脚本', share: 0, limitDollars: 5, status: tokenStatus.expired, expiresInDays: -12 },
]

const special: Record<string, TokenInput[]> = {
  'lab-a': [{ name: '批处理', share: 8, limitDollars: 2000, expiresInDays: 90, perMinute: 120 }],
  xiaochen: [{ name: '手机端', share: 2, group: 'vip' }],
  liwei: [{ name: '已停用', share: 0, status: tokenStatus.disabled }],
}

/** Access tokens in all their states; root's first one is the key that the demo prints. */
export async function seedTokens(context: SeedContext, people: Person[], rootKeyName: string): Promise<PlantedToken[]> {
  const tokens: PlantedToken[] = []
  for (const person of people) {
    const inputs =
      person.callsPerDay === 0 ? everybody.slice(0, 1) : [...everybody, ...(special[person.username] ?? [])]
    for (const input of inputs) {
      const isRootsFirst = person.username === 'root' && input === everybody[0]
      tokens.push(await insertToken(context, person, isRootsFirst ? { ...input, name: rootKeyName } : input))
    }
  }
  return tokens
}

async function insertToken(
  { db, secrets, now }: SeedContext,
  person: Person,
  input: TokenInput,
): Promise<PlantedToken> {
  // The one thing that is not the same in every demo world: a key gives access.
  const key = randomLetters(() => randomInt(2 ** 32) / 2 ** 32, 48)
  const expiresAt = input.expiresInDays === undefined ? null : daysBefore(now, -input.expiresInDays)
  const { rows } = await db.query<{ id: number }>(
    `insert into tokens (user_id, name, key_hash, key_encrypted, key_mask, status, remain_quota, unlimited_quota, expires_at,
       model_limits_enabled, model_limits, "group", rate_limit_enabled, rate_limit_count, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) returning id`,
    [
      person.id,
      input.name,
      createHash('sha256').update(key).digest('hex'),
      secrets.encrypt(key),
      `${key.slice(0, 3)}***${key.slice(-3)}`,
      input.status ?? tokenStatus.enabled,
      Math.round((input.limitDollars ?? 0) * 500_000),
      input.limitDollars === undefined,
      expiresAt,
      input.models !== undefined,
      input.models?.join(',') ?? '',
      input.group ?? '',
      input.perMinute !== undefined,
      input.perMinute ?? 1000,
      daysBefore(now, person.joinedDaysAgo - 1),
    ],
  )
  return { ...input, id: rows[0]?.id ?? 0, userId: person.id }
}
