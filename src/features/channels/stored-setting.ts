import type { Pool } from 'pg'
import { hideProxyPassword, proxyOf, withProxy } from '#core/proxy-setting.ts'
import type { Channel } from '#db/entities/channel.ts'
import type { Secrets } from '../secrets/service.ts'

type Stored = Pick<Channel, 'setting' | 'proxyEncrypted'>

/** How settings are stored: the address of a proxy with a password apart and encrypted, the text without it. */
export function settingColumns(secrets: Secrets, setting: string): Stored {
  const shown = hideProxyPassword(setting)
  return { setting: shown, proxyEncrypted: shown === setting ? '' : secrets.encrypt(proxyOf(setting)) }
}

/** The settings with the password of the proxy in them. */
export const settingOf = (secrets: Secrets, { setting, proxyEncrypted }: Stored): string =>
  proxyEncrypted === '' ? setting : withProxy(setting, secrets.decrypt(proxyEncrypted))

/** The channel with the password of its proxy, as calls to its upstream need it. */
export const withProxyPassword = <Row extends Stored>(
  secrets: Secrets,
  row: Row,
): Omit<Row, 'proxyEncrypted'> & { proxyEncrypted?: undefined } => ({
  ...row,
  setting: settingOf(secrets, row),
  proxyEncrypted: undefined,
})

/** Encrypts what older versions stored as it was typed. */
export async function encryptProxyPasswords(pool: Pool, secrets: Secrets): Promise<void> {
  const { rows } = await pool.query<{ id: number; setting: string }>(
    "select id, setting from channels where proxy_encrypted = '' and setting <> '' order by id",
  )
  for (const { id, setting: typed } of rows) {
    const { setting, proxyEncrypted } = settingColumns(secrets, typed)
    if (proxyEncrypted === '') continue
    // One that was saved meanwhile has been encrypted then.
    await pool.query(
      "update channels set setting = $3, proxy_encrypted = $4 where id = $1 and setting = $2 and proxy_encrypted = ''",
      [id, typed, setting, proxyEncrypted],
    )
  }
}
