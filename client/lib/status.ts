import { defaultQuotaPerUnit } from '#core/quota.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import { useStore } from './store.ts'
import { createStored } from './stored.ts'

/** What the server publishes about itself; kept, so that the next visit draws at once. */
export type SiteStatus = RouterOutputs['site']['status']

/** Before the server has ever answered: nothing that is switched on, and no way to the setup page. */
const unknown: SiteStatus = {
  version: '',
  startedAt: new Date(0),
  setUp: true,
  systemName: '',
  logo: '',
  footerHtml: '',
  serverAddress: '',
  price: 7.3,
  minTopUp: 1,
  topUpLink: '',
  docsLink: '',
  onlineTopUpEnabled: false,
  quotaPerUnit: defaultQuotaPerUnit,
  displayInCurrency: true,
  displayTokenStat: true,
  drawingEnabled: false,
  taskEnabled: false,
  dataExportEnabled: false,
  dataExportDefaultTime: 'hour',
  defaultCollapseSidebar: false,
  mjNotifyEnabled: false,
  chats: [],
  demoSiteEnabled: false,
  selfUseModeEnabled: false,
  checkInEnabled: false,
  affEnabled: false,
  registerEnabled: true,
  passwordLoginEnabled: true,
  passwordRegisterEnabled: true,
  emailVerification: false,
  turnstileCheck: false,
  turnstileSiteKey: '',
  githubOauth: false,
  githubClientId: '',
  linuxdoOauth: false,
  linuxdoClientId: '',
  linuxdoMinimumTrustLevel: 0,
  oidcEnabled: false,
  oidcClientId: '',
  oidcAuthorizationEndpoint: '',
  wechatLogin: false,
  wechatQrcode: '',
  telegramOauth: false,
  telegramBotName: '',
  logChatContentEnabled: false,
}

const stored = createStored<SiteStatus>('status', {
  // What an older version of the console stored may lack what this one reads.
  parse: (text) => {
    const cached = JSON.parse(text) as Partial<SiteStatus>
    return { ...unknown, ...cached, startedAt: new Date(cached.startedAt ?? 0) }
  },
  format: JSON.stringify,
  fallback: unknown,
})

export const rememberStatus = (status: SiteStatus): void => stored.set(status)

export const currentStatus = (): SiteStatus => stored.get()

export const useStatus = (): SiteStatus => useStore(stored)
