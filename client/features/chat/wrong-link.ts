import { t } from '../../i18n/t.ts'

/** Of a chat link that leads nowhere. Whoever writes the links is not sent to ask for one. */
export const wrongLinkWords = (isRoot: boolean): string =>
  isRoot ? t('聊天链接配置错误') : t('聊天链接配置错误，请联系管理员')
