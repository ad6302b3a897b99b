import { z } from 'zod'

const word = z.string().max(255)
const id = z.int().min(0).max(2_147_483_647)
const mostValues = 50

/** One value or several, any of which fits; none and empty ones filter nothing. */
export const anyWord = z
  .union([word, z.array(word).max(mostValues)])
  .default([])
  .transform((value) => [value].flat().filter((one) => one !== ''))
export const anyId = z
  .union([id, z.array(id).max(mostValues)])
  .default([])
  .transform((value) => [value].flat().filter((one) => one > 0))
