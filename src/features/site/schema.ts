import { z } from 'zod'
import { refusal } from '#core/refusal.ts'

/** The account part counts only while no root exists, so its rules are the service's. */
export const setup = z.object({
  username: z.string().trim().max(200).default(''),
  password: z.string().max(200).default(''),
  confirmPassword: z.string().max(200).default(''),
  selfUseModeEnabled: z.boolean().default(false),
  demoSiteEnabled: z.boolean().default(false),
  /** From the address that the first start prints; not needed on the machine itself. */
  token: z.string().max(200).default(''),
})
export type Setup = z.infer<typeof setup>

/** What a new root account must have. */
export const rootAccount = z
  .object({
    username: z
      .string()
      .min(1, refusal('setup.username_required'))
      .max(12, refusal('setup.username_too_long'))
      .regex(/^\P{Cc}*$/u),
    password: z.string().min(8, refusal('setup.password_too_short')),
    confirmPassword: z.string(),
  })
  .refine((account) => account.password === account.confirmPassword, {
    path: ['confirmPassword'],
    message: refusal('setup.password_mismatch'),
  })
