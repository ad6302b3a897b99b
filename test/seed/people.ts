import { nameLikeness } from '#core/similar-names.ts'
import { roles } from '#core/roles.ts'
import { userStatus } from '#core/statuses.ts'
import type { SeedContext } from './seed-context.ts'
import { daysBefore, randomLetters } from './random.ts'

type PersonInput = {
  username: string
  displayName: string
  role?: number
  status?: number
  group?: string
  joinedDaysAgo: number
  /** Calls on a working day. */
  callsPerDay: number
  /** What is left of all that was granted, in US dollars. */
  leftDollars: number
  /** Used a person's invitation. */
  invitedBy?: string
}

const inputs: PersonInput[] = [
  { username: 'root', displayName: '站长', role: roles.root, joinedDaysAgo: 90, callsPerDay: 6, leftDollars: 180 },
  {
    username: 'operator',
    displayName: '运维小王',
    role: roles.admin,
    joinedDaysAgo: 80,
    callsPerDay: 5,
    leftDollars: 40,
  },
  { username: 'xiaochen', displayName: '陈晓', group: 'vip', joinedDaysAgo: 70, callsPerDay: 34, leftDollars: 62 },
  {
    username: 'lab-a',
    displayName: '实验室 A',
    group: 'research',
    joinedDaysAgo: 64,
    callsPerDay: 48,
    leftDollars: 210,
  },
  {
    username: 'wangfang',
    displayName: '王芳',
    joinedDaysAgo: 55,
    callsPerDay: 18,
    leftDollars: 12,
    invitedBy: 'xiaochen',
  },
  { username: 'liwei', displayName: '李伟', joinedDaysAgo: 41, callsPerDay: 14, leftDollars: 4, invitedBy: 'xiaochen' },
  { username: 'maria', displayName: 'María', group: 'vip', joinedDaysAgo: 33, callsPerDay: 22, leftDollars: 25 },
  { username: 'tomasz', displayName: 'Tomasz', joinedDaysAgo: 26, callsPerDay: 9, leftDollars: 7 },
  { username: 'almost-empty', displayName: '快用完的人', joinedDaysAgo: 20, callsPerDay: 8, leftDollars: 0.02 },
  { username: 'newcomer', displayName: '新同学', joinedDaysAgo: 2, callsPerDay: 0, leftDollars: 5 },
  {
    username: 'spammer',
    displayName: '广告账号',
    status: userStatus.banned,
    joinedDaysAgo: 18,
    callsPerDay: 3,
    leftDollars: 1,
  },
]

export type Person = PersonInput & { id: number; group: string }

/** Accounts, all with the one password; balances come when what they used is known. */
export async function seedPeople({ db, random, now }: SeedContext, passwordHash: string): Promise<Person[]> {
  const people: Person[] = []
  for (const input of inputs) {
    const { username, displayName, role = roles.user, status = userStatus.active, group = 'default' } = input
    const email = `${username}@example.com`
    const inviter = people.find((person) => person.username === input.invitedBy)
    const { rows } = await db.query<{ id: number }>(
      `insert into users (username, username_likeness, display_name, password_hash, role, status, email, email_normalized, "group", aff_code,
         inviter_id, created_at)
       values ($1, $11, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10) returning id`,
      [
        username,
        displayName,
        passwordHash,
        role,
        status,
        email,
        group,
        randomLetters(random, 4),
        inviter?.id ?? 0,
        daysBefore(now, input.joinedDaysAgo),
        nameLikeness(username),
      ],
    )
    people.push({ ...input, id: rows[0]?.id ?? 0, group })
  }
  await db.query(
    'update users u set aff_count = i.invited from (select inviter_id, count(*) as invited from users group by 1) i where i.inviter_id = u.id',
  )
  return people
}
