import { defaultQuotaPerUnit } from '#core/quota.ts'
import { createStoredJson, useStored } from './stored.ts'

/** What the server tells everyone about itself; kept, so that the next visit draws at once. */
export type SiteStatus = {
  setup: boolean
  systemName: string
  logo: string
  footerHtml: string
  docsLink: string
  quotaPerUnit: number
  displayInCurrency: boolean
  selfUseModeEnabled: boolean
  demoSiteEnabled: boolean
  enableDrawing: boolean
  enableTask: boolean
  enableDataExport: boolean
  defaultCollapseSidebar: boolean
  affEnabled: boolean
  checkInEnabled: boolean
  version: string
}

const fallback: SiteStatus = {
  setup: true,
  systemName: '',
  logo: '',
  footerHtml: '',
  docsLink: '',
  quotaPerUnit: defaultQuotaPerUnit,
  displayInCurrency: true,
  selfUseModeEnabled: false,
  demoSiteEnabled: false,
  enableDrawing: false,
  enableTask: false,
  enableDataExport: false,
  defaultCollapseSidebar: false,
  affEnabled: false,
  checkInEnabled: false,
  version: '',
}

const stored = createStoredJson<SiteStatus>('status', fallback)

export const rememberStatus = (status: SiteStatus): void => stored.set(status)

export const currentStatus = (): SiteStatus => stored.get()

export const useStatus = (): SiteStatus => useStored(stored)
