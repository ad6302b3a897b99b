import { SimpleGrid, Skeleton, Stack } from '@chakra-ui/react'
import { Page as Frame } from '../../components/page.tsx'
import { ErrorState, StaleNotice } from '../../components/states.tsx'
import { UrlTabs } from '../../components/url-tabs.tsx'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { useStatus } from '../../lib/status.ts'
import { Balance } from './balance.tsx'
import { CheckIn } from './check-in.tsx'
import { Invite } from './invite.tsx'
import type { Account } from './account.ts'
import { LookSettings } from './look-settings.tsx'
import { Profile } from './profile.tsx'
import { Security } from './security.tsx'
import { NotificationSettings, PriceSettings, PrivacySettings } from './settings.tsx'

export function Page() {
  const account = trpc.user.account.get.useQuery()
  const { checkInEnabled, affEnabled } = useStatus()
  // What was earned stays transferable after invitations were switched off.
  const showsInvite = ({ affQuota }: Account) => affEnabled || affQuota > 0
  return (
    <Frame title={t('个人设置')} width="form">
      {account.data ? (
        <Stack gap="6">
          {account.error && <StaleNotice error={account.error} onRetry={account.refetch} />}
          <Balance account={account.data} />
          {(checkInEnabled || showsInvite(account.data)) && (
            <SimpleGrid columns={{ base: 1, sm: 2 }} gap="3" alignItems="stretch">
              {checkInEnabled && <CheckIn />}
              {showsInvite(account.data) && <Invite account={account.data} />}
            </SimpleGrid>
          )}
          <UrlTabs
            label={t('个人设置')}
            tabs={[
              { id: 'profile', label: t('个人信息'), content: <Profile account={account.data} /> },
              { id: 'security', label: t('安全'), content: <Security account={account.data} /> },
              { id: 'notify', label: t('通知设置'), content: <NotificationSettings account={account.data} /> },
              { id: 'price', label: t('价格设置'), content: <PriceSettings account={account.data} /> },
              {
                id: 'other',
                label: t('其他设置'),
                content: (
                  <Stack gap="8">
                    <PrivacySettings account={account.data} />
                    <LookSettings />
                  </Stack>
                ),
              },
            ]}
          />
        </Stack>
      ) : account.error ? (
        <ErrorState error={account.error} onRetry={() => void account.refetch()} />
      ) : (
        <Stack gap="6" aria-busy aria-label={t('加载中')} role="status">
          <Skeleton h="24" />
          <Skeleton h="9" maxW="md" />
          <Skeleton h="48" />
        </Stack>
      )}
    </Frame>
  )
}
