import { Button, Stack, Text } from '@chakra-ui/react'
import { CodeBlock } from '../../components/code-block.tsx'
import { confirm } from '../../components/confirm.tsx'
import { Section } from '../../components/facts.tsx'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import type { AccountProps } from './account.ts'

type Props = AccountProps & { token: string | undefined; onCreated: (token: string) => void }

/** For scripts that manage the account; nothing here can show it a second time. */
export function AccessToken({ account, token, onCreated }: Props) {
  const create = trpc.user.account.createAccessToken.useMutation()
  const ask = () =>
    confirm({
      title: t('生成新的系统访问令牌？'),
      body: t('之前生成的系统访问令牌会立即失效。'),
      confirmLabel: t('生成'),
      run: async () => onCreated(await create.mutateAsync()),
    })
  return (
    <Section title={t('系统访问令牌')}>
      <Stack gap="3" align="flex-start">
        <Text textStyle="sm" color="fg.muted" maxW="prose">
          {t('供脚本以您的身份调用管理接口。它不能用来调用模型，请像密码一样保管。')}
        </Text>
        {token === undefined ? (
          <Button onClick={() => void ask()}>{t('生成系统访问令牌')}</Button>
        ) : (
          <Stack gap="2" w="full">
            <CodeBlock title={t('系统访问令牌')} code={token} wrap="letters" />
            <Text textStyle="xs" color="fg.muted">
              {t('只显示这一次。请求时放在 Authorization 头中，并用 X-User-Id 头带上用户 ID {id}。', {
                id: account.id,
              })}
            </Text>
          </Stack>
        )}
      </Stack>
    </Section>
  )
}
