import { z } from 'zod'
import { emailAddress, inviteCode, username } from '#core/account-fields.ts'
import { refusal } from '#core/refusal.ts'

/** The bot check's answer, where the site asks for one. */
const turnstile = z.string().max(4096).default('')

const typedEmail = z.string().trim().min(1, refusal('email.required')).pipe(emailAddress)

export const login = z.object({
  /** The e-mail address does as well. */
  username: z
    .string()
    .trim()
    .min(1, refusal('login.fields_missing'))
    .max(100, refusal('login.failed'))
    .regex(/^[^\0]*$/, refusal('login.failed')),
  password: z.string().min(1, refusal('login.fields_missing')).max(200, refusal('login.failed')),
  turnstile,
})
export type Login = z.infer<typeof login>

export const register = z.object({
  username,
  password: z.string().min(8, refusal('register.password_too_short')).max(20, refusal('user.password_length')),
  email: z.union([z.literal(''), emailAddress]).default(''),
  verificationCode: z.string().trim().max(20).default(''),
  affCode: inviteCode.default(''),
  turnstile,
})
export type Register = z.infer<typeof register>

export const requestMail = z.object({ email: typedEmail, turnstile })
export type RequestMail = z.infer<typeof requestMail>

export const resetPassword = z.object({
  email: z.string().trim().min(1, refusal('password_reset.link_invalid')).max(100),
  token: z.string().trim().min(1, refusal('password_reset.link_invalid')).max(100),
})
export type ResetPassword = z.infer<typeof resetPassword>

export const bindEmail = z.object({
  email: typedEmail,
  code: z.string().trim().min(1, refusal('email.code_required')).max(20),
})
export type BindEmail = z.infer<typeof bindEmail>
