import { t } from '../../i18n/t.ts'
import type { Figure } from './drafts.ts'

export const figures = (): { id: Figure; label: string }[] => [
  { id: 'input', label: t('输入 / 1M') },
  { id: 'output', label: t('输出 / 1M') },
  { id: 'cacheRead', label: t('缓存读取') },
  { id: 'cacheWrite', label: t('缓存写入') },
  { id: 'call', label: t('单次价格') },
]
