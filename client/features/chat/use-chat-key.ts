import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { tokenStatus } from '#core/statuses.ts'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'

/** So many of the reader's newest tokens are looked through for one that is enabled. */
export const mostLookedAt = 100
export const redirectMs = 1500

/** One that has expired stays enabled until somebody calls with it. */
const isUsable = ({ status, expiresAt }: { status: number; expiresAt: Date | null }): boolean =>
  status === tokenStatus.enabled && (expiresAt === null || expiresAt.getTime() > Date.now())

/** The enabled tokens, the one in use, and its key; without one the reader is led to the tokens. */
export function useChatKey() {
  const [, navigate] = useLocation()
  const [chosen, setChosen] = useState<number>()
  const list = trpc.user.tokens.list.useQuery({ page: 1, pageSize: mostLookedAt })
  const tokens = list.data?.items.filter(isUsable)
  const token = tokens?.find(({ id }) => id === chosen) ?? tokens?.[0]
  const revealed = trpc.user.tokens.reveal.useQuery({ id: token?.id ?? 0 }, { enabled: token !== undefined, gcTime: 0 })
  const key = token && revealed.data ? `sk-${revealed.data.key}` : undefined
  const isMissing = tokens !== undefined && tokens.length === 0
  useEffect(() => {
    if (!isMissing) return undefined
    notify.warning(t('没有可用的启用令牌'))
    const redirect = setTimeout(() => navigate('/app/tokens', { replace: true }), redirectMs)
    return () => clearTimeout(redirect)
  }, [isMissing, navigate])
  return {
    tokens: tokens ?? [],
    token,
    key,
    // A chat that is under way goes on with what it has.
    error: key === undefined ? (list.error ?? revealed.error) : null,
    retry: () => void (list.data ? revealed.refetch() : list.refetch()),
    isMissing,
    choose: (id: number) => setChosen(id),
  }
}
