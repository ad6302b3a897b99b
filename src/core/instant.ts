import { z } from 'zod'

const first = new Date('0001-01-01T00:00:00Z')
const last = new Date('9999-12-31T23:59:59.999Z')

/** A time of the years 1 to 9999. What is further away is written in other ways, which the ORM gets wrong and no other reader expects. */
export const instant = (refused?: string) => z.date(refused).min(first, refused).max(last, refused)
