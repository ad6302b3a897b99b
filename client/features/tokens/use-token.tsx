import { Skeleton, Stack, Text } from '@chakra-ui/react'
import { useEffect, useState } from 'react'
import { CodeBlock } from '../../components/code-block.tsx'
import { Notice } from '../../components/notice.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { Clients } from './clients.tsx'
import type { OpenToken } from './use-open-token.ts'
import { useReveal } from './use-tokens.ts'

/** The key and how programs use it: after a token is made, and whenever it is asked for. */
export function UseToken({ open }: { open: OpenToken }) {
  const { used, fresh, closeUse } = open
  const several = fresh.length > 1
  return (
    <Sheet
      open={used !== undefined}
      onClose={closeUse}
      title={several ? t('{count} 个新密钥', { count: fresh.length }) : t('接入说明')}
      description={fresh.length > 0 ? t('密钥已经创建，现在就可以使用。') : undefined}
    >
      {several ? <Several keys={fresh.map(({ key }) => `sk-${key}`)} /> : <One key={used} id={used ?? 0} open={open} />}
    </Sheet>
  )
}

function Several({ keys }: { keys: readonly string[] }) {
  return (
    <Stack gap="4">
      <CodeBlock title={t('每行一个密钥')} code={keys.join('\n')} maxHeight="60vh" />
      <Notice>{t('之后也可以在列表中查看和复制每个密钥。')}</Notice>
    </Stack>
  )
}

function One({ id, open }: { id: number; open: OpenToken }) {
  const made = open.fresh.find((token) => token.id === id)
  const [key, setKey] = useState(made && `sk-${made.key}`)
  const [failure, setFailure] = useState<unknown>()
  const reveal = useReveal()
  const token = trpc.user.tokens.get.useQuery({ id }, { enabled: id > 0 })
  useEffect(() => {
    if (key === undefined && failure === undefined && id > 0) reveal({ id }).then(setKey, setFailure)
  }, [key, failure, id, reveal])
  if (failure !== undefined) return <ErrorState error={failure} onRetry={() => setFailure(undefined)} />
  if (token.error && !token.data) return <ErrorState error={token.error} onRetry={() => void token.refetch()} />
  if (key === undefined || token.data === undefined) {
    return (
      <Stack gap="4" aria-busy>
        <Skeleton h="16" />
        <Skeleton h="48" />
      </Stack>
    )
  }
  return (
    <Stack gap="6">
      <Stack gap="2">
        <CodeBlock title={token.data.name} code={key} wrap="letters" />
        <Text textStyle="xs" color="fg.muted">
          {t('请像密码一样保管。之后也可以在列表中查看和复制。')}
        </Text>
      </Stack>
      <Clients tokenKey={key} limits={token.data.modelLimitsEnabled ? token.data.modelLimits : undefined} />
    </Stack>
  )
}
