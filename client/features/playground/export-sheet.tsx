import { withoutTrailingSlashes } from '#core/trailing.ts'
import { Stack, Tabs, Text } from '@chakra-ui/react'
import { CodeBlock } from '../../components/code-block.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { t } from '../../i18n/t.ts'
import { useStatus } from '../../lib/status.ts'
import type { ExportForm } from './export-code.ts'
import { exportCode, exportForms } from './export-code.ts'
import type { CallBody } from './reply.ts'

const formNames: Record<ExportForm, string> = { curl: 'curl', openai: 'OpenAI SDK', anthropic: 'Anthropic SDK' }

type ExportSheetProps = { open: boolean; onClose: () => void; body: CallBody }

/** The conversation as code that continues it. */
export function ExportSheet({ open, onClose, body }: ExportSheetProps) {
  const { serverAddress } = useStatus()
  const base = withoutTrailingSlashes(serverAddress || window.location.origin)
  return (
    <Sheet open={open} onClose={onClose} title={t('导出为代码')}>
      <Stack gap="4">
        <Text textStyle="sm" color="fg.muted">
          {t('把 sk-… 换成您的令牌密钥。分组由令牌决定。')}
        </Text>
        <Tabs.Root defaultValue="curl" lazyMount unmountOnExit>
          <Tabs.List aria-label={t('导出为代码')}>
            {exportForms.map((form) => (
              <Tabs.Trigger key={form} value={form}>
                {formNames[form]}
              </Tabs.Trigger>
            ))}
          </Tabs.List>
          {exportForms.map((form) => (
            <Tabs.Content key={form} value={form} pt="4">
              <CodeBlock
                title={form === 'curl' ? 'Shell' : 'Python'}
                code={exportCode(form, body, base)}
                maxHeight="65vh"
              />
            </Tabs.Content>
          ))}
        </Tabs.Root>
      </Stack>
    </Sheet>
  )
}
