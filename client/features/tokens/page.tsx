import { Box, Button, Stack, Text } from '@chakra-ui/react'
import { Plus } from 'lucide-react'
import { Notice } from '../../components/notice.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { SpendCaps } from '../../components/spend-caps.tsx'
import { FailureNotice } from '../../components/states.tsx'
import { useLanguage } from '../../i18n/language.ts'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { useStatus } from '../../lib/status.ts'
import { TokenForm } from './form.tsx'
import { TokenTable } from './table.tsx'
import { UseToken } from './use-token.tsx'
import { useOpenToken } from './use-open-token.ts'

export function Page() {
  const { logChatContentEnabled } = useStatus()
  const open = useOpenToken()
  const language = useLanguage()
  return (
    <Frame
      title={t('API令牌')}
      fill
      action={
        <Button variant="solid" onClick={open.create}>
          <Plus aria-hidden />
          {t('新建令牌')}
        </Button>
      }
    >
      <Stack gap="2" flexShrink="0">
        <Notice>{t('令牌仅供您自己使用，请勿分享给他人，也不要写进公开的代码。')}</Notice>
        {logChatContentEnabled && (
          <Notice tone="warning">{t('管理员已开启聊天内容日志，可以看到经由令牌的聊天内容。')}</Notice>
        )}
      </Stack>
      <AccountCaps />
      <TokenTable key={language} open={open} />
      <TokenForm open={open} />
      <UseToken open={open} />
    </Frame>
  )
}

/** What an administrator lets the account spend, by all its tokens together. */
function AccountCaps() {
  const { data, error, refetch } = trpc.user.spendCaps.list.useQuery()
  if (error && !data)
    return <FailureNotice title={t('消费上限没有加载，下方不显示。')} error={error} onRetry={() => void refetch()} />
  const caps = (data ?? []).filter(({ scope }) => scope === 'user')
  if (caps.length === 0) return null
  return (
    <Box layerStyle="frame" p="4" flexShrink="0" maxW="2xl">
      <Text textStyle="label" mb="3">
        {t('账户的消费上限，所有令牌合计')}
      </Text>
      <SpendCaps caps={caps} />
    </Box>
  )
}

/** The column of the caps would look as if there were none. */
