import { z } from 'zod'
import { refusal } from './refusal.ts'

/** What a person may be called and how one signs in, wherever an account is made or changed. */

const longestUsername = 12
const longestDisplayName = 20

const named = z
  .string()
  .trim()
  .min(1, refusal('user.fields_missing'))
  .regex(/^\P{Cc}*$/u)

export const username = named.max(longestUsername, refusal('user.username_too_long'))

/** Where a name may also be sent back as it is: those with a provider's name and a number in them are longer. */
export const storedUsername = named.max(30, refusal('user.username_too_long'))

export const isUsernameTooLong = (name: string): boolean => name.length > longestUsername

export const displayName = z
  .string()
  .trim()
  .regex(/^\P{Cc}*$/u)
  // Characters as people count them: names that providers give are cut by these, and are sent back with the account.
  .refine((name) => [...name].length <= longestDisplayName, refusal('user.display_name_too_long'))
  .meta({ maxLength: longestDisplayName })

export const password = z.string().min(8, refusal('user.password_length')).max(20, refusal('user.password_length'))

export const emailAddress = z.email(refusal('email.invalid')).max(50, refusal('email.invalid'))

const longestInviteCode = 20

/** Who invited somebody. A link brings along whatever was written into it: what is too long for a code invites nobody. */
export const inviteCode = z
  .string()
  .trim()
  .regex(/^[^\0]*$/)
  .transform((code) => (code.length > longestInviteCode ? '' : code))
