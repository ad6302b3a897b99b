import { redemptionStatus } from '#core/statuses.ts'
import type { SeedContext } from './seed-context.ts'
import { daysBefore, randomLetters } from './random.ts'
import type { Person } from './people.ts'

/** Codes that nobody has used yet, one switched off, and a gift for everybody. */
export async function seedRedemptions({ db, secrets, random, now }: SeedContext, people: Person[]): Promise<void> {
  const operator = people.find((person) => person.username === 'operator')?.id ?? 0
  const inputs = [
    ...Array.from({ length: 5 }, () => ({
      name: '开学活动',
      dollars: 5,
      gift: false,
      status: redemptionStatus.unused,
    })),
    { name: '内测补偿', dollars: 20, gift: false, status: redemptionStatus.disabled },
    { name: '新春礼物', dollars: 1, gift: true, status: redemptionStatus.unused },
  ]
  for (const { name, dollars, gift, status } of inputs) {
    const key = randomLetters(random, 32).toLowerCase()
    await db.query(
      `insert into redemptions (user_id, name, key_hash, key_encrypted, status, quota, is_gift, max_uses, valid_until, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        operator,
        name,
        secrets.hmac(key),
        secrets.encrypt(key),
        status,
        dollars * 500_000,
        gift,
        gift ? 100 : -1,
        gift ? daysBefore(now, -30) : null,
        daysBefore(now, 9),
      ],
    )
  }
}
