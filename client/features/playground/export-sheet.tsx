import { withoutTrailingSlashes } from '#core/trailing.ts'
import { NativeSelect, Stack, Tabs, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { CodeBlock } from '../../components/code-block.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { t } from '../../i18n/t.ts'
import { useStatus } from '../../lib/status.ts'
import type { ExportForm, ExportLanguage } from './export-code.ts'
import { exportCode, exportForms, exportLanguages } from './export-code.ts'
import type { CallBody } from './reply.ts'

const formNames: Record<ExportForm, string> = { openai: 'OpenAI', anthropic: 'Anthropic', google: 'Google' }
const languageNames: Record<ExportLanguage, string> = { curl: 'curl', python: 'Python', node: 'Node.js' }

type ExportSheetProps = {
  open: boolean
  onClose: () => void
  /** The conversation as it stands, as a call. */
  body: () => CallBody
}

/** The conversation as code that continues it. */
export function ExportSheet({ open, onClose, body }: ExportSheetProps) {
  return (
    <Sheet open={open} onClose={onClose} title={t('导出为代码')}>
      {open && <Export body={body()} />}
    </Sheet>
  )
}

function Export({ body }: { body: CallBody }) {
  const { serverAddress } = useStatus()
  const base = withoutTrailingSlashes(serverAddress || window.location.origin)
  const [form, setForm] = useState<ExportForm>('openai')
  const hasImages = body.messages.some(({ role, content }) => role === 'user' && typeof content !== 'string')
  return (
    <Stack gap="4">
      <Text textStyle="sm" color="fg.muted">
        {t('把 sk-… 换成您的令牌密钥。分组由令牌决定。')}
        {hasImages && t('图片以 BASE64_OF_IMAGE_1 等占位符代替。')}
      </Text>
      <NativeSelect.Root>
        <NativeSelect.Field
          aria-label={t('接口格式')}
          value={form}
          onChange={(event) => setForm(exportForms.find((known) => known === event.target.value) ?? 'openai')}
        >
          {exportForms.map((known) => (
            <option key={known} value={known}>
              {t('{name} 格式', { name: formNames[known] })}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
      <Tabs.Root defaultValue="curl" lazyMount unmountOnExit>
        <Tabs.List aria-label={t('导出为代码')}>
          {exportLanguages.map((language) => (
            <Tabs.Trigger key={language} value={language}>
              {languageNames[language]}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {exportLanguages.map((language) => (
          <Tabs.Content key={language} value={language} pt="4">
            <CodeBlock
              title={languageNames[language]}
              code={exportCode({ form, language }, body, base)}
              maxHeight="60vh"
            />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </Stack>
  )
}
