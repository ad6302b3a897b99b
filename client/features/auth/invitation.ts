import { inviteCode } from '#core/account-fields.ts'
import { createStored } from '../../lib/stored.ts'

/** Who invited the reader is remembered from the first visit of the link, until an account is made. */
export const invitation = createStored<string>('aff', {
  parse: (text) => inviteCode.parse(text),
  format: (code) => code || null,
  fallback: '',
})
