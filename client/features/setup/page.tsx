import { Box, Skeleton, Stack } from '@chakra-ui/react'
import { useState } from 'react'
import { Redirect } from 'wouter'
import { EntryPage } from '../../components/entry-page.tsx'
import { LookMenus } from '../../components/look-menus.tsx'
import { Notice } from '../../components/notice.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { SetupForm } from './form.tsx'

const FormSkeleton = () => (
  <Stack gap="5" aria-busy>
    {['5', '14', '14', '14', '48', '10'].map((height, field) => (
      <Skeleton key={field} h={height} />
    ))}
  </Stack>
)

/** The first thing anyone sees of a new installation. */
export function Page() {
  const setup = trpc.site.setupStatus.useQuery(undefined, { staleTime: 0 })
  const { setUp } = useStatus()
  const [finished, setFinished] = useState(false)
  if (setup.data?.done && setUp && !finished) return <Redirect to="/" replace />
  return (
    <Box minH="100dvh" position="relative" display="grid">
      <Box position="absolute" top="3" insetEnd="3">
        <LookMenus />
      </Box>
      <Box as="main" display="grid">
        <EntryPage
          title={t('系统初始化')}
          description={t('创建管理员账号并选择使用方式，之后即可添加渠道、签发令牌。')}
          width="wide"
        >
          {setup.error && !setup.data ? (
            <ErrorState error={setup.error} title={t('获取初始化状态失败')} onRetry={() => void setup.refetch()} />
          ) : finished ? (
            <Notice isAlert>{t('系统初始化成功，正在刷新页面…')}</Notice>
          ) : setup.data ? (
            !setup.data.done && <SetupForm setup={setup.data} onFinish={() => setFinished(true)} />
          ) : (
            <FormSkeleton />
          )}
        </EntryPage>
      </Box>
    </Box>
  )
}
