import { z } from 'zod'
import { refusal } from '#core/refusal.ts'

/** Six figures from an app, or a recovery code. */
export const byCode = z.object({ code: z.string().trim().min(1, refusal('second_factor.code_wrong')).max(40) })

export const byPassword = z.object({ password: z.string().max(200) })

/** Bytes as browsers write them. */
const base64url = z
  .string()
  .max(65_536)
  .regex(/^[\w-]*$/)

const credential = {
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['cross-platform', 'platform']).optional(),
  // What extensions say is not asked for and not read.
  clientExtensionResults: z.unknown().transform(() => ({})),
}

const registration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(20)).max(10).catch([]).default([]),
  }),
})

const signature = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.optional(),
  }),
})

const passkeyName = z.string().trim().min(1, refusal('passkey.name_missing')).max(50, refusal('passkey.name_too_long'))

export const addPasskey = z.object({ name: passkeyName, response: registration })
export type AddPasskey = z.infer<typeof addPasskey>

export const bySignature = z.object({ response: signature })
export type BySignature = z.infer<typeof bySignature>

export const byPasskeyId = z.object({ id: z.int().min(1).max(2_147_483_647) })
export const renamePasskey = byPasskeyId.extend({ name: passkeyName })

export const ofUser = z.object({
  id: z.int(refusal('input.id_invalid')).min(1, refusal('input.id_invalid')).max(2_147_483_647),
})
