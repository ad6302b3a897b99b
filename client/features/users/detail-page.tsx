import { Button, SimpleGrid, Stack } from '@chakra-ui/react'
import { ArrowLeft, UserX } from 'lucide-react'
import { Link, useLocation, useRoute } from 'wouter'
import { ActionMenu } from '../../components/action-menu.tsx'
import { Money } from '../../components/cells/numbers.tsx'
import { Notice } from '../../components/notice.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState, ErrorState, StaleNotice } from '../../components/states.tsx'
import { StatTile } from '../../components/stat-tile.tsx'
import { t } from '../../i18n/t.ts'
import { formatInteger } from '../../lib/format.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { EditUser } from './edit-form.tsx'
import { Acts, Profile, RecentLogs, Sessions, Tokens } from './detail-parts.tsx'
import { Spend } from './spend.tsx'
import { useActs } from './use-acts.ts'
import { isGone } from './words.ts'

/** One account: who it is, what it spends, what it did and what was done to it. */
export function Page() {
  const [, parameters] = useRoute('/app/users/:id')
  const id = /^\d{1,9}$/.test(parameters?.id ?? '') ? Number(parameters?.id) : 0
  const wanted = trpc.admin.users.overview.useQuery({ id: Math.max(id, 1) }, { enabled: id > 0 })
  const [{ edit }, set] = useUrlState({ edit: 0 }, [], ['edit'])
  const [, navigate] = useLocation()
  const user = wanted.data
  const actsOf = useActs(() => set({ edit: id }))
  const acts = user ? actsOf(user) : []
  const isMissing = id === 0 || wanted.error?.data?.domainCode === 'user.not_found'
  return (
    <Frame
      title={user ? user.username : t('用户')}
      description={user && user.displayName !== user.username ? user.displayName : undefined}
      width="wide"
      extra={
        <>
          <Button asChild variant="ghost">
            <Link href="/admin/users">
              <ArrowLeft aria-hidden />
              {t('用户管理')}
            </Link>
          </Button>
          {acts.length > 0 && (
            <ActionMenu label={t('更多操作')} actions={acts.filter(({ id: name }) => name !== 'edit')} />
          )}
        </>
      }
      action={
        acts.length > 0 && (
          <Button variant="solid" onClick={() => set({ edit: id })}>
            {t('编辑')}
          </Button>
        )
      }
    >
      {isMissing ? (
        <EmptyState
          icon={UserX}
          title={t('用户不存在')}
          action={<Button onClick={() => navigate('/admin/users')}>{t('用户管理')}</Button>}
        />
      ) : wanted.error && !user ? (
        <ErrorState error={wanted.error} onRetry={() => void wanted.refetch()} />
      ) : (
        <Stack gap="6" aria-busy={user === undefined}>
          {wanted.error && <StaleNotice error={wanted.error} onRetry={wanted.refetch} />}
          {user && isGone(user) && <Notice tone="warning">{t('该账户已注销；记录仍然保留。')}</Notice>}
          <SimpleGrid columns={{ base: 2, md: 4 }} gap="3">
            <StatTile label={t('剩余额度')} value={<Money quota={user?.quota} />} loading={!user} />
            <StatTile label={t('已用额度')} value={<Money quota={user?.usedQuota} />} loading={!user} />
            <StatTile label={t('调用次数')} value={formatInteger(user?.requestCount ?? 0)} loading={!user} />
            <StatTile label={t('令牌数')} value={formatInteger(user?.tokenCount ?? 0)} loading={!user} />
          </SimpleGrid>
          {id > 0 && <Spend userId={id} />}
          {user && (
            <SimpleGrid columns={{ base: 1, lg: 2 }} gap="6">
              <Profile user={user} />
              <Sessions user={user} />
              <Tokens user={user} />
              <RecentLogs user={user} />
              <Acts user={user} />
            </SimpleGrid>
          )}
        </Stack>
      )}
      <EditUser id={edit === id ? id : 0} onClose={() => set({ edit: 0 })} />
    </Frame>
  )
}
