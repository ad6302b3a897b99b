import { Stack } from '@chakra-ui/react'
import { useEffect, useRef } from 'react'
import { useSearchParams } from 'wouter'
import { z } from 'zod'
import { rootAccount } from '#features/site/schema.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import { Facts } from '../../components/facts.tsx'
import { CardsField } from '../../components/fields/cards-field.tsx'
import { SecretField, TextField } from '../../components/fields/text-fields.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { Notice } from '../../components/notice.tsx'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { rememberUser } from '../../lib/session.ts'
import { rememberStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { modes, reloadMilliseconds, usualMode } from './modes.ts'

type Setup = RouterOutputs['site']['setupStatus']
type SetupFormProps = { setup: Setup; onFinish: () => void }

const choices = z.object({ mode: z.enum(modes), token: z.string().trim() })
const withAccount = z.intersection(rootAccount, choices)

const empty = { username: '', password: '', confirmPassword: '' }

const databaseNames: Record<Setup['databaseType'], string> = { postgres: 'PostgreSQL', '': '' }

export function SetupForm({ setup, onFinish }: SetupFormProps) {
  const [search] = useSearchParams()
  const given = search.get('token') ?? ''
  // Both ways have the same fields; those of the account are neither shown nor validated once it exists.
  const schema = (setup.rootExists ? choices : withAccount) as typeof withAccount
  const form = useZodForm({ schema, values: { ...empty, mode: usualMode, token: given }, mode: 'onSubmit' })
  const run = trpc.site.setup.useMutation()
  const utils = trpc.useUtils()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  const submit = async ({ mode, ...rest }: z.output<typeof withAccount>) => {
    await run.mutateAsync({ ...rest, selfUseModeEnabled: mode === 'self', demoSiteEnabled: mode === 'demo' })
    onFinish()
    // What is remembered must not lead back here after the reload.
    rememberStatus(await utils.site.status.fetch(undefined, { staleTime: 0 }))
    const founder = await utils.auth.whoami.fetch(undefined, { staleTime: 0 })
    if (founder) rememberUser(founder)
    timer.current = setTimeout(() => window.location.assign(founder ? '/app/tokens' : '/setup'), reloadMilliseconds)
  }

  return (
    <InlineForm
      form={form}
      onSubmit={submit}
      submitLabel={t('初始化系统')}
      wide
      fieldOf={{
        'setup.username_required': 'username',
        'setup.username_too_long': 'username',
        'setup.password_too_short': 'password',
        'setup.password_mismatch': 'confirmPassword',
        'user.username_taken': 'username',
        'user.username_confusing': 'username',
        ...(setup.tokenRequired && given === '' && { 'setup.forbidden': 'token' as const }),
      }}
    >
      <Stack gap="5" pb="1">
        <Facts facts={[{ label: t('数据库'), value: databaseNames[setup.databaseType] }]} />
        {setup.tokenRequired && given === '' && (
          <TextField
            name="token"
            label={t('初始化令牌')}
            help={t('首次启动时，服务器的输出里有带令牌的地址；从其他机器初始化需要它。')}
            mono
            required
          />
        )}
        {setup.rootExists ? <Notice>{t('管理员账号已经存在，只需选择使用方式。')}</Notice> : <Account />}
        <CardsField
          name="mode"
          label={t('使用方式')}
          help={t('以后可以在系统设置中更改。')}
          choices={[
            {
              value: 'external',
              label: t('对外运营'),
              description: t('按用量计费。每个模型都要设置价格，未定价的模型用户无法使用。'),
            },
            { value: 'self', label: t('自用模式'), description: t('自己使用，不必为模型设置价格，计费从简。') },
            { value: 'demo', label: t('演示站点'), description: t('供人体验的站点，页面上会标明。') },
          ]}
        />
      </Stack>
    </InlineForm>
  )
}

function Account() {
  return (
    <Stack gap="4">
      <TextField name="username" label={t('管理员用户名')} autoComplete="username" autoFocus required />
      <SecretField name="password" label={t('密码')} help={t('至少 8 个字符')} autoComplete="new-password" required />
      <SecretField name="confirmPassword" label={t('确认密码')} autoComplete="new-password" required />
    </Stack>
  )
}
