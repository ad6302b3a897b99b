import type { Passkey } from '#db/entities/passkey.ts'

export type PasskeyView = ReturnType<typeof toPasskeyView>

export const toPasskeyView = (passkey: Passkey) => ({
  id: passkey.id,
  name: passkey.name,
  site: passkey.site,
  isSynced: passkey.isSynced,
  createdAt: passkey.createdAt,
  usedAt: passkey.usedAt ?? null,
})
