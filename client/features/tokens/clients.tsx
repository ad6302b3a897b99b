import { withoutTrailingSlashes } from '#core/trailing.ts'
import { Box, HStack, Stack, Tabs, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { CodeBlock } from '../../components/code-block.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { Code } from '../../components/cells/names.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Picker } from '../../components/picker.tsx'
import { t } from '../../i18n/t.ts'
import { useCallableModels } from '../../lib/models.ts'
import { useStatus } from '../../lib/status.ts'
import { ConnectionTest } from './connection-test.tsx'
import type { Access, Client } from './snippets.ts'
import { clientNames, clients, snippetsFor } from './snippets.ts'

type ClientsProps = {
  tokenKey: string
  /** The only models that the token may call. */
  limits: readonly string[] | undefined
}

/** Ready settings for the programs people use, and a test that the key works. */
export function Clients({ tokenKey, limits }: ClientsProps) {
  const { serverAddress } = useStatus()
  const callable = useCallableModels()
  const usable = (callable ?? []).filter((model) => limits?.includes(model) ?? true)
  const [chosen, setChosen] = useState('')
  const model = chosen || usable[0] || ''
  const base = withoutTrailingSlashes(serverAddress || window.location.origin)
  const access: Access = { base, key: tokenKey, model: model || 'gpt-4o-mini' }
  return (
    <>
      <Stack gap="1.5">
        <Text textStyle="label" as="label">
          {t('模型')}
        </Text>
        <Picker
          label={t('模型')}
          choices={usable.map((value) => ({ value, label: value }))}
          value={model}
          onChange={setChosen}
          placeholder={callable ? t('还没有可用的模型') : t('加载中')}
          allowNew
        />
      </Stack>
      <ConnectionTest tokenKey={tokenKey} model={model} ready={callable !== undefined} />
      <Section title={t('在程序中使用')}>
        <ClientTabs access={access} />
      </Section>
    </>
  )
}

function ClientTabs({ access }: { access: Access }) {
  const [client, setClient] = useState<Client>('curl')
  return (
    <Tabs.Root
      value={client}
      onValueChange={({ value }) => setClient(clients.find((known) => known === value) ?? 'curl')}
      lazyMount
      unmountOnExit
    >
      <Tabs.List aria-label={t('在程序中使用')} overflowX="auto" overflowY="hidden">
        {clients.map((id) => (
          <Tabs.Trigger key={id} value={id} flexShrink="0">
            {clientNames[id]}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {clients.map((id) => (
        <Tabs.Content key={id} value={id} pt="4">
          <Stack gap="3">
            {id === 'cursor' && <CursorSettings access={access} />}
            {id === 'cherry-studio' && <CherrySettings access={access} />}
            {snippetsFor(id, access).map((snippet) => (
              <CodeBlock key={snippet.title} title={snippet.title} code={snippet.code} />
            ))}
          </Stack>
        </Tabs.Content>
      ))}
    </Tabs.Root>
  )
}

/** A value to be copied into another program's window. */
function Setting({ name, value }: { name: string; value: string }) {
  return (
    <HStack gap="1" minW="0" align="flex-start">
      <Box wordBreak="break-all" lineHeight="short" pt="1">
        <Code>{value}</Code>
      </Box>
      <CopyButton size="2xs" text={value} label={t('复制 {name}', { name })} />
    </HStack>
  )
}

const settings = (pairs: readonly (readonly [label: string, value: string])[]) =>
  pairs.map(([label, value]) => ({ label, value: <Setting name={label} value={value} /> }))

function CursorSettings({ access: { base, key, model } }: { access: Access }) {
  return (
    <>
      <Text textStyle="sm">
        {t('打开 Cursor Settings → Models → API Keys，填入密钥，打开 Override OpenAI Base URL，再添加模型名称。')}
      </Text>
      <Facts
        facts={settings([
          ['OpenAI API Key', key],
          ['Base URL', `${base}/v1`],
          ['Model', model],
        ])}
      />
    </>
  )
}

function CherrySettings({ access: { base, key, model } }: { access: Access }) {
  return (
    <>
      <Text textStyle="sm">{t('在 Cherry Studio 的设置中添加一个 OpenAI 类型的模型服务，填入下面的内容。')}</Text>
      <Facts
        facts={settings([
          ['API Key', key],
          ['API Host', base],
          ['Model', model],
        ])}
      />
    </>
  )
}
