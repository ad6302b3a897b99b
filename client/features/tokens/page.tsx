import { Button, Stack } from '@chakra-ui/react'
import { Plus } from 'lucide-react'
import { Notice } from '../../components/notice.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { t } from '../../i18n/t.ts'
import { useStatus } from '../../lib/status.ts'
import { TokenForm } from './form.tsx'
import { TokenTable } from './table.tsx'
import { UseToken } from './use-token.tsx'
import { useOpenToken } from './use-open-token.ts'

export function Page() {
  const { logChatContentEnabled } = useStatus()
  const open = useOpenToken()
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
      <TokenTable open={open} />
      <TokenForm open={open} />
      <UseToken open={open} />
    </Frame>
  )
}
